package engine

import (
	"errors"
	"net/netip"

	"golang.org/x/sys/unix"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/codec/http1"
	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
)

// maxInterim bounds the 1xx heads of one response.
const maxInterim = 32

// connState is what an upstream connection is doing.
type connState uint8

const (
	// dialling: the handshake of TCP runs.
	dialling connState = iota
	// idle: in the pool.
	idle
	// readingResponseHead: a request is out or on its way.
	readingResponseHead
	// readingResponseBody: the head was handed over.
	readingResponseBody
	// switched: after a 101.
	switched
	// dead: closed or given up.
	dead
)

// upstreamConn speaks HTTP/1.1 with one endpoint (RFC 9112): one exchange at a
// time, then back to the pool.
type upstreamConn struct {
	node pool.Node

	// Immutable.
	w      *worker
	ep     *pool.Endpoint
	source netip.Addr
	proxy  snapshot.ProxyVersion

	// Owned by the loop.
	svc     *snapshot.Service // of the current exchange's generation
	conn    *reactor.Conn
	state   connState
	t       *try
	head    http1.Decoder
	body    http1.Body
	limits  http1.Limits
	method  codec.Method
	interim int
	sentAt  uint64 // bytes the socket had taken when the request began
	chunked bool   // the request is sent chunked
	reqOut  bool   // the request has been handed over whole
	reading bool   // OnData is running: what follows in its bytes is not known yet
	keep    bool   // the response lets the connection be used again
}

var (
	_ reactor.ConnectHandler = (*upstreamConn)(nil)
	_ connection             = (*upstreamConn)(nil)
	_ upstream               = (*upstreamConn)(nil)
)

func newUpstreamConn(w *worker, svc *snapshot.Service, ep *pool.Endpoint) *upstreamConn {
	return &upstreamConn{w: w, svc: svc, ep: ep, source: svc.Source, proxy: svc.ProxyProtocol}
}

// Pooled implements pool.Conn.
func (u *upstreamConn) Pooled() *pool.Node { return &u.node }

// CloseIdle implements pool.Conn: the pool has already let go of it.
func (u *upstreamConn) CloseIdle(pool.CloseReason) {
	u.state = dead
	u.conn.Close()
}

// dial opens the connection for the try, which is told by use or failed.
func (u *upstreamConn) dial(t *try) (upstream, error) {
	conn, err := u.w.loop.Dial(u.ep.Addr(), u.source, u)
	if err != nil {
		return nil, err
	}
	u.conn = conn
	u.t = t
	conn.SetReadSize(bodyReadSize)
	u.w.local.Attach(u, u.svc.Pool, u.ep, u.w.loop.Now())
	return u, nil
}

// OnConnect implements reactor.ConnectHandler.
func (u *upstreamConn) OnConnect(*reactor.Conn) {
	u.sendProxy(u.t.x)
	u.t.use(u.begin(u.t))
}

// begin implements connection.
func (u *upstreamConn) begin(t *try) upstream {
	x := t.x
	u.t = t
	u.svc = x.svc
	u.limits = http1.Limits{RequestLine: x.svc.MaxHead, Headers: x.svc.MaxHead}
	u.state = readingResponseHead
	u.interim, u.reqOut, u.keep = 0, false, false
	u.method = x.req.MethodID()
	u.sentAt = u.conn.BytesOut()
	u.conn.SetWriteTimeout(x.route.Timeouts.Idle.Nanoseconds())
	u.head.Reset()
	return u
}

// sendHead implements upstream.
func (u *upstreamConn) sendHead(h *codec.Head) {
	u.chunked = h.Framing() == codec.FramingChunked
	u.conn.Commit(http1.AppendRequest(u.conn.Stage(), h))
}

// sendData implements upstream.
func (u *upstreamConn) sendData(b []byte) {
	if len(b) == 0 {
		return
	}
	if !u.chunked || u.state == switched {
		u.conn.Write(b)
		return
	}
	u.conn.Commit(http1.AppendChunk(u.conn.Stage(), len(b)))
	u.conn.Write(b)
	u.conn.Commit(append(u.conn.Stage(), crlf...))
}

// sendEnd implements upstream.
func (u *upstreamConn) sendEnd(trailers *codec.Head) {
	u.reqOut = true
	if u.chunked {
		u.conn.Commit(http1.AppendLastChunk(u.conn.Stage(), trailers))
	}
}

// cancel implements upstream: HTTP/1.1 has no other way to stop a request than
// to close its connection.
func (u *upstreamConn) cancel() {
	if u.state == dead {
		return
	}
	u.retire()
	u.conn.Abort()
}

// retire takes the connection out of the pool's book.
func (u *upstreamConn) retire() {
	u.state = dead
	u.t = nil
	u.w.local.Remove(u)
}

// pause implements upstream.
func (u *upstreamConn) pause() { u.conn.Pause() }

// resume implements upstream. A response without more bytes to come ends here,
// if it was waiting for a filter. Within OnData it must not: the rest of the
// bytes being read decides whether the connection may be used again.
func (u *upstreamConn) resume() {
	u.conn.Resume()
	if u.reading {
		return
	}
	if u.state == readingResponseBody && u.body.Done() && u.t.x.respOpen {
		u.finish(false)
	}
}

// overHigh implements upstream.
func (u *upstreamConn) overHigh() bool { return u.conn.OverHigh() }

// tellSent implements upstream.
func (u *upstreamConn) tellSent() bool {
	if !u.conn.Stalled() {
		return false
	}
	u.conn.NotifyEmpty()
	return true
}

