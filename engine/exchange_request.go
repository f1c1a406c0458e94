package engine

import (
	"strconv"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
)

// enter cleans the request at the door and sets what the gateway vouches for.
// False means that it was answered.
func (x *Exchange) enter() bool {
	h := &x.req
	if x.message {
		h.DelKnown(codec.Expect) // nobody waits: a message has no 100
	}
	if !expectable(h) {
		x.fail(faultExpectation)
		return false
	}
	x.clean()
	switch status := nextHop(h); status {
	case 0:
	case 400:
		x.fail(faultMaxForwards)
		return false
	default:
		x.Context.Respond(status, nil, filters.ReplyField{Name: "Allow", Value: knownMethods})
		x.answer()
		return false
	}
	if h.Call() == codec.ByPath && !x.w.resolver.Normalize(h, x.lis, nil) {
		x.fail(faultAmbiguousPath)
		return false
	}
	return true
}

// expectable says whether the gateway knows what the request expects, if
// anything (RFC 9110 §10.1.1).
func expectable(h *codec.Head) bool {
	return h.First(codec.Expect) < 0 || h.Minor() == 0 || h.Expect100()
}

// clean drops what is not meant for the upstream and adds the gateway's fields.
// Of the worker it uses what needs no loop, so that an explanation can do the same.
func (x *Exchange) clean() {
	h := &x.req
	x.upgrade = h.Upgrade() != nil
	h.DropHopByHop(x.upgrade)
	x.forwardedFields()
	h.SetKnown(codec.Traceparent, x.traceparent())
	if !x.message {
		h.AddKnown(codec.Via, viaValue[h.Minor()])
	}
}

// viaValue is what RFC 9110 §7.6.3 wants of a gateway, by the minor version
// received.
var viaValue = [2][]byte{[]byte("1.0 corelane"), []byte("1.1 corelane")}

// nextHop counts Max-Forwards down (RFC 9110 §7.6.2). A status other than 0 is
// the answer to a request that goes no further.
func nextHop(h *codec.Head) (status int) {
	m := h.MethodID()
	if h.First(codec.MaxForwards) < 0 || m != codec.OPTIONS && m != codec.TRACE {
		return 0
	}
	n, ok := maxForwards(h.Get(codec.MaxForwards))
	switch {
	case !ok:
		return 400
	case n > 0:
		var digits [20]byte
		h.SetKnown(codec.MaxForwards, strconv.AppendInt(digits[:0], int64(n-1), 10))
		return 0
	case m == codec.TRACE:
		// Reflecting a request would show fields that scripts must not read.
		return 405
	}
	return 200
}

// maxMaxForwards is the largest value that is sent on; larger ones become it,
// as RFC 9110 §7.6.2 allows.
const maxMaxForwards = 1 << 30

// maxForwards reads 1*DIGIT.
func maxForwards(b []byte) (n int, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = min(n*10+int(c-'0'), maxMaxForwards)
	}
	return n, len(b) > 0
}

const knownMethods = "GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH"

// resolve finds the route. False means that the request was answered.
func (x *Exchange) resolve() bool {
	h := &x.req
	switch x.w.resolver.Resolve(&x.query, x.snap, h, nil) {
	case codec.RouteNotFound:
		x.noteUnknownPath()
		x.fail(notFound(h))
		return false
	case codec.MethodNotAllowed:
		x.fail(faultMethodNotAllowed)
		return false
	}
	r := x.query.Route()
	x.route, x.Route = r, &r.Info
	x.maxBody = r.BodyLimit(x.lis)
	if total := x.totalTime(); total > 0 {
		x.w.loop.Arm(&x.allClock, x.AcceptedAt+total)
	}
	if x.maxBody > 0 && h.ContentLength() > x.maxBody {
		x.fail(faultBodyTooLarge)
		return false
	}
	return true
}

// forward applies the route's changes to the target and begins the first try.
func (x *Exchange) forward() {
	r := x.route
	if r.Service == nil {
		x.fail(faultNoEndpoint)
		return
	}
	x.svc, x.Service = r.Service, r.Service.Name
	x.w.resolver.Forward(&x.query, &x.req, nil)
	x.proto = protocolFor(x.svc, x.lis)
	if err := x.bridge(); err != nil {
		x.fail(faultOf(err))
		return
	}
	if x.Context.RequestChanges() && !x.requestDone {
		x.req.SetFraming(codec.FramingChunked, -1) // behind the bridge, which knows a length
	}
	x.w.enterService(x.svc)
	x.counted = true
	x.key = x.svc.Key(&x.req, x.Client)
	if x.holds() {
		x.hold()
		return
	}
	x.beginTry()
}

// onRequestData takes a piece of the body; only called while bodyOpen.
func (x *Exchange) onRequestData(b []byte) {
	if x.bytesIn == 0 && x.req.Expect100() && x.state == stateRequesting {
		x.w.loop.Disarm(&x.lead.clock)
	}
	x.bytesIn += int64(len(b))
	if x.maxBody > 0 && x.bytesIn > x.maxBody {
		x.fail(faultBodyTooLarge)
		return
	}
	if out, ok := x.showRequest(b, false); ok {
		x.passRequest(out, moved(out, b))
	}
}

// onRequestEnd ends the body. Within the delivery of its last piece the exchange
// may have been refused already.
func (x *Exchange) onRequestEnd() {
	if !x.bodyOpen {
		x.requestDone = true
		return
	}
	tail, ok := x.showRequest(nil, true)
	if !ok {
		return
	}
	x.passRequest(tail, true)
	if !x.bodyOpen {
		return // the tail was too much
	}
	x.requestDone, x.bodyOpen = true, false
	if x.state == stateHolding {
		x.endHold()
		return
	}
	x.armHedge()
	x.lead.begunAt = x.now() // a slow client is not a slow endpoint
	x.lead.endRequest()
}

// showRequest gives a piece to the filters that look at request bodies, and
// returns what they made of it. False means that one of them ended the exchange.
func (x *Exchange) showRequest(b []byte, last bool) ([]byte, bool) {
	for s := stageListener; s < stages; s++ {
		c := x.chain(s)
		if !c.HasRequestBody() {
			continue
		}
		x.touch()
		if c.RequestBody(&x.Context, b, last) != filters.Continue {
			x.refuseBody()
			return nil, false
		}
		b = x.Context.Piece()
	}
	return b, true
}

// refuseBody sends the answer of a body filter, or cuts an answer that has
// begun.
func (x *Exchange) refuseBody() {
	reply, _ := x.Context.Reply()
	x.dropTry(fault{})
	if x.responded() {
		x.fail(fault{reply.Reason, fromInside, faultFinal, ""})
		return
	}
	x.answerInstead()
}

// onUpstreamDrain continues a client that was paused for a slow upstream.
func (x *Exchange) onUpstreamDrain() {
	if x.bodyOpen || x.state == stateTunnel {
		x.down.resume()
	}
}
