package codec

import "unsafe"

// Limits of a Head.
const (
	// keepBytes: a larger buffer is given back by Reset, so that one big head
	// does not hold its memory for the life of the connection.
	keepBytes = 16 << 10
	// keepFields is the same limit for the list of fields.
	keepFields = keepBytes / int(unsafe.Sizeof(Field{}))
	// maxFields fits the index. Decoders stop far below; Add beyond it is ignored.
	maxFields = 60000
	// maxStatus is the largest number of three digits.
	maxStatus = 999
)

// Framing says how far the body of a message extends (RFC 9112 §6.3).
type Framing uint8

// The framings.
const (
	FramingNone    Framing = iota // there is no body
	FramingLength                 // ContentLength says its length; may be 0
	FramingChunked                // chunks, until the last one
	FramingClose                  // until the connection closes; responses only
)

// Span is a range of a head's bytes: From is in, To is not.
type Span struct{ From, To uint32 }

// Len returns the number of bytes.
func (s Span) Len() int { return int(s.To - s.From) }

// In returns the bytes of b that the span covers. The view cannot grow into
// what follows it.
func (s Span) In(b []byte) []byte { return b[s.From:s.To:s.To] }

// Head is the head of a request or a response of any protocol: the control
// data, the fields in their order, and what they say about the body and the
// connection.
//
// Slices that its methods return are views into the head. They stay valid
// until Reset, also while the head is changed; a change does not show in them.
// A Head is not safe for concurrent use. Reset makes a zero Head ready.
type Head struct {
	buf    []byte // all bytes: first those received, then those of changes
	fields []Field
	first  [knownCount]uint16 // index + 1 of the first field kept of each name

	line       RequestLine
	call       CallKind
	raw        Span // see SetRaw
	status     int
	reason     Span
	minor      int
	lineLength uint32 // bytes of the received first line; 0 once it is not what to send
	note       uint64

	framing       Framing
	contentLength int64
	lengthKept    bool // the received Content-Length line says contentLength

	keepAlive bool
	expect100 bool
	upgrade   Span // empty: no upgrade is offered
}

// Reset empties the head and keeps its buffers unless they are large.
func (h *Head) Reset() {
	h.buf, h.fields = h.buf[:0], h.fields[:0]
	if cap(h.buf) > keepBytes {
		h.buf = nil
	}
	if cap(h.fields) > keepFields {
		h.fields = nil
	}
	// Member by member: one assignment would build a second Head and copy it.
	clear(h.first[:])
	h.line = RequestLine{}
	h.call, h.raw = ByPath, Span{}
	h.status, h.reason, h.minor, h.lineLength = 0, Span{}, 1, 0
	h.note = 0
	h.framing, h.contentLength, h.lengthKept = FramingNone, -1, false
	h.keepAlive, h.expect100, h.upgrade = true, false, Span{}
}

// Size returns the bytes of memory held, for the memory budget.
func (h *Head) Size() int {
	return int(unsafe.Sizeof(*h)) + cap(h.buf) + cap(h.fields)*int(unsafe.Sizeof(Field{}))
}

// Minor returns the minor version of HTTP/1.x as received: 0 or 1. Every later
// minor version counts as 1 (RFC 9110 §2.5).
func (h *Head) Minor() int { return h.minor }

// Framing returns how the body is delimited.
func (h *Head) Framing() Framing { return h.framing }

// ContentLength returns the length of the body in bytes, -1 if it is not
// known. With FramingNone in a response to HEAD, or in a 304, it is the length
// that the body would have had.
func (h *Head) ContentLength() int64 { return h.contentLength }

// SetFraming changes how the body is delimited. n is the length in bytes; it
// counts for FramingLength, and as information for FramingNone. Negative means
// not known. The fields Content-Length and Transfer-Encoding that were
// received no longer matter.
func (h *Head) SetFraming(f Framing, n int64) {
	if n < 0 || f == FramingChunked || f == FramingClose {
		n = -1
	}
	if n < 0 && f == FramingLength {
		f = FramingChunked // a length that is not known is none
	}
	h.lengthKept = h.lengthKept && n == h.contentLength
	h.framing, h.contentLength = f, n
}

// KeepAlive says whether the message lets its connection carry another one
// (RFC 9112 §9.3). It is decided when the head was decoded; later changes of
// fields or framing do not change it.
func (h *Head) KeepAlive() bool { return h.keepAlive }

// Expect100 says that the request waits for 100 (Continue) before it sends its
// body (RFC 9110 §10.1.1). It is false in HTTP/1.0. If it is false and the
// field Expect is present in an HTTP/1.1 request, the expectation is one that
// the gateway does not know.
func (h *Head) Expect100() bool { return h.expect100 }

// Upgrade returns the protocols offered by the Upgrade field, nil if there is
// none, if Connection does not list upgrade, or if the message is HTTP/1.0
// (RFC 9110 §7.8). It is also nil if h2c is among them: behind it, requests
// would pass that nobody has looked at.
func (h *Head) Upgrade() []byte {
	if h.upgrade.Len() == 0 {
		return nil
	}
	return h.upgrade.In(h.buf)
}
