package engine

import (
	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/codec/http1"
	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/engine/snapshot"
)

// sessionState is what a client's connection is reading.
type sessionState uint8

const (
	// readingHead: idle, or within a request head.
	readingHead sessionState = iota
	// readingBody: within the body of the current request.
	readingBody
	// awaiting: the request is whole, its answer is not; more bytes are kept.
	awaiting
	// discarding: the answer is out, the rest of the request's body is not.
	discarding
	// tunnelling: after a 101.
	tunnelling
	// closed: nothing is read or written any more.
	closed
	// readingProxy: within the PROXY header in front of the first request.
	readingProxy
)

// Bounds of a session.
const (
	headReadSize = 16 << 10
	bodyReadSize = reactor.ReadBuffer
	// maxDiscard is how much of an unwanted body is read to keep a connection.
	maxDiscard = 256 << 10
	// lingerTime is how long a closing connection is still read, so that the
	// client gets the answer instead of a reset (RFC 9112 §9.6).
	lingerTime = int64(5e9)
	// halfCloseGrace is how long a client that has closed its sending side is
	// believed to wait for the answer. A client that has gone altogether looks
	// the same until it is written to; other gateways give it no time at all.
	halfCloseGrace = int64(1e9)
)

// Kinds of a session's timer; only one phase runs at a time. The rate of a body
// has a timer of its own.
const (
	clockHead uint8 = iota
	clockKeepalive
	clockReadIdle
	clockDiscard
	clockHalfClose
	clockBodyRate
)

// Session speaks HTTP/1.1 with one client (RFC 9112). It makes one exchange at
// a time: what a pipelining client sends ahead stays with the connection until
// the answer before it is out.
type Session struct {
	// Immutable.
	w        *worker
	conn     *reactor.Conn
	listener string

	// Owned by the loop.
	peerText  []byte
	told      *told // by a PROXY header; nil: the listener expects none
	state     sessionState
	x         *Exchange
	snap      *snapshot.Snapshot
	lis       *snapshot.Listener
	head      http1.Decoder
	body      http1.Body
	limits    http1.Limits
	clock     reactor.Timer
	rate      *rateWatch // nil: no body had to keep a rate
	requests  int
	headHeld  int // bytes of an unfinished head, counted in the budget
	discarded int64
	keep      bool // the connection may carry another request
	chunked   bool // the answer is sent chunked
	bodyless  bool // the answer has no body
	expected  bool // the client waits for 100 before it sends the body
	last      bool // the client said that this is its last request
	unread    bool // the client may be sending what nobody will read
	node      clientNode
}

var (
	_ client     = (*Session)(nil)
	_ downstream = (*Session)(nil)
)

// newSession takes a fresh connection. Its head clock runs from accept.
func newSession(w *worker, c *reactor.Conn, listener string) *Session {
	s := &Session{w: w, conn: c, listener: listener, keep: true}
	s.peerText = c.Remote().Addr().AppendTo(nil)
	s.clock.Init(s, clockHead)
	s.refresh()
	s.expectProxy()
	c.SetReadSize(headReadSize)
	w.addClient(&s.node, s)
	s.arm(clockHead, c.Accepted()+s.lis.Head.Nanoseconds(), s.lis.Head > 0)
	return s
}

// refresh takes the listener's policy of the current generation.
func (s *Session) refresh() *snapshot.Snapshot {
	snap := s.w.server.current.Load()
	if snap == s.snap {
		return snap
	}
	s.snap = snap
	if lis := snap.Listeners[s.listener]; lis != nil && lis != s.lis {
		s.lis = lis
		s.limits = http1.Limits{RequestLine: lis.RequestLine, Headers: lis.Headers, HeaderCount: lis.HeaderCount}
		s.conn.SetWriteTimeout(lis.WriteIdle.Nanoseconds())
	}
	return snap
}

func (s *Session) arm(kind uint8, deadline int64, on bool) {
	if !on {
		s.w.loop.Disarm(&s.clock)
		return
	}
	s.clock.SetKind(kind)
	s.w.loop.Arm(&s.clock, deadline)
}

