// Package resp is an example of a protocol that is not built in: RESP2, which Redis
// and others speak. Build a gateway with it:
//
//	corelane build --with example.com/corelane-resp=examples/resp -o bin/gateway
//
// The route key of a request is its command in lower case, so that routes say which
// commands pass. Messages have no ids: a connection carries one at a time, in
// order. Connections to services are shared by clients, so commands whose meaning
// lives in a connection (MULTI, SUBSCRIBE, SELECT, AUTH) must not be routed.
package resp

import "github.com/corelane/corelane/codec"

func init() { codec.Register(Protocol{}) }

// Protocol is RESP2 for the engine.
type Protocol struct{}

var (
	_ codec.Protocol   = Protocol{}
	_ codec.Translator = Protocol{}
)

// Name is "resp".
func (Protocol) Name() string { return "resp" }

// Traits: no ids, no pieces, no controls.
func (Protocol) Traits() codec.Traits { return codec.Traits{} }

// NewDecoder implements codec.Protocol.
func (Protocol) NewDecoder(r codec.Role, l codec.MessageLimits) codec.Decoder {
	return &decoder{role: r, most: l.Body}
}

// Encode implements codec.Protocol. A body is a whole message, whether it came from
// a decoder or from Native.
func (Protocol) Encode(dst []byte, _ *codec.Piece) ([]byte, error) { return dst, nil }

// AppendControl implements codec.Protocol: RESP has none.
func (Protocol) AppendControl(dst []byte, _ *codec.Control) []byte { return dst }

// AppendFailure implements codec.Protocol: an error reply.
func (Protocol) AppendFailure(dst []byte, f *codec.Failure) []byte {
	dst = append(append(dst, "-ERR "...), f.Reason.String()...)
	if len(f.Message) > 0 {
		dst = appendLine(append(dst, ' '), f.Message)
	}
	return append(dst, "\r\n"...)
}

// appendLine appends text for one line.
func appendLine[T string | []byte](dst []byte, text T) []byte {
	const longest = 1 << 10
	text = text[:min(len(text), longest)]
	from := len(dst)
	dst = append(dst, text...)
	for i, c := range dst[from:] {
		if c < ' ' {
			dst[from+i] = ' '
		}
	}
	return dst
}
