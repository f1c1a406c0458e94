package tlshello

import "github.com/corelane/corelane/codec"

// Bounds of what is read.
const (
	// Max is the most bytes that a first message may have, its records' headers
	// included.
	Max = 16 << 10
	// MaxName is the longest name in bytes (RFC 1035 §2.3.4).
	MaxName = 255
)

// What Decoder.Read reports; compare with errors.Is or ==.
var (
	// ErrNotTLS: the first bytes are those of another protocol.
	ErrNotTLS = &codec.Error{Reason: codec.BadRequest, Detail: "the client does not speak TLS"}
	// ErrMalformed: they are those of TLS, and what follows is not.
	ErrMalformed = &codec.Error{Reason: codec.BadRequest, Detail: "the first message of TLS is malformed"}
	// ErrTooLong: the message has more than Max bytes.
	ErrTooLong = &codec.Error{Reason: codec.BadRequest, Detail: "the first message of TLS is too long"}
	// ErrName: there are two server names, or one that is no host name.
	ErrName = &codec.Error{Reason: codec.BadRequest, Detail: "the server name of TLS is malformed"}
)