// OnData implements reactor.Handler. What it does not consume the connection
// keeps, and is not read before resume.
func (s *Session) OnData(_ *reactor.Conn, b []byte) int {
	n := 0
	for n < len(b) {
		var used int
		switch s.state {
		case readingHead:
			used = s.readHead(b[n:])
		case readingBody:
			used = s.readBody(b[n:])
		case discarding:
			used = s.discard(b[n:])
		case tunnelling:
			used = len(b) - n
			s.x.onTunnelUp(b[n:])
		case readingProxy:
			used = s.readProxy(b[n:])
		case closed:
			return len(b)
		}
		if used == 0 {
			break
		}
		n += used
	}
	return n
}

// readHead feeds the decoder and begins an exchange when a head is whole.
func (s *Session) readHead(b []byte) int {
	if s.conn.OverHigh() {
		return 0 // the client sends requests but does not read answers
	}
	x := s.x
	if x == nil {
		x = s.w.takeExchange()
		s.x = x
	}
	n, done, err := s.head.Request(&x.req, b, &s.limits)
	switch {
	case err != nil:
		s.refuse(x, faultOf(err))
		return len(b)
	case done:
		s.begin(x)
	case s.head.Started():
		s.startHeadClock()
		return s.holdHead(n)
	}
	return n
}

// holdHead counts the bytes of a head that is not whole into the budget for
// buffers; there may be as many such heads as clients.
func (s *Session) holdHead(n int) int {
	memory := s.w.loop.Memory()
	held := s.x.req.Size()
	memory.Add(int64(held - s.headHeld))
	s.headHeld = held
	if memory.Over() {
		s.refuse(s.x, faultOverloaded)
	}
	return n
}

func (s *Session) releaseHead() {
	if s.headHeld > 0 {
		s.w.loop.Memory().Add(int64(-s.headHeld))
		s.headHeld = 0
	}
}

// startHeadClock times a head that did not arrive in one piece. On a fresh
// connection the clock has run since accept.
func (s *Session) startHeadClock() {
	if s.requests == 0 && s.clock.Armed() || s.clock.Armed() && s.clock.Kind() == clockHead {
		return
	}
	s.arm(clockHead, s.w.loop.Now()+s.lis.Head.Nanoseconds(), s.lis.Head > 0)
}

// begin starts the exchange of a whole head.
func (s *Session) begin(x *Exchange) {
	snap := s.refresh()
	s.start(x)
	h := &x.req
	s.last = !h.KeepAlive()
	s.keep = !s.last && !s.w.draining &&
		(s.lis.KeepaliveRequests == 0 || s.requests < s.lis.KeepaliveRequests)
	s.state = awaiting
	s.expected = h.Expect100()
	s.w.loop.Disarm(&s.clock)
	s.body.Start(h.Framing(), h.ContentLength())
	if !s.body.Done() {
		s.state = readingBody
		if s.rate != nil || s.lis.MinBodyRate > 0 {
			s.watchRate()
		}
		s.conn.SetReadSize(bodyReadSize)
	}
	x.begin(s, s.lis, snap, !s.body.Done())
}

// start fills in what every exchange of this session has, also a refused one.
func (s *Session) start(x *Exchange) {
	s.releaseHead()
	s.requests++
	s.chunked, s.bodyless = false, false
	x.Peer, x.Scheme, x.peerText = s.peer(), "http", s.peerText
}

// refuse answers a head that cannot be served and closes.
func (s *Session) refuse(x *Exchange, f fault) {
	snap := s.refresh()
	s.start(x)
	s.keep, s.unread = false, true
	s.state = awaiting
	s.w.loop.Disarm(&s.clock)
	x.refused(s, s.lis, snap, f)
}

// armReadIdle starts the clocks of a body that is being read.
func (s *Session) armReadIdle() {
	s.arm(clockReadIdle, s.w.loop.Now()+s.lis.ReadIdle.Nanoseconds(), s.lis.ReadIdle > 0)
	if r := s.rate; r != nil && r.least > 0 {
		s.w.loop.Arm(&r.clock, r.run(s.w.loop.Now()))
	}
}

// stopReadClocks stops them: it is we who do not read.
func (s *Session) stopReadClocks() {
	s.w.loop.Disarm(&s.clock)
	if r := s.rate; r != nil && r.runs {
		r.stop(s.w.loop.Now())
		s.w.loop.Disarm(&r.clock)
	}
}

