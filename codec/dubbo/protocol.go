package dubbo

import (
	"unsafe"

	"github.com/corelane/corelane/codec"
)

func init() { codec.Register(New()) }

// readOnly is the event by which a service says that it takes no more requests.
const readOnly = 'R'

// protocol has no state: all of it is in decoders and heads.
type protocol struct{}

// New returns the protocol. It is a codec.Translator too. Any goroutine may use
// it.
func New() codec.Protocol { return protocol{} }

var _ codec.Translator = protocol{}

// Name implements codec.Protocol.
func (protocol) Name() string { return "dubbo" }

// Traits implements codec.Protocol.
func (protocol) Traits() codec.Traits { return codec.Traits{IDBits: 64, Heartbeats: true} }

// NewDecoder implements codec.Protocol.
func (protocol) NewDecoder(r codec.Role, l codec.MessageLimits) codec.Decoder {
	return &decoder{role: r, lim: l}
}

// AppendFailure implements codec.Protocol: an error with the text "reason:
// message (trace id)".
func (protocol) AppendFailure(dst []byte, f *codec.Failure) []byte {
	at := len(dst)
	dst = appendHeader(dst, 0, statusByte(f.Status, true), f.ID, 0)
	text := make([]byte, 0, maxErrorText)
	if reason := f.Reason.String(); reason != "" {
		text = append(append(text, reason...), ": "...)
	}
	text = append(text, f.Message[:min(len(f.Message), maxErrorText/2)]...)
	if len(f.TraceID) > 0 {
		text = append(text, " (trace "...)
		text = append(text, f.TraceID[:min(len(f.TraceID), maxErrorText/4)]...)
		text = append(text, ')')
	}
	body := len(dst)
	dst = appendText(dst, text)
	setLength(dst, at, len(dst)-body)
	return dst
}

// AppendControl implements codec.Protocol: heartbeats, and that no more requests
// are taken, for which Dubbo gives no reason.
func (protocol) AppendControl(dst []byte, c *codec.Control) []byte {
	switch c.Kind {
	case codec.Heartbeat:
		dst = appendHeader(dst, flagRequest|flagTwoWay|flagEvent, 0, c.ID, 1)
		return append(dst, tagNull)
	case codec.HeartbeatReply:
		dst = appendHeader(dst, flagEvent, statusOK, c.ID, 1)
		return append(dst, tagNull)
	case codec.GoAway:
		if c.Role == codec.Responses {
			return dst // it is for services to say
		}
		dst = appendHeader(dst, flagRequest|flagEvent, 0, 0, 2)
		return append(dst, 1, readOnly)
	}
	return dst
}

// equalFold compares names without regard to case and without allocating.
func equalFold(a, b []byte) bool {
	return codec.EqualFold(a, unsafe.String(unsafe.SliceData(b), len(b)))
}
