package engine

import (
	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/reactor"
)

// maxFreeLinkStreams bounds the streams that one loop keeps for reuse.
const maxFreeLinkStreams = 4096

// streamPhase is how far the answer on a linkStream is.
type streamPhase uint8

const (
	// streamWaits: the link is not open, or full of bytes; nothing was sent.
	streamWaits streamPhase = iota
	// streamAsked: the request is out or on its way; no answer has begun.
	streamAsked
	// streamHeads: the head of the answer is being read.
	streamHeads
	// streamAnswers: the head was handed over.
	streamAnswers
)

// linkStream is the endpoint's side of one try on a link. Where the link carries
// one exchange at a time it is the connection that the pool lends.
type linkStream struct {
	// Immutable.
	w    *worker
	turn reactor.Deferred

	// Owned by the loop; cleared by reset.
	l       *link
	t       *try
	slot    int
	phase   streamPhase
	out     outgoing
	in      incoming // the answer's body
	sentAt  uint64   // where the request begins in the connection's output
	wrong   error    // what the request could not be said for; told in the stream's turn
	foreign bool     // the client speaks another protocol
	refused bool     // the peer says that it has not looked at the request
	counted bool     // among those that wait for a place of the service
	tell    bool     // the try wants to know when its request is out
	life    uint32   // counts the tries that have used the stream
	next    *linkStream
	prev    *linkStream
}

var _ upstream = (*linkStream)(nil)

func (w *worker) takeLinkStream(l *link, t *try) *linkStream {
	s := w.linkStreams
	if s == nil {
		s = &linkStream{w: w}
		s.turn.Run = func(int64) { s.onTurn() }
	} else {
		w.linkStreams, s.next = s.next, nil
		w.linkStreamN--
	}
	s.l, s.t = l, t
	s.foreign = t.x.down.protocol() != l.protocol
	return s
}

// giveLinkStream takes a stream back that is in no table and no queue.
func (w *worker) giveLinkStream(s *linkStream) {
	s.out.reset(w)
	s.in.reset(w)
	s.l, s.t = nil, nil
	s.life++
	s.slot, s.phase, s.sentAt, s.wrong = 0, streamWaits, 0, nil
	s.foreign, s.refused, s.tell = false, false, false
	if w.linkStreamN >= maxFreeLinkStreams {
		s.out.waiting.discard(w.loop)
		s.in.box.discard(w.loop)
		return
	}
	s.next, w.linkStreams = w.linkStreams, s
	w.linkStreamN++
}

// start gives the stream its id and lets the try send.
func (s *linkStream) start() {
	s.prepare()
	s.t.use(s)
}

// prepare makes the stream one of an open link.
func (s *linkStream) prepare() {
	l := s.l
	l.table.add(s)
	s.out.open(&l.traits)
	s.phase = streamAsked
	s.in.open(&l.wire)
	l.svc, l.dirty = s.t.x.svc, false
	l.w.loop.Disarm(&l.clock)
}

// sendHead implements upstream.
func (s *linkStream) sendHead(h *codec.Head) {
	l, x := s.l, s.t.x
	s.sentAt = l.position()
	o := &s.out
	o.request, o.native, o.oneWay = h, !s.foreign, x.oneWay
	o.timeout = x.timeLeft()
	s.note(o.start(&l.wire, h))
}

// sendData implements upstream.
func (s *linkStream) sendData(b []byte) {
	if len(b) > 0 && s.wrong == nil {
		s.note(s.out.add(&s.l.wire, b))
	}
}

// sendEnd implements upstream. What wants no answer has one as soon as it was
// sent.
func (s *linkStream) sendEnd(trailers *codec.Head) {
	if s.wrong == nil {
		s.note(s.out.end(&s.l.wire, trailers))
	}
	if s.out.oneWay && s.wrong == nil {
		s.w.loop.Defer(&s.turn)
	}
}

// note keeps what is wrong with the request for the stream's turn: the exchange is
// in the middle of sending.
func (s *linkStream) note(err error) {
	if err != nil {
		s.wrong = err
		s.w.loop.Defer(&s.turn)
	}
}

// onTurn does what could not be done inside a call of the exchange.
func (s *linkStream) onTurn() {
	switch {
	case s.t == nil:
	case s.wrong != nil:
		s.t.failed(faultOf(s.wrong))
	case s.out.oneWay && s.out.over && s.phase == streamAsked:
		s.accept()
	default:
		s.deliver()
	}
}

// accept answers a request that wants no answer.
func (s *linkStream) accept() {
	h := s.t.head
	h.Reset()
	h.SetStatus(202)
	h.SetFraming(codec.FramingLength, 0)
	s.in.whole = true
	s.handOver()
}

// handOver gives the head of the answer to the try, and what of the answer has
// come already.
func (s *linkStream) handOver() {
	s.phase = streamAnswers
	s.l.served = true
	life := s.life
	s.t.onResponseHead()
	if s.life == life {
		s.deliver()
	}
}

// ready says whether the exchange takes the answer's body now.
func (s *linkStream) ready() bool {
	return s.phase == streamAnswers && !s.in.paused && s.t.x.respOpen && s.t == s.t.x.lead
}

