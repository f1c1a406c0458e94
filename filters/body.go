package filters

import "github.com/corelane/corelane/codec"

// lengthBroken is what a client reads when a filter changed a length that had
// been promised.
const lengthBroken = "a filter changed the length of a body without saying so"

// Body is a request body that is held whole in memory, as it will be forwarded.
// It may be read until the callback returns.
type Body interface {
	// Len returns the length in bytes.
	Len() int64
	// At returns the bytes from offset n on, as many as lie together: at least
	// one below Len, none from there on.
	At(n int64) []byte
}

// WholeBodyFilter reads a request body in one piece. It asks for that with
// Context.HoldBody in its request head phase and is called when the body is
// whole and before an upstream is chosen, also for a request without a body. All
// body phases have run by then: it reads what will be forwarded. A body over the
// route's `body.memory` is refused with 413 body_too_large, since it could not
// be read without blocking. It may answer Continue, Respond or Wait.
type WholeBodyFilter interface {
	OnWholeRequest(ctx *Context, body Body) Verdict
}

// bodyWork is what filters of one exchange have asked for, and the piece that
// goes from one to the next.
type bodyWork struct {
	running *Entry // whose call it is
	phase   phase  // and which
	piece   []byte
	whole   Body

	holders  []*Entry // those that read the whole body, in the order they asked
	holds    bool
	ready    bool // the body is whole: nothing can be asked any more
	request  bool // the length of the request body will change
	response bool // and that of the response
}

func (b *bodyWork) reset() {
	if b.running == nil && !b.ready {
		return // no filter was called
	}
	clear(b.holders)
	*b = bodyWork{holders: b.holders[:0]}
}

// HoldBody has the request body received whole before anything of it is
// forwarded, so that a body filter can still refuse it at its last piece. For a
// WholeBodyFilter it is held in memory and handed over; for others it may go to
// a file. It belongs to the request head phase; elsewhere it panics. Loop only.
func (c *Context) HoldBody() {
	w := &c.body
	if w.ready || c.Response != nil || w.phase != phaseRequest && w.phase != phaseResume {
		panic("filters: HoldBody belongs to the request head phase")
	}
	w.holds = true
	if e := w.running; e.whole != nil && !w.asked(e) {
		w.holders = append(w.holders, e)
	}
}

func (b *bodyWork) asked(e *Entry) bool {
	return len(b.holders) > 0 && b.holders[len(b.holders)-1] == e
}

// BodyChanges says, in a head phase, that the filter will change the length of
// the body that follows: it is sent in chunks then, unless it is held whole.
// What a head says of the body besides (ETag, Content-Encoding) is the filter's
// business. Elsewhere it panics. Loop only.
func (c *Context) BodyChanges() {
	w := &c.body
	switch p := w.phase; {
	case p == phaseResponse || p == phaseResume && c.Response != nil:
		w.response = true
	case (p == phaseRequest || p == phaseResume) && !w.ready:
		w.request = true
	default:
		panic("filters: BodyChanges belongs to a head phase")
	}
}

// ReplaceBody puts b in place of the piece that the body phase was called with;
// nil swallows it. With the last piece b may be longer: the tail. b must stay
// unchanged until a body phase of the filter is called again, whosever body that
// is. Without BodyChanges it must be as long as the piece, or the exchange is
// answered 500, or cut. Elsewhere it panics. Loop only.
func (c *Context) ReplaceBody(b []byte) {
	if p := c.body.phase; p != phaseRequestBody && p != phaseResponseBody {
		panic("filters: ReplaceBody belongs to a body phase")
	}
	c.body.piece = b
}

// Piece returns what the body filters made of the piece that they were called
// with; valid until the filter that made it is called again. For the engine,
// loop only.
func (c *Context) Piece() []byte { return c.body.piece }

// Holds tells whether a filter wants the request body held, and whole whether
// one wants to read it. For the engine, loop only.
func (c *Context) Holds() (holds, whole bool) { return c.body.holds, len(c.body.holders) > 0 }

// RequestChanges tells whether a filter changes the length of the request body.
// For the engine, loop only.
func (c *Context) RequestChanges() bool { return c.body.request }

// ResponseChanges is the same for the response. For the engine, loop only.
func (c *Context) ResponseChanges() bool { return c.body.response }

// ForgetResponse takes back what filters said of a response that another one
// takes the place of. For the engine, loop only.
func (c *Context) ForgetResponse() { c.body.response = false }

// WholeRequest hands the body to those who asked for it, from number `from` on,
// and returns the verdict and the number of the filter that gave it. After a
// Wait, ResumeWhole speaks for that filter and, if it says Continue, WholeRequest
// goes on from the next number. For the engine, loop only.
func (c *Context) WholeRequest(body Body, from int) (int, Verdict) {
	w := &c.body
	w.whole, w.ready = body, true
	for i := from; i < len(w.holders); i++ {
		if v := w.holders[i].call(c, phaseWhole, nil, false); v != Continue {
			return i, v
		}
	}
	return len(w.holders), Continue
}

// ResumeWhole calls the filter that waited in WholeRequest.
func (c *Context) ResumeWhole(at int) Verdict {
	return c.body.holders[at].call(c, phaseResume, nil, false)
}

// pass shows a piece to one filter and takes what it made of it.
func (e *Entry) pass(ctx *Context, p phase, last, mayChange bool) Verdict {
	w := &ctx.body
	n := len(w.piece)
	v := e.call(ctx, p, w.piece[:n:n], last) // appending to it makes a copy
	if v == Continue && len(w.piece) != n && !mayChange {
		ctx.host.FilterLength(e)
		return ctx.Fail(codec.InternalError, lengthBroken)
	}
	return v
}
