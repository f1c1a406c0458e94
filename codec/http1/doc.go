// Package http1 reads and writes HTTP/1.0 and HTTP/1.1 messages (RFC 9112):
// bytes in, bytes out.
//
// Decoder turns received bytes into a codec.Head, Body finds the extent of the
// body behind it, and the Append functions write heads and chunks. All of them
// can be fed any pieces of a message: a decoder is a state machine over offsets,
// so every split of the bytes gives the same result and the same error, and no
// byte is looked at twice. A head that arrives whole is parsed where it lies and
// copied once.
//
// There is one reading of a message or none: whatever two servers might
// understand differently is an error here, and what was understood is written
// anew, never passed through.
package http1
