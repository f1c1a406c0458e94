package engine

import (
	"net/netip"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/reactor"
)

// maxFreeMuxStreams bounds the streams that one loop keeps for reuse.
const maxFreeMuxStreams = 4096

// muxStream is one request of a client on a muxSession: the client's side of an
// exchange.
type muxStream struct {
	// Immutable.
	w    *worker
	turn reactor.Deferred

	// Owned by the loop; cleared by reset.
	s       *muxSession
	x       *Exchange
	id      uint64
	out     outgoing
	in      incoming      // the request's body
	direct  []byte        // the body, while it is at hand as it lies
	clock   reactor.Timer // of the body that is being received
	slow    reactor.Timer // of the answer that the client does not take
	wrong   error
	oneWay  bool
	ended   bool // the exchange was told of it
	failure bool // the answer is one of the gateway's own, and was sent
	begun   bool // the exchange runs
	life    uint32
	next    *muxStream // in a chain of the table, or in the free list
}

var _ downstream = (*muxStream)(nil)

func (w *worker) takeMuxStream(s *muxSession) *muxStream {
	st := w.muxStreams
	if st == nil {
		st = &muxStream{w: w}
		st.turn.Run = func(int64) { st.onTurn() }
		st.clock.Init(st, clockReadIdle)
		st.slow.Init(st, clockCredit)
	} else {
		w.muxStreams, st.next = st.next, nil
		w.muxStreamN--
	}
	st.s, st.x = s, w.takeExchange()
	st.out.open(&s.traits)
	st.in.open(&s.wire)
	return st
}

// giveMuxStream takes a stream back that is in no table and has no exchange.
func (w *worker) giveMuxStream(st *muxStream) {
	w.loop.Disarm(&st.clock)
	w.loop.Disarm(&st.slow)
	st.out.reset(w)
	st.in.reset(w)
	st.s, st.x, st.direct, st.wrong = nil, nil, nil, nil
	st.id = 0
	st.oneWay, st.ended, st.failure, st.begun = false, false, false, false
	st.life++
	if w.muxStreamN >= maxFreeMuxStreams {
		st.out.waiting.discard(w.loop)
		st.in.box.discard(w.loop)
		w.loop.Forget(&st.clock)
		w.loop.Forget(&st.slow)
		return
	}
	st.next, w.muxStreams = w.muxStreams, st
	w.muxStreamN++
}

// empty says that no body follows the head.
func (st *muxStream) empty() bool {
	h := &st.x.req
	return h.Framing() == codec.FramingNone || h.Framing() == codec.FramingLength && h.ContentLength() == 0
}

// begin starts the exchange of a complete head.
func (st *muxStream) begin() {
	st.enter()
	st.startIdle()
	st.x.begin(st, st.s.lis, st.s.refresh(), !st.empty())
}

// enter tells the exchange whose it is.
func (st *muxStream) enter() {
	s, x := st.s, st.x
	st.begun = true
	x.Peer, x.Scheme, x.peerText = s.told.peer(s.conn), "http", s.peerText
	x.oneWay = st.oneWay
}

// refuse answers a request that cannot be read.
func (st *muxStream) refuse(f fault) {
	st.enter()
	st.s.forget(&st.x.req)
	st.x.refused(st, st.s.lis, st.s.refresh(), f)
}

// onData takes a piece of the body.
func (st *muxStream) onData(b []byte) {
	if !st.in.spend(len(b)) {
		st.x.fail(faultOverWindow)
		return
	}
	life := st.life
	st.direct = b
	if !st.begun {
		st.begin()
		if st.life != life || st.x == nil {
			return // it was answered already
		}
	}
	if st.direct != nil {
		st.passDirect()
	} else {
		st.deliver() // it was translated
	}
	if st.life == life && st.x != nil && st.in.box.size > 0 && st.w.loop.Memory().Over() {
		st.x.fail(faultOverloaded)
	}
}

// passDirect gives the piece at hand to the exchange, or keeps a copy.
func (st *muxStream) passDirect() {
	b := st.direct
	st.direct = nil
	if st.in.box.size > 0 || !st.ready() {
		st.in.box.add(st.w.loop, b)
		return
	}
	life := st.life
	st.x.onRequestData(b)
	if st.life == life && st.x != nil {
		st.took(len(b))
	}
}

// onEnd takes the end of the request.
func (st *muxStream) onEnd() {
	st.in.whole = true
	st.w.loop.Disarm(&st.clock)
	if st.begun {
		st.deliver()
	}
}

// ready says whether the exchange takes the body now.
func (st *muxStream) ready() bool { return st.x != nil && !st.in.paused && st.x.bodyOpen }

