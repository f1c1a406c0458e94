package engine

import (
	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/reactor"
)

// OnData implements reactor.Handler: it takes everything, since the decoder keeps
// what is not complete.
func (l *link) OnData(_ *reactor.Conn, b []byte) int {
	for n := 0; l.state != linkDead; {
		if !l.shares() && !l.expects() {
			if n < len(b) {
				l.misses()
			}
			break
		}
		used, err := l.in.Next(b[n:], &l.event)
		n += used
		if err != nil {
			l.malformed(err)
			break
		}
		if l.event.Kind == codec.NeedMore {
			break
		}
		l.dirty = !l.shares() && l.event.Kind == codec.MessageEnd && n < len(b)
		l.take(&l.event)
		l.sendHeld(b)
	}
	l.count()
	return len(b)
}

// expects says whether bytes may come on a link without ids: an exchange is on it
// whose answer is not whole. Anything else would be read as the next one's.
func (l *link) expects() bool {
	s := l.table.find(0)
	return s != nil && !s.in.whole && !s.untouched()
}

// misses ends a link without ids on which bytes came that nobody has asked for.
func (l *link) misses() {
	if s := l.table.find(0); s != nil && s.in.whole {
		l.dirty = true // the answer is good, the connection is not
		return
	}
	l.breakDown(faultUpstreamReset, faultUpstreamReset)
}

// malformed ends a link whose bytes make no sense any more.
func (l *link) malformed(err error) {
	l.w.breaks(l.ep.Address(), l.conn.Remote(), err)
	reason, detail := detailOf(err)
	l.control(codec.Control{Kind: codec.GoAway, Role: codec.Responses, Reason: reason, Detail: detail})
	l.conn.Flush()
	rest := faultUpstreamReset
	if !l.shares() {
		rest = faultBadResponse
	}
	l.breakDown(faultBadResponse, rest)
}

// take acts on an event.
func (l *link) take(e *codec.Event) {
	switch e.Kind {
	case codec.MessageBegin:
		l.onBegin(e)
	case codec.MessageHead:
		if s := l.reading; s != nil {
			l.reading = nil
			s.onHead()
		}
	case codec.MessageTrailers:
		e.Head = nil
		if s := l.answering(e.ID); s != nil {
			e.Head = &s.t.x.trailers
			e.Head.Reset()
		}
	case codec.MessageData:
		if s := l.answering(e.ID); s != nil {
			s.onData(e.Data)
		}
	case codec.MessageEnd:
		if s := l.answering(e.ID); s != nil {
			s.onEnd()
		}
	default:
		l.takeControl(e)
	}
}

// answering is the stream with the id, if an answer to it has begun and is not
// whole. What comes in front of an answer or behind its end is no part of it.
func (l *link) answering(id uint64) *linkStream {
	if s := l.table.find(id); s != nil && s.phase >= streamHeads && !s.in.whole {
		return s
	}
	return nil
}

// onBegin finds the exchange that an answer belongs to; late ones have none.
func (l *link) onBegin(e *codec.Event) {
	e.Head, l.reading = nil, nil
	s := l.table.find(e.ID)
	switch {
	case s == nil, s.in.whole:
		l.w.stats.LateReplies++
		return
	case s.phase != streamAsked || s.out.oneWay:
		s.t.failed(faultBadResponse) // a second answer
		return
	}
	s.phase = streamHeads
	l.reading = s
	e.Head = s.t.head
	e.Head.Reset()
}

// takeControl acts on what concerns the connection.
func (l *link) takeControl(e *codec.Event) {
	switch e.Kind {
	case codec.HeartbeatEvent:
		if l.conn.OverHigh() {
			return // who does not read needs no answer, and could ask without end
		}
		l.control(codec.Control{Kind: codec.HeartbeatReply, Role: codec.Responses, ID: e.ID})
	case codec.GoAwayEvent:
		l.onGoAway(e.ID)
	case codec.CancelEvent:
		if s := l.table.find(e.ID); s != nil {
			s.in.whole = true // there is nothing left to cancel
			s.t.failed(faultUpstreamReset)
		}
	case codec.CreditEvent:
		if s := l.table.find(e.ID); s != nil {
			s.onCredit(e.Amount)
		}
	}
}

// onGoAway takes no new streams and repeats elsewhere what the peer has not
// looked at.
func (l *link) onGoAway(last uint64) {
	l.w.stats.GoAways++
	if l.state == linkOpen {
		l.state = linkLeaving
		l.w.loop.Disarm(&l.clock)
	}
	l.table.each(func(s *linkStream) {
		if s.out.id > last && s.phase == streamAsked && l.shares() {
			s.refused = true
			s.t.failed(faultGoingAway)
		}
	})
	for s := l.first; s != nil; s = l.first {
		s.t.failed(faultGoingAway)
	}
	l.rest()
}

// onHead takes the complete head of the answer. What the client's protocol cannot
// carry is translated first, for which the body is needed.
func (s *linkStream) onHead() {
	h := s.t.head
	if e := s.l.event.Refused; e != nil {
		s.w.breaks(s.l.ep.Address(), s.l.conn.Remote(), e)
		s.t.failed(faultBadResponse)
		return
	}
	if h.Status() < 200 {
		s.t.failed(faultBadResponse)
		return
	}
	if _, translates := s.l.protocol.(codec.Translator); translates && s.foreign {
		return
	}
	s.handOver()
}

// onData takes a piece of the answer's body.
func (s *linkStream) onData(b []byte) {
	if s.phase == streamHeads {
		s.translate(b)
		return
	}
	s.receive(b)
}

// onEnd takes the end of the answer.
func (s *linkStream) onEnd() {
	life := s.life
	if s.phase == streamHeads {
		s.translate(nil)
	}
	if s.life == life {
		s.in.whole = true
		s.deliver()
	}
}

// translate turns an answer, which is whole in b, into one for any protocol.
func (s *linkStream) translate(b []byte) {
	t, w := s.l.protocol.(codec.Translator), s.w
	out, err := t.Neutral(w.translated[:0], codec.Responses, s.t.head, b)
	if err != nil {
		w.breaks(s.l.ep.Address(), s.l.conn.Remote(), err)
		s.t.failed(faultBadResponse)
		return
	}
	w.translated = nil // what comes of it must not write over it
	s.t.head.SetFraming(codec.FramingLength, int64(len(out)))
	life := s.life
	s.handOver()
	if s.life == life && len(out) > 0 {
		s.receive(out)
		w.loop.Flush()
	}
	if cap(out) <= keptJoin {
		w.translated = out
	}
}
