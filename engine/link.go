package engine

import (
	"errors"
	"net/netip"

	"golang.org/x/sys/unix"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
)

// linkState is where a link stands.
type linkState uint8

const (
	// linkQueued: it waits for a place among the endpoint's connections.
	linkQueued linkState = iota
	// linkDialling: the handshake of TCP runs.
	linkDialling
	// linkOpen: it takes streams.
	linkOpen
	// linkLeaving: it takes no new streams and is closed behind the last.
	linkLeaving
	// linkDead: closed or given up.
	linkDead
)

// Kinds of a link's timers.
const (
	clockLinkOpens uint8 = iota
	clockLinkIdle
	clockLinkBeat
)

const (
	// beatEvery is the time without a byte from the peer after which it is asked
	// whether it is there, in nanoseconds; maxBeats is how often in a row.
	beatEvery = int64(15e9)
	maxBeats  = 3
)

// link is a connection to an endpoint that speaks a message protocol. Where
// messages have ids it carries many exchanges at a time, each a linkStream: the
// pool counts it as lent for all its life, and the loop's tries share it. Without
// ids it is lent to one try after the other, like upstreamConn.
type link struct {
	wire
	node   pool.Node
	waiter pool.Waiter

	// Immutable.
	ep     *pool.Endpoint
	source netip.Addr
	proxy  snapshot.ProxyVersion // of a link without ids

	// Owned by the loop.
	svc     *snapshot.Service // of the generation that used it last
	state   linkState
	table   linkTable
	first   *linkStream // those that wait for the link, in order
	last    *linkStream
	queued  int
	reading *linkStream // whose head is being read
	beat    reactor.Timer
	clock   reactor.Timer // opening, then idle
	heard   uint64        // bytes read when the beat was last looked at
	beats   int           // asked in a row without hearing anything
	served  bool          // a response has come
	dirty   bool          // of a link without ids: bytes came that belong to no exchange
	opened  *kept         // whom the keeper opens it for, until it is open
	next    *link         // to the same endpoint
}

var (
	_ reactor.ConnectHandler = (*link)(nil)
	_ pool.Conn              = (*link)(nil)
	_ pool.WaiterOwner       = (*link)(nil)
)

func newLink(w *worker, svc *snapshot.Service, p codec.Protocol, ep *pool.Endpoint) *link {
	l := &link{ep: ep, source: svc.Source, proxy: svc.ProxyProtocol, svc: svc}
	l.init(w, p, codec.Requests)
	l.table.init(l.traits.IDBits)
	l.waiter.Init(l)
	l.clock.Init(l, clockLinkOpens)
	l.beat.Init(l, clockLinkBeat)
	return l
}

// Pooled implements pool.Conn.
func (l *link) Pooled() *pool.Node { return &l.node }

// CloseIdle implements pool.Conn: the pool has already let go of it.
func (l *link) CloseIdle(pool.CloseReason) {
	l.bury()
	l.conn.Close()
}

// dial begins the handshake; the pool has reserved its place.
func (l *link) dial() error {
	conn, err := l.w.loop.Dial(l.ep.Addr(), l.source, l)
	if err == nil {
		l.dialled(conn, l)
	}
	return err
}

// OnConnect implements reactor.ConnectHandler.
func (l *link) OnConnect(c *reactor.Conn) {
	w := l.w
	l.state = linkOpen
	w.loop.Disarm(&l.clock)
	l.decode(l.protocol.NewDecoder(codec.Responses, codec.MessageLimits{Head: l.svc.MaxHead, HeadFields: maxAnswerFields, Body: maxMessage}))
	c.SetWriteTimeout(l.svc.Timeouts.Idle.Nanoseconds())
	if l.traits.Heartbeats && l.shares() { // a reply could be taken for an answer
		l.heard = c.BytesIn()
		w.loop.Arm(&l.beat, w.loop.Now()+beatEvery)
	}
	if l.opened != nil {
		k := l.opened
		l.opened = nil
		k.ended(true)
	}
	if !l.shares() && l.first == nil {
		l.giveBack()
		return
	}
	if s := l.first; s != nil && !l.shares() {
		s.t.x.tellEnds(c, l.proxy)
	}
	l.admit()
	if l.shares() {
		l.makeRoom()
	}
	l.rest()
}

// maxAnswerFields bounds the fields of an answer's head.
const maxAnswerFields = 1000

// rest starts the idle clock of a link without streams, or closes one that
// leaves, or that nobody is going to use. One without a place needs none.
func (l *link) rest() {
	if l.table.live > 0 || l.first != nil {
		return
	}
	switch l.state {
	case linkQueued:
		l.w.local.Cancel(&l.waiter)
		l.bury()
	case linkLeaving:
		l.close()
	case linkOpen:
		if !l.shares() {
			return
		}
		if l.ep.Retired() {
			l.close()
			return
		}
		if idle := l.svc.Pool.Limits.Idle; idle > 0 {
			l.clock.SetKind(clockLinkIdle)
			l.w.loop.Arm(&l.clock, l.w.loop.Now()+idle.Nanoseconds())
		}
	}
}

