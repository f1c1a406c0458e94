package filtertest

import "github.com/corelane/corelane/filters"

// ClientSends gives the request of Run a body that comes in these pieces.
func (x *Exchange) ClientSends(pieces ...string) { x.sends = pieces }

// ServiceSends gives the response of Run's service a body that comes in these
// pieces.
func (x *Exchange) ServiceSends(pieces ...string) { x.serves = pieces }

// SendRequestBody gives the chain the pieces and then the end of a request body,
// as an engine does, and returns what would be forwarded. The verdict is
// Continue, or that of the filter that ended the exchange.
func (x *Exchange) SendRequestBody(c *filters.Chain, pieces ...string) (string, filters.Verdict) {
	return x.send(pieces, func(piece []byte, last bool) filters.Verdict {
		return c.RequestBody(&x.Context, piece, last)
	})
}

// SendResponseBody is the same for a response that passed all of the chain.
func (x *Exchange) SendResponseBody(c *filters.Chain, pieces ...string) (string, filters.Verdict) {
	return x.send(pieces, func(piece []byte, last bool) filters.Verdict {
		return c.ResponseBody(&x.Context, c.Len()-1, piece, last)
	})
}

func (x *Exchange) send(pieces []string, pass func([]byte, bool) filters.Verdict) (string, filters.Verdict) {
	var out []byte
	for i := range len(pieces) + 1 {
		var piece []byte
		if i < len(pieces) {
			piece = []byte(pieces[i])
		}
		if v := pass(piece, i == len(pieces)); v != filters.Continue {
			return string(out), v
		}
		out = append(out, x.Piece()...)
	}
	return string(out), filters.Continue
}

// SendWholeBody hands the pieces, as one held body, to the filters that asked
// for it with HoldBody.
func (x *Exchange) SendWholeBody(pieces ...string) filters.Verdict {
	_, v := x.WholeRequest(held(pieces), 0)
	return v
}

// LengthsBroken returns the names of the filters that changed the length of a
// body without having said so.
func (x *Exchange) LengthsBroken() []string { return x.host.lengths }

// held is a body in pieces.
type held []string

func (h held) Len() int64 {
	n := 0
	for _, piece := range h {
		n += len(piece)
	}
	return int64(n)
}

func (h held) At(n int64) []byte {
	for _, piece := range h {
		if n < int64(len(piece)) {
			return []byte(piece[n:])
		}
		n -= int64(len(piece))
	}
	return nil
}