// readBody decodes body bytes while the exchange takes them.
func (s *Session) readBody(b []byte) int {
	x := s.x
	if !x.bodyOpen || s.conn.Paused() {
		s.stopReadClocks() // resume starts them again
		return 0
	}
	s.expected = false
	data, n, done, err := s.body.Next(b, &x.reqTrailers)
	if err != nil {
		s.refuseBody(faultOf(err))
		return len(b)
	}
	if len(data) > 0 {
		if s.rate != nil {
			s.rate.add(len(data))
		}
		x.onRequestData(data)
		if s.x != x || s.state != readingBody {
			return n
		}
	}
	switch {
	case done:
		s.endBody()
	case !s.conn.Paused():
		s.armReadIdle()
	}
	return n
}

// endBody hands over the end of the request.
func (s *Session) endBody() {
	s.state = awaiting
	s.stopReadClocks()
	s.conn.SetReadSize(headReadSize)
	s.x.onRequestEnd()
}

// discard reads the rest of a body that nobody wants any more, within bounds,
// so that the connection can be kept.
func (s *Session) discard(b []byte) int {
	data, n, done, err := s.body.Next(b, nil)
	s.discarded += int64(len(data))
	switch {
	case err != nil || s.discarded > maxDiscard:
		s.linger()
		return len(b)
	case done:
		s.nextRequest()
	}
	return n
}

// OnEOF implements reactor.Handler: the client sends no more, but may read.
func (s *Session) OnEOF(*reactor.Conn) {
	switch s.state {
	case readingHead:
		s.close()
	case readingBody:
		s.stopReadClocks()
		s.keep = false
		s.state = awaiting
		s.x.fail(faultCutRequest)
	case awaiting:
		s.keep = false
		s.startHalfCloseClock()
	case discarding:
		s.close()
	case tunnelling:
		s.x.onTunnelClientEOF()
	case readingProxy:
		s.endPreface()
	case closed:
	}
}

// startHalfCloseClock bounds the wait of a client that can only be heard from
// again by writing to it. Once the answer has begun, writing tells.
func (s *Session) startHalfCloseClock() {
	if !s.x.responded() {
		s.arm(clockHalfClose, s.w.loop.Now()+halfCloseGrace, true)
	}
}

// OnDrain implements reactor.Handler.
func (s *Session) OnDrain(*reactor.Conn) {
	if s.x != nil && s.state != readingHead {
		s.x.onDownstreamDrain()
		return
	}
	s.conn.Resume()
}

// OnClose implements reactor.Handler: the connection has failed.
func (s *Session) OnClose(_ *reactor.Conn, err error) {
	s.leave()
	if s.x != nil && s.x.running() {
		s.x.onClientGone(err)
	}
	s.dropIdle()
}

// OnTimer implements reactor.Alarm.
func (s *Session) OnTimer(kind uint8, _ int64) {
	switch kind {
	case clockHead:
		s.onHeadClock()
	case clockKeepalive, clockDiscard:
		s.close()
	case clockHalfClose:
		if !s.x.responded() {
			s.leave()
			s.conn.Abort()
			s.x.onClientGone(nil)
		}
	case clockReadIdle:
		s.refuseBody(faultReadIdle)
	case clockBodyRate:
		if s.state == readingBody && !s.rate.judge(s.w.loop.Now()) {
			s.refuseBody(faultSlowBody)
		} else if s.state == readingBody {
			s.w.loop.Arm(&s.rate.clock, s.rate.run(s.w.loop.Now()))
		}
	}
}

// refuseBody gives up a body that does not arrive as it should, or is malformed.
func (s *Session) refuseBody(f fault) {
	s.stopReadClocks()
	s.keep, s.unread = false, true
	s.state = awaiting
	s.x.fail(f)
}

// onHeadClock closes silently if no byte of a request came, else says 408.
func (s *Session) onHeadClock() {
	if s.state == readingProxy {
		s.refuseProxy(errProxyLate)
		return
	}
	if !s.head.Started() {
		s.close()
		return
	}
	s.refuse(s.x, fault{codec.RequestTimeout, fromDownstream, faultFinal, "the request head did not arrive in time"})
}
