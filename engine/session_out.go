package engine

import (
	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/codec/http1"
)

var crlf = []byte("\r\n")

// sendInterim implements downstream. HTTP/1.0 knows no 1xx (RFC 9110 §15.2).
func (s *Session) sendInterim(h *codec.Head) {
	if s.x.req.Minor() == 0 || s.conn.OverHigh() && h.Status() != 100 {
		return // nobody has to get a hint, least of all who does not read
	}
	goesOn := s.expected && h.Status() == 100
	s.expected = s.expected && !goesOn
	s.conn.Commit(http1.AppendResponse(s.conn.Stage(), h, http1.ResponseOptions{NoFraming: true}))
	s.conn.Flush()
	if goesOn && s.state == readingBody {
		s.armReadIdle()
	}
}

// sendHead implements downstream. It decides how the body is delimited: an
// HTTP/1.0 client understands neither chunks nor a connection that stays open
// behind a body of unknown length.
func (s *Session) sendHead(h *codec.Head) {
	minor := s.x.req.Minor()
	status := h.Status()
	s.bodyless = s.x.req.MethodID() == codec.HEAD || status == 204 || status == 304 || status < 200
	if h.Framing() == codec.FramingClose {
		h.SetFraming(codec.FramingChunked, -1)
	}
	s.chunked = !s.bodyless && h.Framing() == codec.FramingChunked
	if s.chunked && minor == 0 {
		s.chunked = false
		s.keep = false
		h.SetFraming(codec.FramingClose, -1)
	}
	if s.state == readingBody && !s.mayDiscard() {
		// The answer came before the end of the request: the client may give up
		// sending, and then nobody knows where the next request would begin.
		s.keep = false
	}
	s.keep = s.keep && !s.w.draining
	s.conn.Commit(http1.AppendResponse(s.conn.Stage(), h, http1.ResponseOptions{
		Close: !s.keep && status != 101, KeepAlive10: s.keep && minor == 0, NoFraming: s.bodyless,
	}))
}

// sendData implements downstream.
func (s *Session) sendData(b []byte) {
	if s.bodyless || len(b) == 0 {
		return
	}
	if !s.chunked {
		s.conn.Write(b)
		return
	}
	s.conn.Commit(http1.AppendChunk(s.conn.Stage(), len(b)))
	s.conn.Write(b)
	s.conn.Commit(append(s.conn.Stage(), crlf...))
}

// sendEnd implements downstream.
func (s *Session) sendEnd(trailers *codec.Head) {
	if s.chunked {
		s.conn.Commit(http1.AppendLastChunk(s.conn.Stage(), trailers))
	}
}

// cut implements downstream: what was promised cannot be kept. A closed
// connection says so where a length or chunks were promised; a body that is
// delimited by the close itself needs a reset.
func (s *Session) cut() {
	s.keep = false
	if !s.chunked && s.x.resp.Framing() == codec.FramingClose || s.state == tunnelling {
		s.leave()
		s.conn.Abort()
		return
	}
	s.linger()
}

// done implements downstream: the exchange is over and recycled. An answer to the
// last piece of a body of known length leaves nothing of it to read.
func (s *Session) done() {
	unread := s.state == readingBody && !s.body.Done()
	s.x = nil
	switch {
	case s.state == closed:
	case unread && s.mayDiscard():
		s.state = discarding
		s.discarded = 0
		s.arm(clockDiscard, s.w.loop.Now()+lingerTime, true)
		s.conn.Resume()
	case unread:
		s.linger()
	case !s.keep:
		s.finishClose()
	default:
		s.nextRequest()
	}
}

// mayDiscard says whether the rest of the body is known to be short, so that
// reading it is cheaper than closing. A client that waits for 100 may never send
// it.
func (s *Session) mayDiscard() bool {
	left := s.body.Remaining()
	return s.keep && left >= 0 && left <= maxDiscard && !s.expected
}

// nextRequest waits for the next request, which may have been sent already.
func (s *Session) nextRequest() {
	s.state = readingHead
	s.head.Reset()
	s.conn.SetReadSize(headReadSize)
	if s.w.draining {
		s.linger()
		return
	}
	s.arm(clockKeepalive, s.w.loop.Now()+s.lis.Keepalive.Nanoseconds(), s.lis.Keepalive > 0)
	s.conn.Resume()
}

// startTunnel implements downstream.
func (s *Session) startTunnel() {
	s.state = tunnelling
	s.bodyless, s.chunked = false, false
	s.w.loop.Disarm(&s.clock)
	s.conn.SetReadSize(bodyReadSize)
	s.conn.Resume()
}

// closeWrite implements downstream.
func (s *Session) closeWrite() { s.conn.CloseWrite() }

// closeTunnel implements downstream.
func (s *Session) closeTunnel() { s.close() }

// pause implements downstream; a paused client's clock stops.
func (s *Session) pause() {
	s.conn.Pause()
	s.stopReadClocks()
}

// resume implements downstream. A client that waits for 100 is not late.
func (s *Session) resume() {
	if s.state == readingBody && !s.expected {
		s.armReadIdle()
	}
	s.conn.Resume()
}

// hold implements downstream.
func (s *Session) hold() {
	if s.state == readingBody {
		s.stopReadClocks()
	}
}

// overHigh implements downstream.
func (s *Session) overHigh() bool { return s.conn.OverHigh() }

// finishClose closes after an answer. A client that was not expected to stop may
// be sending its next request, and a reset could overtake the answer.
func (s *Session) finishClose() {
	if s.unread || !s.last || s.conn.Kept() > 0 {
		s.linger()
		return
	}
	s.close()
}

// close closes once everything queued was sent.
func (s *Session) close() {
	s.leave()
	s.conn.Close()
	s.dropIdle()
}

// linger closes for writing, reads on for a while and then closes.
func (s *Session) linger() {
	s.leave()
	s.conn.Linger(lingerTime)
}

// leave takes the session out of the worker's book.
func (s *Session) leave() {
	if s.state == closed {
		return
	}
	s.state = closed
	s.w.loop.Forget(&s.clock) // the wheel must not keep what has ended
	if s.rate != nil {
		s.w.loop.Forget(&s.rate.clock)
	}
	s.told.release(s.w.loop.Memory())
	s.w.removeClient(&s.node)
}

// dropIdle gives back the exchange of a head that never became whole.
func (s *Session) dropIdle() {
	s.releaseHead()
	if s.x != nil && !s.x.running() {
		s.w.giveBack(s.x)
		s.x = nil
	}
}

// drain ends an idle connection; a busy one ends with its answer.
func (s *Session) drain() {
	waiting := s.state == readingHead && !s.head.Started() || s.state == readingProxy && !s.told.begun()
	if waiting && s.conn.Kept() == 0 {
		s.linger()
		s.dropIdle()
	}
}

// cutRest implements client.
func (s *Session) cutRest() {
	if s.x != nil && s.x.running() {
		s.x.fail(faultStopping)
	}
}

// announceDrain implements client: HTTP/1.1 has only the next answer for that.
func (s *Session) announceDrain() {}

// protocol implements downstream.
func (s *Session) protocol() codec.Protocol { return nil }

// neutral implements downstream.
func (s *Session) neutral() error { return nil }
