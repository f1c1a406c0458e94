package engine

import "github.com/corelane/corelane/codec"

// Layout of traceparent version 00: version, trace id, parent id and flags in
// hexadecimal with dashes between them (W3C Trace Context §3.2).
const (
	traceparentLen = 55
	traceIDAt      = 3
	parentIDAt     = 36
	parentIDLen    = 16
	traceFlagsAt   = 53
)

// beginTrace continues the client's trace or begins one.
func (x *Exchange) beginTrace() {
	if tp := x.req.Get(codec.Traceparent); validTraceparent(tp) {
		copy(x.TraceID[:], tp[traceIDAt:])
		return
	}
	// A tracestate without a valid traceparent must not be kept (§3.3).
	x.req.DelKnown(codec.Tracestate)
	appendHex64(x.TraceID[:0], x.w.rand())
	appendHex64(x.TraceID[:16], x.w.rand()|1)
}

// traceparent builds the field that is forwarded: the same trace, the gateway
// as the parent. The result is valid until the worker's scratch is used again.
func (x *Exchange) traceparent() []byte {
	flags := "01"
	if tp := x.req.Get(codec.Traceparent); validTraceparent(tp) {
		flags = "00"
		if hexValue(tp[traceFlagsAt+1])&1 == 1 {
			flags = "01"
		}
	}
	b := append(x.w.scratch[:0], "00-"...)
	b = append(b, x.TraceID[:]...)
	b = append(b, '-')
	b = appendHex64(b, x.w.rand()|1)
	b = append(b, '-')
	x.w.scratch = append(b, flags...)
	return x.w.scratch
}

// validTraceparent accepts version 00 and, as §3.2.2 asks, later versions that
// begin like it; ids of zeros and upper case are invalid.
func validTraceparent(b []byte) bool {
	if len(b) < traceparentLen || b[2] != '-' || b[35] != '-' || b[52] != '-' {
		return false
	}
	if b[0] == 'f' && b[1] == 'f' || !lowerHex(b[:2]) {
		return false
	}
	if len(b) > traceparentLen && (b[0] == '0' && b[1] == '0' || b[traceparentLen] != '-') {
		return false
	}
	id, parent := b[traceIDAt:traceIDAt+32], b[parentIDAt:parentIDAt+parentIDLen]
	return lowerHex(id) && lowerHex(parent) && lowerHex(b[traceFlagsAt:traceparentLen]) &&
		!zeros(id) && !zeros(parent)
}

func lowerHex(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func zeros(b []byte) bool {
	for _, c := range b {
		if c != '0' {
			return false
		}
	}
	return true
}

func hexValue(c byte) byte {
	if c >= 'a' {
		return c - 'a' + 10
	}
	return c - '0'
}

// hexPairs are the two digits of every byte.
var hexPairs = func() (pairs [256][2]byte) {
	for i := range pairs {
		pairs[i] = [2]byte{hexDigits[i>>4], hexDigits[i&15]}
	}
	return pairs
}()

// appendHex64 appends 16 hexadecimal digits.
func appendHex64(b []byte, v uint64) []byte {
	for shift := 56; shift >= 0; shift -= 8 {
		pair := &hexPairs[v>>shift&255]
		b = append(b, pair[0], pair[1])
	}
	return b
}
