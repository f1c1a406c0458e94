package frame

import "github.com/corelane/corelane/codec"

func init() { codec.Register(Protocol{}) }

// Protocol is version 1 of the frame protocol for the engine.
type Protocol struct{}

var _ codec.Protocol = Protocol{}

// Name is "frame".
func (Protocol) Name() string { return "frame" }

// Traits implements codec.Protocol.
func (Protocol) Traits() codec.Traits {
	return codec.Traits{IDBits: 64, Splits: true, Window: Window, Heartbeats: true}
}

// NewDecoder implements codec.Protocol. Of the limits, Body does not count: a
// body comes piece by piece, and a frame of more than MaxBody is refused.
func (Protocol) NewDecoder(r codec.Role, l codec.MessageLimits) codec.Decoder {
	return &decoder{role: r, limits: l}
}

// AppendControl implements codec.Protocol. A credit over MaxCredit is cut to it,
// one under 1 is not said.
func (Protocol) AppendControl(dst []byte, c *codec.Control) []byte {
	switch c.Kind {
	case codec.Heartbeat:
		return AppendHeader(dst, &Header{Kind: Heartbeat, ID: c.ID})
	case codec.HeartbeatReply:
		return AppendHeader(dst, &Header{Kind: Heartbeat, Flags: Reply, ID: c.ID})
	case codec.GoAway:
		return AppendDetail(dst, GoAway, c.ID, c.Reason.Status(), c.Reason.String(), c.Detail)
	case codec.Cancel:
		return AppendDetail(dst, Cancel, c.ID, c.Reason.Status(), c.Reason.String(), c.Detail)
	case codec.Credit:
		if c.Amount > 0 {
			return AppendCredit(dst, c.ID, uint32(min(c.Amount, MaxCredit)))
		}
	}
	return dst
}
