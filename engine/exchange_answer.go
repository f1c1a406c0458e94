package engine

import (
	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
)

// answer sends the local answer prepared in the context, through the response
// phases of the filters that the request reached.
func (x *Exchange) answer() {
	x.buildReply()
	x.setState(stateAnswering)
	x.startResponseFilters()
}

// answerInstead sends the answer prepared in the context in place of whatever the
// exchange was about to do, or waits for.
func (x *Exchange) answerInstead() {
	if x.waiting {
		x.Context.ExpireWait() // a Resume that has won finds nobody waiting
		x.waiting = false
	}
	if x.state != stateAnswering {
		x.answer()
		return
	}
	// A response filter was waiting: it has seen its head and sees no other.
	x.narrow(x.waitAt)
	x.buildReply()
	x.runResponseFilters(x.waitAt - 1)
}

// buildReply turns the context's reply into a response head. The body is
// written when the head is sent.
func (x *Exchange) buildReply() {
	x.local = true
	x.respOpen = false
	reply, ok := x.Context.Reply()
	if !ok {
		x.Context.Fail(codec.InternalError, "a filter answered without an answer")
	}
	x.Reason = reply.Reason
	h := &x.resp
	h.Reset()
	h.SetStatus(reply.Status)
	n := len(reply.Body)
	if reply.Explained() {
		x.w.scratch = appendError(x.w.scratch[:0], reply.Reason, reply.Message, x.TraceID[:])
		n = len(x.w.scratch)
		h.AddString("Content-Type", "application/json")
	}
	for _, f := range reply.Fields {
		h.AddString(f.Name, f.Value)
	}
	h.SetFraming(codec.FramingLength, int64(n))
	if reply.Reason == codec.MethodNotAllowed && x.query.Allowed() {
		x.w.scratch = x.query.Allow(x.w.scratch[:0])
		h.AddKnown(codec.Allow, x.w.scratch)
	}
	x.Response = h
}

// startResponseFilters runs the response phases, innermost first.
func (x *Exchange) startResponseFilters() {
	x.stage = stageRoute
	x.bodyFrom = x.reached
	x.runResponseFilters(x.reached[stageRoute])
}

func (x *Exchange) runResponseFilters(from int) {
	x.touch()
	for {
		i, v := x.chain(x.stage).Response(&x.Context, from)
		switch v {
		case filters.Wait:
			x.suspendResponse(i)
			return
		case filters.Respond:
			x.replaceResponse(i)
			from = i - 1
			continue
		}
		if x.stage == stageListener {
			x.sendResponseHead()
			return
		}
		x.stage, from = stageListener, x.reached[stageListener]
	}
}

// suspendResponse waits in a response phase; the upstream is not read meanwhile.
func (x *Exchange) suspendResponse(at int) {
	if x.lead.up != nil {
		x.lead.up.pause()
	}
	x.suspend(at)
}

// replaceResponse drops what was to be sent for the reply of the response filter
// with that number.
func (x *Exchange) replaceResponse(at int) {
	x.dropTry(fault{})
	x.narrow(at)
	x.buildReply()
}

// sendResponseHead is the point of no return: the client gets the head.
func (x *Exchange) sendResponseHead() {
	h := &x.resp
	x.status = h.Status()
	if x.status == 101 {
		x.openTunnel()
		return
	}
	if !x.message && h.First(codec.Date) < 0 {
		h.AddKnown(codec.Date, x.w.date())
	}
	x.setState(stateResponding)
	x.frameResponse(h)
	x.down.sendHead(h)
	if x.local {
		x.sendReplyBody()
		return
	}
	x.respOpen = true
	x.armUp(clockUpstreamIdle, x.route.Timeouts.Idle.Nanoseconds())
	x.lead.up.resume()
}

