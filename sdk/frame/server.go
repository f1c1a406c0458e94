package frame

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cloudwego/netpoll"

	"github.com/corelane/corelane/codec"
	wire "github.com/corelane/corelane/codec/frame"
)

// Handler answers requests. An error before the response has begun becomes one:
// that of a *StatusError, 504 when the deadline has passed, else 500; later it
// cancels the response. ctx ends when the client cancels, goes away or stops
// waiting, and with the return.
type Handler interface {
	ServeFrame(ctx context.Context, r *Request, w *Responder) error
}

// HandlerFunc is a function as a Handler.
type HandlerFunc func(ctx context.Context, r *Request, w *Responder) error

// ServeFrame calls f.
func (f HandlerFunc) ServeFrame(ctx context.Context, r *Request, w *Responder) error {
	return f(ctx, r, w)
}

// Server serves requests on any number of connections. Its fields are set before
// it serves and not changed afterwards.
type Server struct {
	Handler Handler
	Options Options
	// Inline runs handlers on the goroutine that reads the connection, which is
	// the fastest for those that answer at once. They must not wait: the connection
	// stands still meanwhile. Requests of several frames, and those of a client that
	// does not read its responses, get goroutines of their own nevertheless.
	Inline bool

	handlers handlers

	mu     sync.Mutex
	links  map[*link]struct{}
	loop   netpoll.EventLoop
	door   *door
	closed bool
	empty  chan struct{} // closed when no link is left; nil: nobody waits
}

// ErrServerClosed is returned by Serve after Shutdown.
var ErrServerClosed = errors.New("frame: the server is closed")

// ListenAndServe serves on an address: network is "tcp", "tcp4", "tcp6" or "unix".
func (s *Server) ListenAndServe(network, address string) error {
	l, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	return s.Serve(l)
}

// Serve serves the connections of a TCP or unix listener, which it closes in the
// end. It returns ErrServerClosed after Shutdown. A Server serves once.
func (s *Server) Serve(l net.Listener) error {
	if s.Handler == nil {
		return errors.New("frame: the server has no handler")
	}
	door, err := newDoor(l)
	if err != nil {
		return err
	}
	o := s.Options.withDefaults()
	loop, err := netpoll.NewEventLoop(serveLink,
		netpoll.WithOnPrepare(func(nc netpoll.Connection) context.Context { return s.accept(nc, o) }),
		netpoll.WithOnDisconnect(func(ctx context.Context, _ netpoll.Connection) {
			l := linkOf(ctx)
			l.end(l.disconnected())
		}))
	if err != nil {
		return err
	}
	s.mu.Lock()
	if s.closed || s.loop != nil {
		s.mu.Unlock()
		_ = door.Close()
		return ErrServerClosed
	}
	s.loop, s.links = loop, map[*link]struct{}{}
	s.door = door
	s.mu.Unlock()
	err = loop.Serve(door)
	close(door.left)
	if door.shut.Load() {
		return ErrServerClosed
	}
	return err
}

type linkKey struct{}

// linkContext carries a connection's link to netpoll's callbacks.
type linkContext struct {
	context.Context
	l *link
}

// Value returns the link.
func (c linkContext) Value(key any) any {
	if key == (linkKey{}) {
		return c.l
	}
	return nil
}

func linkOf(ctx context.Context) *link { return ctx.Value(linkKey{}).(*link) }

func serveLink(ctx context.Context, nc netpoll.Connection) error {
	linkOf(ctx).onRequest(nc)
	return nil
}

// accept makes a link of a connection.
func (s *Server) accept(nc netpoll.Connection, o *Options) context.Context {
	c := &serverConn{server: s, handler: s.Handler, handlers: &s.handlers, inline: s.Inline}
	c.l = newLink(nc, o, c)
	s.mu.Lock()
	s.links[c.l] = struct{}{}
	closed := s.closed
	s.mu.Unlock()
	if closed {
		c.l.fail(&Error{Kind: Closed, Peer: c.l.peer})
	}
	return linkContext{context.Background(), c.l}
}

// Shutdown takes no more connections, tells clients to go away, waits for the
// handlers and for what they wrote, and closes the connections. When ctx ends
// first, the connections are closed nevertheless and its error is returned.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	loop, door := s.loop, s.door
	var links []*link
	for l := range s.links {
		links = append(links, l)
	}
	s.mu.Unlock()
	if loop == nil {
		return nil
	}
	door.close()
	var err error
	for _, l := range links {
		l.leave()
	}
	for _, l := range links {
		err = errors.Join(err, l.waitIdle(ctx))
	}
	if err == nil {
		err = s.handlers.wait(ctx)
	} else {
		err = ctx.Err()
	}
	for _, l := range links {
		l.fail(&Error{Kind: Closed, Peer: l.peer})
	}
	return errors.Join(err, s.close(ctx))
}

// close closes the listener when netpoll has let go of it and of the connections.
// A handler that does not return keeps its connection only so long.
func (s *Server) close(ctx context.Context) error {
	quick, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	s.mu.Lock()
	empty := make(chan struct{})
	if s.empty = empty; len(s.links) == 0 {
		close(empty)
		s.empty = nil
	}
	s.mu.Unlock()
	for _, done := range []chan struct{}{empty, s.door.left} {
		select {
		case <-done:
		case <-quick.Done():
		}
	}
	return s.loop.Shutdown(quick)
}

// leave tells the peer that nothing more is taken.
func (l *link) leave() {
	l.mu.Lock()
	l.leaving = true
	l.commit(wire.AppendDetail(l.out, wire.GoAway, l.last, 0, codec.Draining.String(), ""))
	l.flush() // the reader may be busy for longer than there is time
}

// waitIdle waits until nothing is under way.
func (l *link) waitIdle(ctx context.Context) error {
	l.mu.Lock()
	if l.err != nil || l.isIdle() {
		l.mu.Unlock()
		return nil
	}
	if l.idle == nil {
		l.idle = make(chan struct{})
	}
	idle := l.idle
	l.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// serverConn is a server's side of a link.
type serverConn struct {
	server   *Server
	handler  Handler
	handlers *handlers
	inline   bool
	l        *link
}

// goneAway: a client that sends nothing new needs nothing of us.
func (c *serverConn) goneAway(_ uint64, why *Error) {
	if why.Status != 0 {
		c.l.o.Logger.Warn("frame: the client complains", "peer", c.l.peer, "err", why)
	}
}

func (c *serverConn) ended(why *Error) {
	if why.Kind == Unresponsive {
		c.l.o.Logger.Warn("frame: the connection is given up", "err", why)
	}
}

func (c *serverConn) closed() {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.links, c.l)
	if s.empty != nil && len(s.links) == 0 {
		close(s.empty)
		s.empty = nil
	}
}

// handlers counts those that run.
type handlers struct {
	running atomic.Int64
	waiting atomic.Pointer[chan struct{}]
}

func (h *handlers) begin() { h.running.Add(1) }

func (h *handlers) end() {
	if h.running.Add(-1) > 0 {
		return
	}
	if c := h.waiting.Load(); c != nil {
		select {
		case *c <- struct{}{}:
		default:
		}
	}
}

func (h *handlers) wait(ctx context.Context) error {
	c := make(chan struct{}, 1)
	h.waiting.Store(&c)
	for h.running.Load() > 0 {
		select {
		case <-c:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
