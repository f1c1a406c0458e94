package engine

import (
	"net/netip"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/filters"
)

// Bounds of what a loop keeps of calls that have ended.
const (
	maxFreeCalls = 256
	keptCallBody = 16 << 10
)

// callState is where a call stands.
type callState uint8

const (
	// callReady: prepared; its turn comes when the filter has returned.
	callReady callState = iota
	// callRunning: its exchange runs.
	callRunning
	// callOver: its exchange has ended; its turn comes.
	callOver
)

// call is a request that a filter makes to a service: the client's side of an
// exchange of its own, which has neither filters nor a record in the log. The
// filter's exchange, its parent, and the call never run inside each other: what
// one has for the other waits for the call's turn, after the current callback.
type call struct {
	// Immutable.
	w    *worker
	turn reactor.Deferred

	// Owned by the loop.
	state    callState
	parent   *Exchange // nil: nobody waits any more
	x        *Exchange
	service  string
	sendable bool
	tooLarge bool
	began    int64
	timeout  int64
	bound    int // of the answer's body
	route    snapshot.Route
	result   filters.CallResult
	body     []byte
	next     *call
}

var _ downstream = (*call)(nil)

// callListener is the policy of calls: none.
var callListener = &snapshot.Listener{Name: "call"}

var (
	faultCallTooLarge   = fault{codec.UpstreamBadResponse, fromInside, faultFinal, "the answer to a call is too large"}
	faultCallUnsendable = fault{codec.InternalError, fromInside, faultFinal, "a filter made a call that cannot be sent"}
)

// takeCall returns a call that is not running.
func (w *worker) takeCall() *call {
	c := w.calls
	if c == nil {
		c = &call{w: w}
		c.turn.Run = func(int64) { c.run() }
		return c
	}
	w.calls, c.next = c.next, nil
	w.callCount--
	return c
}

// Call implements filters.Host.
func (x *Exchange) Call(service string, r *filters.CallRequest, timeout int64) {
	x.w.loop.Disarm(&x.upClock) // of a wait that was given up for the call
	c := x.w.takeCall()
	x.call = c
	x.calls++
	c.prepare(x, service, r, timeout)
	x.w.loop.Defer(&c.turn)
}

// DropCall implements filters.Host.
func (x *Exchange) DropCall() {
	c := x.call
	x.call = nil
	x.callNanos += x.now() - c.began
	c.parent = nil
	if c.state == callRunning {
		c.x.onClientGone(nil)
	}
}

// prepare takes copies of all that the filter gave.
func (c *call) prepare(parent *Exchange, service string, r *filters.CallRequest, timeout int64) {
	w := c.w
	x := w.takeExchange()
	c.state, c.parent, c.x, c.service = callReady, parent, x, service
	c.began, c.timeout, c.bound = parent.now(), timeout, r.Bound()
	x.internal = true
	x.down, x.lis, x.snap = c, callListener, parent.snap
	x.Request = &x.req
	x.Client, x.Peer, x.Scheme, x.TraceID = parent.Client, parent.Peer, "http", parent.TraceID
	x.AcceptedAt = c.began
	x.reached = [stages]int{-1, -1}
	x.stage = stageRoute
	x.requestDone = true
	x.setState(stateFiltering)
	w.enlist(x)
	x.req.Reset()
	if c.sendable = r.Fill(&x.req, service); !c.sendable {
		return
	}
	x.req.SetKnown(codec.Traceparent, parent.traceparent())
	if state := parent.req.Get(codec.Tracestate); state != nil {
		x.req.SetKnown(codec.Tracestate, state)
	}
	if len(r.Body) > 0 {
		x.bytesIn = int64(len(r.Body))
		x.bodyOut = x.bytesIn
		x.held.add(w.loop, r.Body, x.bodyOut, filters.MaxCallBody)
	}
}

// run is the call's turn.
func (c *call) run() {
	switch c.state {
	case callReady:
		c.begin()
	case callRunning:
		if c.tooLarge {
			c.x.fail(faultCallTooLarge)
		}
	case callOver:
		c.deliver()
	}
}