// sendReplyBody sends the body of a local answer and ends the exchange.
func (x *Exchange) sendReplyBody() {
	reply, _ := x.Context.Reply()
	body := reply.Body
	if reply.Explained() {
		x.w.scratch = appendError(x.w.scratch[:0], reply.Reason, reply.Message, x.TraceID[:])
		body = x.w.scratch
	}
	out, ok := x.showResponse(body, true)
	if !ok {
		return
	}
	x.passResponse(out, moved(out, body))
	x.down.sendEnd(nil)
	x.finish()
}

// showResponse gives a piece to the filters that look at response bodies, and
// returns what they made of it. False means that one of them broke, and that the
// answer was cut.
func (x *Exchange) showResponse(b []byte, last bool) ([]byte, bool) {
	if x.noBody {
		return nil, true
	}
	for s := stageRoute; ; s-- {
		if c := x.chain(s); c.HasResponseBody() {
			x.touch()
			if c.ResponseBody(&x.Context, x.bodyFrom[s], b, last) != filters.Continue {
				x.fail(faultFilterBroke)
				return nil, false
			}
			b = x.Context.Piece()
		}
		if s == stageListener {
			return b, true
		}
	}
}

// onInterim relays a 1xx head (RFC 9110 §15.2). A client of HTTP/1.0 gets none.
// Of two tries nobody knows yet whose hints the answer will keep.
func (t *try) onInterim() {
	x, h := t.x, t.head
	if x.responded() || x.state == stateAnswering || x.rival != nil {
		return
	}
	if x.holdsBody && h.Status() == 100 {
		return // the client was told already, or did not ask
	}
	h.DropHopByHop(false)
	x.interim = true
	if x.req.Expect100() && h.Status() == 100 {
		x.w.loop.Disarm(&t.clock) // now the client has to send
	}
	x.down.sendInterim(h)
}

// onResponseHead takes the final head, which stands in the try's head.
func (t *try) onResponseHead() {
	x := t.x
	t.headAt = x.now()
	x.w.loop.Disarm(&t.clock)
	x.w.loop.Disarm(&t.limit)
	switch status := t.head.Status(); {
	case status == 101 && (!x.upgrade || t.feeds):
		t.failed(faultBadResponse)
		return
	case x.rival != nil && x.route.Retries.Statuses.Has(status):
		t.settle(outcomeOf(status))
		x.goOnWithout(t, cause(status), fault{})
		return
	case x.rival == nil && x.retryStatus(status):
		t.settle(outcomeOf(status))
		x.dropTry(fault{})
		x.again()
		return
	}
	x.answeredBy(t)
	x.held.release(x.w.loop)
	x.letGo()
	// 426 must say which protocol it wants (RFC 9110 §15.5.22).
	x.resp.DropHopByHop(x.resp.Status() == 101 || x.resp.Status() == 426)
	if x.svc.Balance.Cookie != "" {
		x.rememberEndpoint()
	}
	x.setState(stateAnswering)
	x.startResponseFilters()
}

// onResponseData relays a piece of the body.
func (x *Exchange) onResponseData(b []byte) {
	out, ok := x.showResponse(b, false)
	if !ok {
		return
	}
	x.passResponse(out, moved(out, b))
	if x.down.overHigh() {
		x.lead.up.pause()
		x.w.loop.Disarm(&x.upClock)
		return
	}
	x.armUp(clockUpstreamIdle, x.route.Timeouts.Idle.Nanoseconds())
}

// onResponseEnd ends the exchange well. The upstream stream has let go of it.
func (x *Exchange) onResponseEnd(trailers *codec.Head) {
	x.lead.settle(outcomeOf(x.status))
	x.lead.up = nil
	tail, ok := x.showResponse(nil, true)
	if !ok {
		return
	}
	x.passResponse(tail, true)
	trailers.DropNamedBy(&x.resp)
	x.down.sendEnd(trailers)
	x.finish()
}

// onDownstreamDrain continues an upstream that was paused for a slow client.
func (x *Exchange) onDownstreamDrain() {
	if x.lead.up == nil || !x.responded() {
		return
	}
	if x.state == stateResponding {
		x.armUp(clockUpstreamIdle, x.route.Timeouts.Idle.Nanoseconds())
	}
	x.lead.up.resume()
}
