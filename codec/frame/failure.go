package frame

import (
	"unicode/utf8"

	"github.com/corelane/corelane/codec"
)

// maxMessage is how much of a failure's message is told, in bytes.
const maxMessage = 1 << 10

// AppendFailure implements codec.Protocol: a response with the status, the reason
// as a field, and the product's error body. A response to HEAD has none.
func (Protocol) AppendFailure(dst []byte, f *codec.Failure) []byte {
	h := Header{Kind: Response, Status: uint16(codec.InternalError.Status()), ID: f.ID}
	if f.Status >= minStatus && f.Status <= maxStatus {
		h.Status = uint16(f.Status)
	}
	at := len(dst)
	dst = AppendHeader(dst, &h)
	if f.Reason != codec.ReasonNone {
		dst = AppendPair(dst, ReasonField, f.Reason.String())
	}
	bodiless := Bodiless(int(h.Status)) || f.Request != nil && f.Request.MethodID() == codec.HEAD
	if !bodiless {
		dst = AppendPair(dst, "content-type", "application/json")
	}
	body := len(dst)
	h.Metadata = uint32(body - at - HeaderSize)
	if !bodiless {
		dst = appendErrorBody(dst, f)
	}
	h.Body = uint32(len(dst) - body)
	h.put(dst[at:])
	return dst
}

func appendErrorBody(dst []byte, f *codec.Failure) []byte {
	dst = append(dst, `{"error":"`...)
	dst = append(dst, f.Reason.String()...)
	dst = append(dst, `","message":"`...)
	dst = appendEscaped(dst, f.Message[:min(len(f.Message), maxMessage)])
	dst = append(dst, `","trace_id":"`...)
	dst = appendEscaped(dst, f.TraceID[:min(len(f.TraceID), maxMessage)])
	return append(dst, "\"}\n"...)
}

// appendEscaped appends what stands between the quotes of a JSON string (RFC 8259
// §7). Bytes that are not UTF-8 become U+FFFD.
func appendEscaped(dst, s []byte) []byte {
	const hex = "0123456789abcdef"
	for len(s) > 0 {
		c, n := s[0], 1
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ' || c == 0x7f:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c < utf8.RuneSelf:
			dst = append(dst, c)
		default:
			var r rune
			r, n = utf8.DecodeRune(s)
			dst = utf8.AppendRune(dst, r)
		}
		s = s[n:]
	}
	return dst
}