// begin sends the request.
func (c *call) begin() {
	c.state = callRunning
	x, w := c.x, c.w
	svc := x.snap.Services[c.service]
	f, admitted := w.admit()
	switch {
	case c.parent == nil:
		x.onClientGone(nil)
	case !c.sendable:
		x.fail(faultCallUnsendable)
	case svc == nil:
		x.fail(faultNoEndpoint)
	case !admitted:
		x.fail(f)
	default:
		c.route.Service, c.route.Timeouts, c.route.Retries = svc, svc.Timeouts, svc.Retries
		x.route, x.svc, x.Service = &c.route, svc, svc.Name
		x.proto = svc.Protocol
		w.loop.Arm(&x.allClock, c.began+c.timeout)
		w.enterService(svc)
		x.counted = true
		x.key = svc.Key(&x.req, x.Client)
		x.beginTry()
	}
}

// deliver gives the result to the filter that waits for it.
func (c *call) deliver() {
	defer c.release() // also when what follows panics
	r := &c.result
	if c.tooLarge {
		r.Err = codec.UpstreamBadResponse
	}
	c.w.stats.Calls++
	if r.Err != codec.ReasonNone {
		c.w.stats.CallsFailed++
		r.Status, r.Head = 0, nil
	} else {
		r.Body = c.body
	}
	x := c.parent
	if x == nil {
		return
	}
	x.call = nil
	x.callNanos += x.now() - c.began
	x.Context.FinishCall(r)
	x.onWake()
}

// release makes the call and its exchange ready for the next.
func (c *call) release() {
	w, x := c.w, c.x
	c.parent, c.x, c.service = nil, nil, ""
	c.sendable, c.tooLarge = false, false
	c.route, c.result = snapshot.Route{}, filters.CallResult{}
	c.body = c.body[:0]
	if cap(c.body) > keptCallBody {
		c.body = nil
	}
	w.recycle(x)
	if w.callCount < maxFreeCalls {
		c.next, w.calls = w.calls, c
		w.callCount++
	}
}

// sendHead implements downstream.
func (c *call) sendHead(h *codec.Head) {
	if c.x.local {
		c.result.Err = c.x.Reason
		return
	}
	c.result.Status, c.result.Head = h.Status(), h
	if h.Framing() == codec.FramingLength && h.ContentLength() > int64(c.bound) {
		c.refuseBody()
	}
}

// sendData implements downstream.
func (c *call) sendData(b []byte) {
	switch {
	case c.x.local || c.tooLarge:
	case len(c.body)+len(b) > c.bound:
		c.refuseBody()
	default:
		c.body = append(c.body, b...)
	}
}

// refuseBody ends the call in its next turn: the exchange is in the middle of
// handing over.
func (c *call) refuseBody() {
	c.tooLarge = true
	c.w.loop.Defer(&c.turn)
}

// cut implements downstream: the answer is incomplete.
func (c *call) cut() { c.result.Err = c.x.Reason }

// done implements downstream.
func (c *call) done() {
	c.state = callOver
	if c.x.Reason == codec.ClientAborted {
		c.result.Err = codec.ClientAborted
	}
	c.w.loop.Defer(&c.turn)
}

// localEnd implements downstream: a call is made for the client of its parent,
// and an endpoint that is told of clients is told of that one.
func (c *call) localEnd() netip.AddrPort {
	if c.parent == nil {
		return netip.AddrPort{}
	}
	return c.parent.down.localEnd()
}

// protocol implements downstream: calls are made as over HTTP.
func (c *call) protocol() codec.Protocol { return nil }

// What follows implements the rest of downstream. The body of the request is
// whole, and there are no tunnels: nobody offers an upgrade.

func (c *call) sendInterim(*codec.Head) {}
func (c *call) neutral() error          { return nil }
func (c *call) sendEnd(*codec.Head)     {}
func (c *call) startTunnel()            {}
func (c *call) closeWrite()             {}
func (c *call) closeTunnel()            {}
func (c *call) pause()                  {}
func (c *call) resume()                 {}
func (c *call) hold()                   {}
func (c *call) overHigh() bool          { return false }
