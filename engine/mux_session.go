package engine

import (
	"math"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/engine/snapshot"
)

// maxStreams bounds the requests of one client that run at a time; one more is
// answered 503 overloaded.
const maxStreams = 4096

// muxState is where a client's connection of a message protocol stands.
type muxState uint8

const (
	// muxProxy: within the PROXY header in front of the first message.
	muxProxy muxState = iota
	// muxOpen: messages are read.
	muxOpen
	// muxEnding: nothing is read any more; it closes behind the last answer.
	muxEnding
	// muxClosed: nothing is read or written any more.
	muxClosed
)

// muxSession speaks a message protocol with one client. Each request is a
// muxStream with an exchange of its own; without message ids there is one at a
// time, and what a client sends ahead stays with the connection.
type muxSession struct {
	wire

	// Immutable.
	listener string

	// Owned by the loop.
	node     clientNode
	told     *told
	peerText []byte
	state    muxState
	snap     *snapshot.Snapshot
	lis      *snapshot.Listener
	table    muxTable
	reading  *muxStream // whose head is being read
	clock    reactor.Timer
	lastID   uint64 // the highest id that was taken
	messages int
	goes     bool // the client was told to go, or has said that it goes
	wordless bool // an answer could not be said
}

var _ client = (*muxSession)(nil)

// newMuxSession takes a fresh connection. Its head clock runs from accept.
func newMuxSession(w *worker, c *reactor.Conn, listener string, p codec.Protocol) *muxSession {
	s := &muxSession{listener: listener, state: muxOpen}
	s.init(w, p, codec.Responses)
	s.conn = c
	s.clock.Init(s, clockHead)
	s.refresh()
	s.peerText = c.Remote().Addr().AppendTo(nil)
	if s.lis.ProxyProtocol {
		s.state, s.told = muxProxy, new(told)
	}
	limits := codec.MessageLimits{Head: s.lis.Headers, HeadFields: s.lis.HeaderCount, Body: maxMessage}
	if body := s.lis.MaxBody; body > 0 {
		limits.Body = int(min(body, maxMessage))
	}
	s.decode(p.NewDecoder(codec.Requests, limits))
	c.SetReadSize(bodyReadSize)
	c.SetGathers()
	w.addClient(&s.node, s)
	if w.announced {
		s.announceDrain()
	}
	s.arm(clockHead, c.Accepted()+s.lis.Head.Nanoseconds(), s.lis.Head > 0)
	return s
}

// refresh takes the listener's policy of the current generation.
func (s *muxSession) refresh() *snapshot.Snapshot {
	snap := s.w.server.current.Load()
	if snap == s.snap {
		return snap
	}
	s.snap = snap
	if lis := snap.Listeners[s.listener]; lis != nil && lis != s.lis {
		s.lis = lis
		s.conn.SetWriteTimeout(lis.WriteIdle.Nanoseconds())
	}
	return snap
}

func (s *muxSession) arm(kind uint8, deadline int64, on bool) {
	if !on {
		s.w.loop.Disarm(&s.clock)
		return
	}
	s.clock.SetKind(kind)
	s.w.loop.Arm(&s.clock, deadline)
}

// rest is for a connection that has no request any more: the client may send the
// next, or go.
func (s *muxSession) rest() {
	switch {
	case s.table.live > 0 || s.reading != nil || s.state == muxClosed:
	case s.goes || s.state == muxEnding:
		s.linger()
	default:
		s.arm(clockKeepalive, s.w.loop.Now()+s.lis.Keepalive.Nanoseconds(), s.lis.Keepalive > 0)
	}
}

// onFree is told when a stream has gone.
func (s *muxSession) onFree() {
	if s.state == muxClosed {
		return
	}
	if s.wordless {
		s.endReading(faultCutRequest)
	}
	s.rest()
	if !s.shares() && s.state == muxOpen {
		s.conn.Resume()
	}
}

