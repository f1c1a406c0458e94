// Package dubbo speaks Dubbo 2 with Hessian 2 as its serialization: bytes in,
// bytes out.
//
// A frame is a header of 16 bytes and a body of Hessian values. Between two
// Dubbo peers the body is not decoded: a scanner skips over the arguments or the
// result to find the call and the attachments, which become the fields of a
// codec.Head. On the way out the id is replaced, and the attachments are edited
// where a field was changed, added or removed; what stands in front of the first
// edit is sent as it came, and so is whatever a peer appends behind its message.
//
// Towards other protocols a body is translated to and from JSON: the arguments
// of a call as an array, a result as a value.
//
// Every length, reference and definition is held against what is there before it
// is believed: nesting, values, classes and the size of what references expand
// to have limits.
package dubbo