// deliver gives on what has come, as far as the exchange takes it.
func (st *muxStream) deliver() {
	for life := st.life; st.begun && !st.ended && st.ready(); {
		if st.in.box.size == 0 {
			if st.in.whole {
				st.ended = true
				st.x.onRequestEnd()
			}
			return
		}
		b := st.in.box.front()
		st.x.onRequestData(b)
		st.w.loop.Flush()
		if st.life != life || st.x == nil {
			return
		}
		st.in.box.drop(st.w.loop, len(b))
		st.took(len(b))
	}
}

// took gives the client credit for bytes that have gone on.
func (st *muxStream) took(n int) {
	st.startIdle()
	st.in.took(&st.s.wire, st.out.id, n)
}

// startIdle starts the clock of a body that is being received.
func (st *muxStream) startIdle() {
	if idle := st.s.lis.ReadIdle.Nanoseconds(); idle > 0 && !st.in.whole && !st.empty() {
		st.w.loop.Arm(&st.clock, st.w.loop.Now()+idle)
	}
}

// OnTimer implements reactor.Alarm.
func (st *muxStream) OnTimer(kind uint8, _ int64) {
	switch {
	case kind == clockCredit:
		st.s.control(codec.Control{Kind: codec.Cancel, Role: codec.Responses, ID: st.out.id, Reason: codec.RequestTimeout, Detail: "the answer was not taken in time"})
		st.onCancel()
	case !st.in.whole && st.ready() && st.in.box.size == 0:
		st.x.fail(faultReadIdle)
	}
}

// onCancel ends the stream for a client that wants no answer any more.
func (st *muxStream) onCancel() {
	if st.x != nil {
		st.x.onClientGone(nil)
		return
	}
	st.free()
}

// waitCredit starts the clock of an answer that waits for the client's credit, or
// stops it.
func (st *muxStream) waitCredit() {
	if idle := st.s.lis.WriteIdle.Nanoseconds(); idle > 0 && st.out.waiting.size > 0 {
		st.w.loop.Arm(&st.slow, st.w.loop.Now()+idle)
	} else {
		st.w.loop.Disarm(&st.slow)
	}
}

// onTurn does what could not be done inside a call of the exchange.
func (st *muxStream) onTurn() {
	switch {
	case st.x == nil || !st.begun:
	case st.wrong != nil:
		st.breakOff()
	default:
		st.deliver()
	}
}

// breakOff ends an answer that could not be said in the client's protocol.
func (st *muxStream) breakOff() {
	reason, _ := detailOf(st.wrong)
	if reason == codec.Overloaded {
		st.x.fail(faultOverloaded)
		return
	}
	st.x.fail(fault{reason, fromUpstream, faultFinal, "the answer cannot be said in the client's protocol"})
}

// done implements downstream: the exchange is over and recycled. What of the
// answer waits for credit is still sent.
func (st *muxStream) done() {
	st.s.forget(&st.x.req, &st.x.reqTrailers)
	st.x = nil
	if st.out.ended && !st.out.over && !st.silent() && st.s.state != muxClosed {
		return
	}
	st.free()
}

// free ends the stream.
func (st *muxStream) free() {
	s := st.s
	s.table.free(st)
	if s.reading == st {
		s.reading = nil
	}
	st.w.giveMuxStream(st)
	s.onFree()
}

// abandon ends the stream because its client has gone.
func (st *muxStream) abandon(err error) {
	switch {
	case st.x == nil:
	case st.x.running():
		st.x.onClientGone(err)
		return
	default:
		st.s.forget(&st.x.req)
		st.w.giveBack(st.x) // its head never became whole
		st.x = nil
	}
	st.free()
}

// sendHead implements downstream.
func (st *muxStream) sendHead(h *codec.Head) {
	s, x := st.s, st.x
	if st.oneWay {
		return
	}
	if x.local {
		if reply, _ := x.Context.Reply(); reply.Explained() {
			st.sendFailure(reply.Status, reply.Reason, reply.Message)
			return
		}
	}
	o := &st.out
	o.request, o.native = &x.req, !x.local && x.proto == s.protocol
	if x.noBody {
		h.SetFraming(codec.FramingNone, -1)
	}
	st.note(o.start(&s.wire, h))
}

// sendFailure says what went wrong, in the client's protocol.
func (st *muxStream) sendFailure(status int, reason codec.Reason, message string) {
	st.failure = true
	f := codec.Failure{ID: st.out.id, Status: status, Reason: reason, TraceID: st.x.TraceID[:], Request: &st.x.req}
	if !st.s.fail(f, message) {
		st.s.wordless = true // only the end of the connection says it
	}
}

// silent says that nothing more of the answer is sent.
func (st *muxStream) silent() bool { return st.oneWay || st.failure || st.wrong != nil }