// sayGo tells the client to take its next requests elsewhere.
func (s *muxSession) sayGo(reason codec.Reason, detail string) {
	if s.goes {
		return
	}
	s.goes = true
	last := s.lastID
	if !s.shares() {
		last = math.MaxUint64
	}
	s.control(codec.Control{Kind: codec.GoAway, Role: codec.Requests, ID: last, Reason: reason, Detail: detail})
}

// announceDrain implements client. Requests that are on their way are still
// taken.
func (s *muxSession) announceDrain() {
	s.control(codec.Control{Kind: codec.GoAway, Role: codec.Requests, ID: math.MaxUint64, Reason: codec.Draining, Detail: "the gateway ends"})
}

// drain implements client.
func (s *muxSession) drain() {
	if s.state == muxClosed {
		return
	}
	s.sayGo(codec.Draining, "the gateway ends")
	if s.state == muxProxy {
		s.linger()
		return
	}
	s.rest()
}

// cutRest implements client.
func (s *muxSession) cutRest() {
	s.table.each(func(st *muxStream) {
		if st.x != nil && st.x.running() {
			st.x.fail(faultStopping)
		}
	})
}

// OnDrain implements reactor.Handler.
func (s *muxSession) OnDrain(*reactor.Conn) {
	if s.blocked > 0 {
		s.blocked = 0
		s.table.each(func(st *muxStream) { st.onDrain() })
	}
	s.conn.Resume()
}

// OnEOF implements reactor.Handler: the client sends no more, but may read.
func (s *muxSession) OnEOF(*reactor.Conn) {
	if s.state == muxProxy && s.told.begun() {
		s.w.refuseProxy(s.listener, s.conn, errProxyCut)
	}
	if s.state == muxProxy {
		s.close()
		return
	}
	s.endReading(faultCutRequest)
	if s.state != muxClosed && s.table.live > 0 {
		s.arm(clockHalfClose, s.w.loop.Now()+halfCloseGrace, true)
	}
}

// endReading lets no more requests in. Those that are not whole never will be.
func (s *muxSession) endReading(f fault) {
	if s.state != muxOpen {
		return
	}
	s.state = muxEnding
	s.stopDecoding()
	if st := s.reading; st != nil {
		s.reading = nil
		st.refuse(f)
	}
	s.table.each(func(st *muxStream) {
		if !st.in.whole && st.x != nil {
			st.x.fail(f)
		}
	})
	s.rest()
}

// OnClose implements reactor.Handler: the connection has failed.
func (s *muxSession) OnClose(_ *reactor.Conn, err error) {
	s.leave()
	s.abandon(err)
}

// abandon ends what runs: the client has gone.
func (s *muxSession) abandon(err error) {
	s.reading = nil
	s.table.each(func(st *muxStream) { st.abandon(err) })
}

// OnTimer implements reactor.Alarm.
func (s *muxSession) OnTimer(kind uint8, _ int64) {
	switch {
	case kind == clockHead && s.state == muxProxy:
		s.w.refuseProxy(s.listener, s.conn, errProxyLate)
		s.close()
	case kind == clockHead && s.reading != nil:
		s.endReading(faultHeadLate)
	case kind == clockHead, kind == clockKeepalive:
		s.sayGo(codec.ReasonNone, "the connection was idle")
		s.rest()
	case kind == clockHalfClose:
		s.table.each(func(st *muxStream) {
			if st.x != nil && !st.x.responded() {
				st.x.onClientGone(nil)
			}
		})
	}
}

// close closes once everything queued was sent.
func (s *muxSession) close() {
	s.leave()
	s.conn.Close()
}

// linger closes for writing, reads on for a while and then closes.
func (s *muxSession) linger() {
	s.leave()
	s.conn.Linger(lingerTime)
}

// leave takes the session out of the worker's book.
func (s *muxSession) leave() {
	if s.state == muxClosed {
		return
	}
	s.state = muxClosed
	s.stopDecoding()
	s.w.loop.Forget(&s.clock)
	s.told.release(s.w.loop.Memory())
	s.w.removeClient(&s.node)
}
