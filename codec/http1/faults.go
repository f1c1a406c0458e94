package http1

import "github.com/corelane/corelane/codec"

// fault is what can be wrong with a message. In a response every fault is
// upstream_bad_response; only the detail tells them apart.
type fault struct {
	request  codec.Error
	response codec.Error
}

func newFault(r codec.Reason, detail string) *fault {
	return &fault{
		request:  codec.Error{Reason: r, Detail: detail},
		response: codec.Error{Reason: codec.UpstreamBadResponse, Detail: detail},
	}
}

var (
	errEmptyLines  = newFault(codec.BadRequest, "too many empty lines before the request line")
	errLineEnd     = newFault(codec.BadRequest, "a line does not end with CRLF")
	errMethod      = newFault(codec.BadRequest, "the method is not a token")
	errMethodLong  = newFault(codec.NotImplemented, "the method is longer than any that is known")
	errConnect     = newFault(codec.NotImplemented, "CONNECT is not served")
	errTarget      = newFault(codec.BadRequest, "the request target has no known form or bytes that may not stand in it")
	errEscape      = newFault(codec.BadRequest, "the path has an invalid percent escape")
	errAuthority   = newFault(codec.BadRequest, "the authority of the request target is invalid")
	errVersion     = newFault(codec.BadRequest, "the first line has no valid HTTP version")
	errMajor       = newFault(codec.VersionNotSupported, "the major version is not 1")
	errLineLimit   = newFault(codec.URITooLong, "the first line is over its limit")
	errStatus      = newFault(codec.BadRequest, "the status code is not three digits from 100 on")
	errFieldName   = newFault(codec.BadRequest, "a field name is not a token followed by a colon")
	errFold        = newFault(codec.BadRequest, "a field line is folded")
	errFieldValue  = newFault(codec.BadRequest, "a field value has control characters")
	errFieldBytes  = newFault(codec.HeadersTooLarge, "the fields are over their limit in bytes")
	errFieldCount  = newFault(codec.HeadersTooLarge, "there are more fields than allowed")
	errOptions     = newFault(codec.BadRequest, "Connection has too many options")
	errHostMissing = newFault(codec.BadRequest, "Host is missing")
	errHostTwice   = newFault(codec.BadRequest, "there is more than one Host")
	errHost        = newFault(codec.BadRequest, "Host is invalid")
	errLength      = newFault(codec.BadFraming, "Content-Length is not a number of at most 18 digits")
	errLengthTwice = newFault(codec.BadFraming, "there is more than one Content-Length")
	errLengthAndTE = newFault(codec.BadFraming, "Content-Length and Transfer-Encoding stand together")
	errTE          = newFault(codec.BadFraming, "Transfer-Encoding does not end with one chunked")
	errTETwice     = newFault(codec.BadFraming, "there is more than one Transfer-Encoding")
	errTEVersion   = newFault(codec.BadFraming, "Transfer-Encoding in an HTTP/1.0 message")
	errCoding      = newFault(codec.NotImplemented, "a transfer coding is not known")

	errChunkSize    = newFault(codec.BadFraming, "a chunk size is not a hexadecimal number of at most 15 digits")
	errChunkExt     = newFault(codec.BadFraming, "a chunk extension is malformed or too long")
	errChunkEnd     = newFault(codec.BadFraming, "a line of a chunked body does not end with CRLF")
	errChunkWaste   = newFault(codec.BadFraming, "a chunked body has too little data for its chunks")
	errTrailerLarge = newFault(codec.BadFraming, "the trailers are over their limit")
	errBodyCut      = newFault(codec.BadFraming, "the connection ended inside the body")
)
