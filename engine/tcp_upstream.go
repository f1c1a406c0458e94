package engine

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/pool"
)

// tcpUpstream is the endpoint's side of a connection that is passed through. It
// belongs to one client and never lies in the pool, which only counts it.
type tcpUpstream struct {
	node pool.Node

	// Immutable.
	w  *worker
	ep *pool.Endpoint

	// Owned by the loop.
	conn  *reactor.Conn
	state connState // dialling, switched or dead
	t     *try
	full  int // reads in a row that filled the buffer
}

var (
	_ reactor.ConnectHandler = (*tcpUpstream)(nil)
	_ reactor.RelayHandler   = (*tcpUpstream)(nil)
	_ connection             = (*tcpUpstream)(nil)
	_ upstream               = (*tcpUpstream)(nil)
)

func newTCPUpstream(w *worker, ep *pool.Endpoint) *tcpUpstream {
	return &tcpUpstream{w: w, ep: ep}
}

// dial implements connection.
func (u *tcpUpstream) dial(t *try) (upstream, error) {
	svc := t.x.svc
	conn, err := u.w.loop.Dial(u.ep.Addr(), svc.Source, u)
	if err != nil {
		return nil, err
	}
	u.conn, u.t = conn, t
	conn.SetReadSize(passReadSize)
	u.w.local.Attach(u, svc.Pool, u.ep, u.w.loop.Now())
	return u, nil
}

// OnConnect implements reactor.ConnectHandler. Nothing says what follows: the
// tunnel begins at once, and the endpoint may be the first to speak.
func (u *tcpUpstream) OnConnect(*reactor.Conn) {
	x := u.t.x
	x.tellEnds(u.conn, x.svc.ProxyProtocol)
	u.state = switched
	u.conn.SetWriteTimeout(x.lis.WriteIdle.Nanoseconds())
	x.openPassage(u.t)
}

// OnData implements reactor.Handler.
func (u *tcpUpstream) OnData(_ *reactor.Conn, b []byte) int {
	if u.t == nil {
		return len(b)
	}
	u.t.x.onTunnelDown(b)
	if u.full = flows(u.full, b); u.full >= relayAfter && u.t != nil {
		u.full = 0
		if s, ok := u.t.x.down.(*tcpSession); ok {
			u.conn.RelayTo(s.conn)
		}
	}
	return len(b)
}

// OnRelayed implements reactor.RelayHandler.
func (u *tcpUpstream) OnRelayed(_ *reactor.Conn, n int) {
	if u.t != nil {
		u.t.x.bytesOut += int64(n)
		u.t.x.armTunnel()
	}
}

// OnEOF implements reactor.Handler.
func (u *tcpUpstream) OnEOF(*reactor.Conn) { u.t.x.onTunnelUpstreamEOF() }

// OnDrain implements reactor.Handler.
func (u *tcpUpstream) OnDrain(*reactor.Conn) {
	if u.t != nil {
		u.t.x.onUpstreamDrain()
	}
}

// OnClose implements reactor.Handler: the connection failed by itself.
func (u *tcpUpstream) OnClose(_ *reactor.Conn, err error) {
	t := u.t
	switch {
	case t == nil:
	case u.state == switched && t.x.upstreamEOF:
		// It had said all before it went, and the client is still to get it.
		t.x.endTunnel()
	case u.state == switched && errors.Is(err, reactor.ErrWriteTimeout):
		t.failed(faultTunnelStuck)
	case u.state == switched:
		t.failed(faultPassedReset)
	case errors.Is(err, unix.ETIMEDOUT):
		t.failed(faultConnectTimeout)
	default:
		t.failed(faultRefused)
	}
}

// sendData implements upstream.
func (u *tcpUpstream) sendData(b []byte) { u.conn.Write(b) }

// cancel implements upstream: a reset is passed on as one.
func (u *tcpUpstream) cancel() {
	if u.state != dead {
		u.retire()
		u.conn.Abort()
	}
}

// closeTunnel implements upstream.
func (u *tcpUpstream) closeTunnel() {
	u.retire()
	u.conn.Close()
}

// retire takes the connection out of the pool's book.
func (u *tcpUpstream) retire() {
	u.state, u.t = dead, nil
	u.w.local.Remove(u)
}

// Pooled implements pool.Conn.
func (u *tcpUpstream) Pooled() *pool.Node { return &u.node }

// What follows implements the rest of connection, of which nothing is called: the
// connection is never idle.

func (u *tcpUpstream) CloseIdle(pool.CloseReason) { u.cancel() }
func (u *tcpUpstream) drop()                      { u.cancel() }
func (u *tcpUpstream) begin(*try) upstream        { return u }
func (u *tcpUpstream) fits(*try) bool             { return false }

// What follows implements the rest of upstream. There are no heads and no ends of
// messages.

func (u *tcpUpstream) sendHead(*codec.Head) {}
func (u *tcpUpstream) sendEnd(*codec.Head)  {}
func (u *tcpUpstream) tellSent() bool       { return false }
func (u *tcpUpstream) startTunnel()         {}
func (u *tcpUpstream) closeWrite()          { u.conn.CloseWrite() }
func (u *tcpUpstream) pause()               { u.conn.Pause() }
func (u *tcpUpstream) resume()              { u.conn.Resume() }
func (u *tcpUpstream) overHigh() bool       { return u.conn.OverHigh() }
func (u *tcpUpstream) reused() bool         { return false }
func (u *tcpUpstream) untouched() bool      { return u.state == dialling }
func (u *tcpUpstream) mayLose() bool        { return false }