// reused implements upstream.
func (u *upstreamConn) reused() bool { return u.node.Reused() && !u.head.Started() }

// untouched implements upstream.
func (u *upstreamConn) untouched() bool {
	return u.state == dialling || u.conn.BytesOut() == u.sentAt
}

// mayLose implements upstream.
func (u *upstreamConn) mayLose() bool { return u.reused() && u.untouched() }

// startTunnel implements upstream.
func (u *upstreamConn) startTunnel() {
	u.state = switched
	u.conn.SetWriteTimeout(0)
	u.conn.Resume()
}

// closeWrite implements upstream.
func (u *upstreamConn) closeWrite() { u.conn.CloseWrite() }

// closeTunnel implements upstream.
func (u *upstreamConn) closeTunnel() {
	u.retire()
	u.conn.Close()
}

// OnData implements reactor.Handler.
func (u *upstreamConn) OnData(_ *reactor.Conn, b []byte) int {
	u.reading = true
	n := u.read(b)
	u.reading = false
	return n
}

func (u *upstreamConn) read(b []byte) int {
	n := 0
	for n < len(b) {
		var used int
		switch u.state {
		case readingResponseHead:
			used = u.readHead(b[n:])
		case readingResponseBody:
			used = u.readBody(b[n:])
		case switched:
			used = len(b) - n
			u.t.x.onTunnelDown(b[n:])
		case idle:
			u.drop()
			return len(b)
		default:
			return len(b)
		}
		if used == 0 {
			break
		}
		n += used
	}
	return n
}

// readHead feeds the decoder and hands over each head that is whole.
func (u *upstreamConn) readHead(b []byte) int {
	t := u.t
	if !u.head.Started() && u.untouched() {
		// Bytes that were on their way before the request was: not its answer.
		t.failed(faultUpstreamReset)
		return len(b)
	}
	n, done, err := u.head.Response(t.head, b, &u.limits, u.method)
	if err != nil {
		t.failed(faultBadResponse)
		return len(b)
	}
	if !done {
		return n
	}
	h := t.head
	if status := h.Status(); status < 200 && status != 101 {
		if u.interim++; u.interim > maxInterim {
			t.failed(faultBadResponse)
			return len(b)
		}
		t.onInterim()
		h.Reset()
		u.head.Reset()
		return n
	}
	u.state = readingResponseBody
	u.keep = h.KeepAlive()
	u.body.Start(h.Framing(), h.ContentLength())
	t.onResponseHead()
	if u.t == t && u.state == readingResponseBody && u.body.Done() && t.x.respOpen {
		u.finish(n < len(b))
	}
	return n
}

// readBody decodes body bytes while the exchange takes them.
func (u *upstreamConn) readBody(b []byte) int {
	t, x := u.t, u.t.x
	if !x.respOpen || u.conn.Paused() {
		return 0
	}
	data, n, done, err := u.body.Next(b, &x.trailers)
	if err != nil {
		t.failed(faultBadResponse)
		return len(b)
	}
	if len(data) > 0 {
		x.onResponseData(data)
	}
	if done && u.t == t {
		u.finish(n < len(b))
	}
	return n
}

// finish ends a response that came whole. The connection goes back to the pool
// if nothing is left on it, in either direction, that could be misread.
func (u *upstreamConn) finish(leftover bool) {
	x := u.t.x
	reusable := u.keep && u.reqOut && !leftover && u.conn.Kept() == 0 && !u.conn.EOF() &&
		u.conn.Queued() == 0 && u.proxy == snapshot.ProxyNone
	u.t = nil
	if reusable {
		u.state = idle
		x.onResponseEnd(&x.trailers)
		u.conn.Resume()
		u.w.local.Put(u, u.svc.Pool, u.w.loop.Now())
		return
	}
	u.retire()
	u.conn.Close()
	x.onResponseEnd(&x.trailers)
}

// OnEOF implements reactor.Handler.
func (u *upstreamConn) OnEOF(*reactor.Conn) {
	switch u.state {
	case idle:
		u.drop()
	case readingResponseHead:
		u.t.failed(faultUpstreamReset)
	case readingResponseBody:
		if u.body.EOF() == nil {
			u.finish(false)
			return
		}
		u.t.failed(faultUpstreamReset)
	case switched:
		u.t.x.onTunnelUpstreamEOF()
	}
}

// OnDrain implements reactor.Handler.
func (u *upstreamConn) OnDrain(*reactor.Conn) {
	if u.t == nil {
		return
	}
	if u.reqOut && !u.conn.Stalled() {
		u.t.onSent()
	}
	u.t.x.onUpstreamDrain()
	u.t.feed()
}

// OnClose implements reactor.Handler: the connection failed by itself.
func (u *upstreamConn) OnClose(_ *reactor.Conn, err error) {
	t, was := u.t, u.state
	if was == dead {
		return
	}
	f := faultUpstreamReset
	if was == dialling {
		f = faultRefused
		if errors.Is(err, unix.ETIMEDOUT) {
			f = faultConnectTimeout
		}
	}
	if errors.Is(err, reactor.ErrWriteTimeout) {
		f = faultFirstByte
	}
	if t == nil {
		u.retire()
		return
	}
	// The try cancels the stream, which takes it out of the pool; the
	// connection itself is closed already.
	t.failed(f)
}

// drop closes an idle connection that its peer has spoiled.
func (u *upstreamConn) drop() {
	u.retire()
	u.conn.Close()
}