// receive takes a piece of the answer's body.
func (s *linkStream) receive(b []byte) {
	switch {
	case !s.in.spend(len(b)):
		s.t.failed(faultBadResponse) // it was told how much it may send
	case s.in.box.size == 0 && s.ready():
		life := s.life
		s.t.x.onResponseData(b)
		if s.life == life {
			s.in.took(&s.l.wire, s.out.id, len(b))
		}
	case !s.in.keep(&s.l.wire, b):
		s.t.failed(faultOverloaded)
	}
}

// deliver gives on what has come, as far as the exchange takes it.
func (s *linkStream) deliver() {
	for life := s.life; s.ready(); {
		if s.in.box.size == 0 {
			if s.in.whole {
				s.finish()
			}
			return
		}
		b := s.in.box.front()
		s.t.x.onResponseData(b)
		s.w.loop.Flush()
		if s.life != life {
			return
		}
		s.in.box.drop(s.w.loop, len(b))
		s.in.took(&s.l.wire, s.out.id, len(b))
	}
}

// finish ends an answer that came whole. A request that is still being sent is not
// wanted any more.
func (s *linkStream) finish() {
	x := s.t.x
	if !s.out.over {
		s.l.control(codec.Control{Kind: codec.Cancel, Role: codec.Requests, ID: s.out.id})
	}
	x.lead.up = nil // the stream may be another's when leave returns
	s.leave(s.out.over)
	x.onResponseEnd(&x.trailers)
}

// leave takes the stream off its link. clean says that the link can carry
// another exchange.
func (s *linkStream) leave(clean bool) {
	l, waited := s.l, s.phase == streamWaits
	if waited {
		l.unqueue(s)
	} else {
		l.table.free(s)
	}
	if l.reading == s {
		l.reading = nil
	}
	l.forget(s.t.head, &s.t.x.trailers)
	s.w.giveLinkStream(s)
	switch {
	case l.state == linkDead:
	case !l.shares() && !clean:
		l.breakDown(faultUpstreamReset, faultUpstreamReset)
	case !l.shares():
		l.giveBack()
	default:
		l.makeRoom()
		if l.state == linkOpen && !waited {
			l.relieve()
		}
		l.rest()
	}
}

// lose tells the try that its link has broken.
func (s *linkStream) lose(f fault) { s.t.failed(f) }

// cancel implements upstream.
func (s *linkStream) cancel() {
	if s.l.state == linkOpen || s.l.state == linkLeaving {
		if s.phase != streamWaits && (s.out.over || s.out.head == nil) && !s.in.whole && !s.refused {
			s.l.control(codec.Control{Kind: codec.Cancel, Role: codec.Requests, ID: s.out.id})
		}
	}
	s.leave(false)
}

// tellSent implements upstream.
func (s *linkStream) tellSent() bool {
	if s.out.waiting.size == 0 && !s.l.conn.Stalled() {
		return false
	}
	s.tell = true
	s.l.blocked++
	s.l.conn.NotifyEmpty()
	return true
}

// onDrain is told when the connection has room again.
func (s *linkStream) onDrain() {
	life := s.life
	if s.tell && s.out.over && !s.l.conn.Stalled() {
		s.tell = false
		s.t.onSent()
	} else if s.tell {
		s.l.blocked++
	}
	switch {
	case s.life != life || !s.out.blocked:
	case s.out.waiting.size == 0:
		s.goOn()
	default:
		s.l.blocked++ // the credit may come when the connection is full again
	}
}

// onCredit takes the peer's credit.
func (s *linkStream) onCredit(n int) {
	feed, err := s.out.credit(&s.l.wire, n)
	life := s.life
	switch {
	case err != nil:
		s.t.failed(faultOf(err))
		return
	case s.out.oneWay && s.out.over:
		s.w.loop.Defer(&s.turn)
	case s.tell && s.out.over:
		s.tell = false
		s.t.onSent()
	}
	if feed && s.life == life {
		s.goOn()
	}
}

// goOn lets the exchange send more.
func (s *linkStream) goOn() {
	life := s.life
	s.out.blocked = false
	s.t.x.onUpstreamDrain()
	if s.life == life {
		s.t.feed()
	}
}

// overHigh implements upstream.
func (s *linkStream) overHigh() bool { return s.out.overHigh(&s.l.wire) }

// pause implements upstream.
func (s *linkStream) pause() { s.in.paused = true }

// resume implements upstream. What has come is given on in the stream's turn.
func (s *linkStream) resume() {
	s.in.paused = false
	if s.in.box.size > 0 || s.in.whole {
		s.w.loop.Defer(&s.turn)
	}
}

// reused implements upstream.
func (s *linkStream) reused() bool {
	return s.l.served && (s.phase == streamWaits || s.phase == streamAsked)
}

// untouched implements upstream.
func (s *linkStream) untouched() bool {
	return s.phase == streamWaits || s.refused || s.out.head != nil || s.l.conn.BytesOut() <= s.sentAt
}

// mayLose implements upstream. The endpoint may go away before it has looked at
// the request.
func (s *linkStream) mayLose() bool { return s.phase <= streamAsked }

// What follows implements the rest of upstream. There are no tunnels: an answer
// of 101 is refused, since nobody asked for it.

func (s *linkStream) startTunnel() {}
func (s *linkStream) closeWrite()  {}
func (s *linkStream) closeTunnel() {}