// sendData implements downstream.
func (st *muxStream) sendData(b []byte) {
	if len(b) > 0 && !st.silent() {
		if st.s.conn.OverHigh() && st.w.loop.Memory().Over() {
			st.note(errNoMemory) // thousands of streams would each add to what nobody reads
			return
		}
		st.note(st.out.add(&st.s.wire, b))
		if st.out.waiting.size > 0 && !st.slow.Armed() && st.s.traits.Splits {
			st.waitCredit()
		}
	}
}

// sendEnd implements downstream.
func (st *muxStream) sendEnd(trailers *codec.Head) {
	switch {
	case st.wrong != nil:
		st.cut()
		return
	case st.silent():
		return
	}
	if st.out.waiting.size > 0 && st.s.traits.Splits {
		trailers = keptTrailers(trailers) // the exchange's end with it
	}
	if err := st.out.end(&st.s.wire, trailers); err != nil {
		st.wrong = err
		st.cut()
	}
}

// note keeps what is wrong with the answer for the stream's turn: the exchange is
// in the middle of handing over.
func (st *muxStream) note(err error) {
	if err != nil {
		st.wrong = err
		st.w.loop.Defer(&st.turn)
	}
}

// cut implements downstream. Where nothing of the answer has left the gateway the
// client gets another; else it is told that no more of this one comes.
func (st *muxStream) cut() {
	x := st.x
	if st.oneWay || st.failure {
		return
	}
	if st.out.head != nil {
		reason := x.Reason
		if reason == codec.ReasonNone {
			reason = codec.UpstreamBadResponse
		}
		message := "the answer broke off"
		if st.wrong != nil {
			_, message = detailOf(st.wrong)
		}
		st.sendFailure(reason.Status(), reason, message)
		return
	}
	if !st.out.over {
		st.s.control(codec.Control{Kind: codec.Cancel, Role: codec.Responses, ID: st.out.id, Reason: x.Reason, Detail: "the answer broke off"})
	}
}

// pause implements downstream.
func (st *muxStream) pause() {
	st.in.paused = true
	st.w.loop.Disarm(&st.clock)
}

// resume implements downstream. What has come is given on in the stream's turn.
func (st *muxStream) resume() {
	st.in.paused = false
	st.startIdle()
	if st.in.box.size > 0 || st.in.whole && !st.ended {
		st.w.loop.Defer(&st.turn)
	}
}

// hold implements downstream.
func (st *muxStream) hold() { st.w.loop.Disarm(&st.clock) }

// overHigh implements downstream.
func (st *muxStream) overHigh() bool { return st.out.overHigh(&st.s.wire) }

// onDrain is told when the connection has room again.
func (st *muxStream) onDrain() {
	switch {
	case st.x == nil || !st.out.blocked:
	case st.out.waiting.size == 0:
		st.out.blocked = false
		st.x.onDownstreamDrain()
	default:
		st.s.blocked++ // the credit may come when the connection is full again
	}
}

// onCredit takes the client's credit.
func (st *muxStream) onCredit(n int) {
	feed, err := st.out.credit(&st.s.wire, n)
	st.waitCredit()
	switch {
	case st.x == nil:
		if err != nil || st.out.over {
			st.free()
		}
	case err != nil:
		st.note(err)
	case feed:
		st.x.onDownstreamDrain()
	}
}

// keptTrailers is a copy of trailers; nil if there are none.
func keptTrailers(trailers *codec.Head) *codec.Head {
	if trailers == nil || trailers.Len() == 0 {
		return nil
	}
	h := new(codec.Head)
	h.Reset()
	for i := range trailers.Len() {
		if !trailers.Removed(i) {
			h.Add(trailers.Name(i), trailers.Value(i))
		}
	}
	return h
}

// localEnd implements downstream.
func (st *muxStream) localEnd() netip.AddrPort { return st.s.told.localEnd(st.s.conn) }

// protocol implements downstream.
func (st *muxStream) protocol() codec.Protocol { return st.s.protocol }

// neutral implements downstream.
func (st *muxStream) neutral() error {
	t, translates := st.s.protocol.(codec.Translator)
	if !translates {
		return nil
	}
	body := st.direct
	if body == nil {
		body = st.in.box.join(nil)
	}
	out, err := t.Neutral(nil, codec.Requests, &st.x.req, body)
	if err != nil {
		return err
	}
	st.in.box.release(st.w.loop)
	st.direct = nil
	st.x.req.SetFraming(codec.FramingLength, int64(len(out)))
	st.in.box.add(st.w.loop, out)
	if len(out) > 0 {
		st.x.requestDone = false // a request without a body may have one in other words
	}
	return nil
}

// What follows implements the rest of downstream: there are neither interim heads
// nor tunnels.

func (st *muxStream) sendInterim(*codec.Head) {}
func (st *muxStream) startTunnel()            {}
func (st *muxStream) closeWrite()             {}
func (st *muxStream) closeTunnel()            {}
