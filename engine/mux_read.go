package engine

import (
	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/reactor"
)

// OnData implements reactor.Handler. Only what cannot be looked at now is left
// with the connection: requests of a client that does not read its answers, and
// those behind one that is not answered where there is one at a time.
func (s *muxSession) OnData(_ *reactor.Conn, b []byte) int {
	n := s.read(b)
	if s.count() && s.gathered > reactor.BlockSize && s.w.loop.Memory().Over() {
		s.w.stats.StreamsRefused++
		s.w.tellOf(s.listener, s.conn.Remote(), errGathered)
		s.sayGo(codec.Overloaded, faultOverloaded.message)
		s.endReading(faultOverloaded)
	}
	return n
}

func (s *muxSession) read(b []byte) int {
	n := 0
	for s.state == muxProxy {
		if n += s.readProxy(b[n:]); n == len(b) {
			return n
		}
	}
	for s.state == muxOpen {
		// With bytes left there will be another call; without, the decoder may still
		// hand out parts of what it has taken.
		if n < len(b) && (s.conn.OverHigh() || !s.shares() && s.busy()) {
			return n
		}
		used, err := s.in.Next(b[n:], &s.event)
		n += used
		if err != nil {
			s.malformed(err)
			break
		}
		if s.event.Kind == codec.NeedMore {
			break
		}
		s.take(&s.event)
		s.sendHeld(b)
	}
	return len(b)
}

// busy says that a request is whole and not answered.
func (s *muxSession) busy() bool {
	st := s.table.find(0)
	return st != nil && st.in.whole
}

// readProxy takes the PROXY header.
func (s *muxSession) readProxy(b []byte) int {
	n, whole, err := s.told.read(s.w.loop.Memory(), b)
	switch {
	case err != nil:
		s.w.refuseProxy(s.listener, s.conn, err)
		s.close()
	case whole:
		s.peerText = s.told.peer(s.conn).Addr().AppendTo(nil)
		s.state = muxOpen
	}
	return n
}

// malformed ends a connection whose bytes make no sense any more. Who is known to
// have sent them is told, in words of the protocol; what was asked for before is
// answered.
func (s *muxSession) malformed(err error) {
	s.w.breaks(s.listener, s.conn.Remote(), err)
	reason, detail := detailOf(err)
	s.sayGo(reason, detail)
	s.endReading(faultOf(err))
}

// take acts on an event.
func (s *muxSession) take(e *codec.Event) {
	switch e.Kind {
	case codec.MessageBegin:
		s.onBegin(e)
	case codec.MessageHead:
		s.onHead()
	case codec.MessageData:
		if st := s.receiving(e.ID); st != nil && st.x != nil {
			st.onData(e.Data)
		}
	case codec.MessageTrailers:
		e.Head = nil
		if st := s.receiving(e.ID); st != nil && st.x != nil && st.begun {
			e.Head = &st.x.reqTrailers
			e.Head.Reset()
		}
	case codec.MessageEnd:
		if st := s.receiving(e.ID); st != nil {
			st.onEnd()
		}
	case codec.HeartbeatEvent:
		s.control(codec.Control{Kind: codec.HeartbeatReply, Role: codec.Requests, ID: e.ID})
	case codec.GoAwayEvent:
		s.goes = true
		s.rest()
	case codec.CancelEvent:
		if st := s.table.find(e.ID); st != nil && st != s.reading {
			st.onCancel()
		}
	case codec.CreditEvent:
		if st := s.table.find(e.ID); st != nil {
			st.onCredit(e.Amount)
		}
	}
}

// receiving is the stream with the id, if its request is not whole. What comes
// behind a request's end is no part of it, and nobody's.
func (s *muxSession) receiving(id uint64) *muxStream {
	if st := s.table.find(id); st != nil && !st.in.whole {
		return st
	}
	return nil
}

// onBegin makes a stream for a request, unless there are too many.
func (s *muxSession) onBegin(e *codec.Event) {
	e.Head = nil
	id := e.ID
	if !s.shares() {
		id = 0
	}
	switch {
	case s.table.find(id) != nil:
		s.malformed(errDuplicateID)
		return
	case s.table.live >= maxStreams:
		s.refuse(e, codec.Overloaded, "too many requests of this connection are under way")
		return
	case s.goes && s.w.draining:
		s.refuse(e, codec.Draining, "the gateway ends")
		return
	}
	st := s.w.takeMuxStream(s)
	st.id, st.out.id, st.oneWay = id, e.ID, e.OneWay
	s.table.add(st)
	s.lastID = max(s.lastID, id)
	s.reading = st
	e.Head = &st.x.req
	if !s.clock.Armed() || s.clock.Kind() != clockHead || s.messages > 0 {
		s.arm(clockHead, s.w.loop.Now()+s.lis.Head.Nanoseconds(), s.lis.Head > 0)
	}
}

// refuse answers a request that is not looked at.
func (s *muxSession) refuse(e *codec.Event, reason codec.Reason, message string) {
	s.w.stats.StreamsRefused++
	if e.OneWay {
		return
	}
	if !s.fail(codec.Failure{ID: e.ID, Status: reason.Status(), Reason: reason}, message) {
		s.endReading(faultOverloaded) // the protocol has no words for it
	}
}

// onHead begins the exchange of a request. Where a message is one frame its body
// follows at once, and begins with it.
func (s *muxSession) onHead() {
	st := s.reading
	if st == nil {
		return
	}
	s.reading = nil
	s.messages++
	s.w.loop.Disarm(&s.clock)
	if e := s.event.Refused; e != nil {
		st.refuse(faultOf(e))
		return
	}
	if s.traits.Splits || st.empty() {
		st.begin()
	}
	if n := s.lis.KeepaliveRequests; n > 0 && s.messages >= n && s.state == muxOpen {
		s.sayGo(codec.ReasonNone, "the connection has carried its share")
	}
}
