package frame

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cloudwego/netpoll"
)

// Client calls a service at one address. It connects when it is first used and
// again when a connection has ended. All methods may be called by any goroutine;
// the fields are set before the first call.
type Client struct {
	// Network is "tcp", "tcp4", "tcp6" or "unix".
	Network, Address string
	Options          Options
	// Connections is how many connections the calls take turns on; 0: 1.
	Connections int
	// DialTimeout is how long a connect may take; 0: 5 s.
	DialTimeout time.Duration

	once sync.Once
	o    *Options

	mu     sync.Mutex
	slots  []slot
	next   int
	conns  map[*clientConn]struct{} // those that live, also without a slot
	closed bool
}

// slot is the place of one connection.
type slot struct {
	conn    *clientConn
	dialing *dial
}

// dial is an attempt that all who need it wait for.
type dial struct {
	done chan struct{} // closed at the end
	conn *clientConn
	err  error
}

// Message is a request that a client sends, or its beginning.
type Message struct {
	Call     Call
	Metadata Metadata
	Body     []byte
	// Zstd compresses Body; a stream is not compressed.
	Zstd bool
}

// Response is the whole answer to a call. A status of 400 or more is no error.
type Response struct {
	Status             int
	Metadata, Trailers Metadata
	Body               []byte
}

// attempts is how often a call is made that nobody has looked at.
const attempts = 3

// Call makes a call and waits for the whole response. What the peer has not looked
// at, since it goes away, is repeated on a new connection. The time that ctx
// leaves is told to the service; when ctx ends, the call is cancelled. An error is
// an *Error.
func (c *Client) Call(ctx context.Context, m *Message) (*Response, error) {
	for n := 1; ; n++ {
		r, err := c.call(ctx, m)
		if err == nil || n == attempts || !errors.Is(err, &Error{Kind: GoneAway}) {
			return r, err
		}
	}
}

func (c *Client) call(ctx context.Context, m *Message) (*Response, error) {
	x, err := c.open(ctx, m, false, true)
	if err != nil {
		return nil, err
	}
	if err = x.awaitHead(ctx); err == nil {
		x.response.Body, err = x.body.Bytes()
	}
	x.close(err)
	if err != nil {
		return nil, err
	}
	x.response.Trailers = x.body.Trailers()
	return &x.response, nil
}

// OneWay sends a request that wants no response. Without an error it was handed
// to the connection; nobody says whether it arrived.
func (c *Client) OneWay(ctx context.Context, m *Message) error {
	for n := 1; ; n++ {
		x, err := c.open(ctx, m, true, true)
		if err == nil {
			x.close(nil)
			return nil
		}
		if n == attempts || !errors.Is(err, &Error{Kind: GoneAway}) {
			return err
		}
	}
}

// Stream begins a call whose body is written and whose response is read piece by
// piece. m.Body is the first piece. When ctx ends, the call is cancelled. The
// stream must be closed.
func (c *Client) Stream(ctx context.Context, m *Message) (*Stream, error) {
	x, err := c.open(ctx, m, false, false)
	if err != nil {
		return nil, err
	}
	return &Stream{x: x, ctx: ctx}, nil
}

// Close closes the connections. Calls that are under way fail.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	var conns []*clientConn
	for conn := range c.conns {
		conns = append(conns, conn)
	}
	c.mu.Unlock()
	for _, conn := range conns {
		conn.l.fail(&Error{Kind: Closed, Peer: conn.l.peer})
	}
	return nil
}

func (c *Client) prepare() {
	c.o = c.Options.withDefaults()
	orDefault(&c.Connections, 1)
	orDefault(&c.DialTimeout, 5*time.Second)
	c.slots = make([]slot, c.Connections)
	c.conns = map[*clientConn]struct{}{}
}

// conn returns the connection whose turn it is, made if need be.
func (c *Client) conn(ctx context.Context) (*clientConn, error) {
	c.once.Do(c.prepare)
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, &Error{Kind: Closed, Peer: c.Address}
	}
	s := &c.slots[c.next]
	c.next = (c.next + 1) % len(c.slots)
	if s.conn != nil {
		defer c.mu.Unlock()
		return s.conn, nil
	}
	if s.dialing == nil {
		s.dialing = &dial{done: make(chan struct{})}
		go c.dial(s, s.dialing)
	}
	d := s.dialing
	c.mu.Unlock()
	select {
	case <-d.done:
		return d.conn, d.err
	case <-ctx.Done():
		return nil, &Error{Kind: Expired, Peer: c.Address, Err: ctx.Err()}
	}
}

// dial fills a slot.
func (c *Client) dial(s *slot, d *dial) {
	defer close(d.done)
	nc, err := netpoll.DialConnection(c.Network, c.Address, c.DialTimeout)
	c.mu.Lock()
	s.dialing = nil
	if err != nil {
		d.err = &Error{Kind: Unreachable, Peer: c.Address, Err: err}
		c.mu.Unlock()
		return
	}
	conn := &clientConn{client: c, slot: s}
	conn.l = newLink(nc, c.o, conn)
	closed := c.closed
	if !closed {
		d.conn, s.conn = conn, conn
		c.conns[conn] = struct{}{}
	}
	c.mu.Unlock()
	_ = nc.SetOnRequest(func(_ context.Context, nc netpoll.Connection) error {
		conn.l.onRequest(nc)
		return nil
	})
	if !nc.IsActive() {
		// It ended before netpoll knew whom to tell.
		conn.l.end(conn.l.disconnected())
		_ = nc.Close()
	}
	if closed {
		d.err = &Error{Kind: Closed, Peer: c.Address}
		conn.l.fail(&Error{Kind: Closed, Peer: c.Address})
	}
}

// leave takes a connection out of its slot: new calls get another.
func (c *Client) leave(conn *clientConn, ended bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if conn.slot.conn == conn {
		conn.slot.conn = nil
	}
	if ended {
		delete(c.conns, conn)
	}
}