// leave lets the link take no new streams.
func (l *link) leave() {
	if l.state == linkOpen {
		l.state = linkLeaving
		l.w.loop.Disarm(&l.clock)
		l.rest()
	}
}

// close ends a link that has no streams.
func (l *link) close() {
	if l.state == linkDead {
		return
	}
	l.bury()
	l.w.local.Remove(l)
	l.conn.Close()
}

// bury takes a dead link out of the books, but for the pool's.
func (l *link) bury() {
	l.state = linkDead
	l.stopDecoding()
	l.w.loop.Forget(&l.clock)
	l.w.loop.Forget(&l.beat)
	l.w.dropLink(l)
}

// breakDown ends the link and every exchange on it whose answer has not come whole.
// The one whose answer was being read gets own, the others rest: nothing is wrong
// with them but their connection.
func (l *link) breakDown(own, rest fault) {
	if l.state == linkDead {
		return
	}
	attached, reading := l.conn != nil, l.reading
	l.bury()
	l.w.local.Cancel(&l.waiter)
	if attached {
		l.w.local.Remove(l)
		l.conn.Abort()
	}
	if l.opened != nil {
		k := l.opened
		l.opened = nil
		k.ended(false)
	}
	l.table.each(func(s *linkStream) {
		switch {
		case s.in.whole: // all of the answer is here
		case s == reading:
			s.lose(own)
		default:
			s.lose(rest)
		}
	})
	for s := l.first; s != nil; s = l.first {
		s.lose(rest)
	}
}

// OnEOF implements reactor.Handler.
func (l *link) OnEOF(*reactor.Conn) { l.breakDown(faultUpstreamReset, faultUpstreamReset) }

// OnClose implements reactor.Handler.
func (l *link) OnClose(_ *reactor.Conn, err error) {
	f := faultUpstreamReset
	if l.state == linkDialling {
		f = faultRefused
		if errors.Is(err, unix.ETIMEDOUT) {
			f = faultConnectTimeout
		}
	}
	if errors.Is(err, reactor.ErrWriteTimeout) {
		f = faultFirstByte
	}
	l.breakDown(f, f)
}

// OnTimer implements reactor.Alarm.
func (l *link) OnTimer(kind uint8, now int64) {
	switch kind {
	case clockLinkOpens:
		l.breakDown(faultConnectTimeout, faultConnectTimeout)
	case clockLinkIdle:
		if l.w.local.Open(l.ep) > l.w.local.Floor(l.ep) {
			l.leave()
		}
		l.rest() // one of the floor has another term
	case clockLinkBeat:
		l.checkBeat(now)
	}
}

// checkBeat asks a silent peer whether it is there, and gives up one that does not
// answer.
func (l *link) checkBeat(now int64) {
	if heard := l.conn.BytesIn(); heard != l.heard {
		l.heard, l.beats = heard, 0
	} else if l.beats == maxBeats {
		l.w.stats.HeartbeatsMissed++
		l.breakDown(faultNoHeartbeat, faultNoHeartbeat)
		return
	} else {
		l.beats++
		l.control(codec.Control{Kind: codec.Heartbeat, Role: codec.Requests, ID: l.table.stamp()})
	}
	l.w.loop.Arm(&l.beat, now+beatEvery)
}

// OnDrain implements reactor.Handler: there is room for more.
func (l *link) OnDrain(*reactor.Conn) {
	if l.blocked > 0 {
		l.blocked = 0
		l.table.each(func(s *linkStream) { s.onDrain() })
	}
	l.admit()
}

// OnGrant implements pool.WaiterOwner: a link that waited has its place.
func (l *link) OnGrant(_ *pool.Waiter, c pool.Conn, err error) {
	if c != nil {
		c.(connection).drop() // of an earlier configuration, with another protocol
		err = pool.ErrPoolExhausted
		if l.w.local.Reserve(l.ep) {
			err = nil
		}
	}
	if err != nil {
		l.breakDown(faultPoolExhausted, faultPoolExhausted)
		return
	}
	l.open()
}

// open dials; the pool has reserved the place.
func (l *link) open() {
	if err := l.dial(); err != nil {
		f := dialFault(err)
		l.w.local.DialFailed(l.ep)
		l.breakDown(f, f)
		return
	}
	l.armOpening()
}

// armOpening starts the clock of the handshake.
func (l *link) armOpening() {
	if timeout := l.svc.ConnectTimeout.Nanoseconds(); timeout > 0 {
		l.clock.SetKind(clockLinkOpens)
		l.w.loop.Arm(&l.clock, l.w.loop.Now()+timeout)
	}
}
