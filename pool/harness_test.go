package pool

import (
	"strconv"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/engine/reactor"
)

const second = int64(time.Second)

// checker is what *testing.T, *testing.B and *rapid.T have in common.
type checker interface {
	require.TestingT
	Helper()
}

// fakeTimers stands in for a loop: it remembers the deadline, and the test makes time pass.
type fakeTimers struct{ deadline int64 }

func (f *fakeTimers) Arm(_ *reactor.Timer, deadline int64) { f.deadline = deadline }

// posted is a message from one loop to another.
type posted struct {
	loop int
	e    *Endpoint
}

// world is a process of several loops that run one step at a time, with their messages in a queue.
type world struct {
	t        checker
	registry *Registry
	locals   []*Local
	timers   []*fakeTimers
	mail     []posted
	ejected  []*Endpoint // told by loops
	now      int64
}

func newWorld(t checker, loops int) *world {
	w := &world{t: t, registry: NewRegistry(), now: 1000 * second}
	w.registry.clock = func() int64 { return w.now }
	for id := range loops {
		clock := &fakeTimers{}
		l := NewLocal(Options{LoopID: id, Loops: loops, Seed: 7, Post: func(loop int, e *Endpoint) {
			w.mail = append(w.mail, posted{loop, e})
		}, Ejected: func(e *Endpoint) { w.ejected = append(w.ejected, e) }})
		l.timers = clock
		w.timers, w.locals = append(w.timers, clock), append(w.locals, l)
	}
	return w
}

// service makes a service with endpoints of the given weights, as part of a published generation.
func (w *world) service(cfg ServiceConfig, weights ...int) *Service {
	if cfg.Name == "" {
		cfg.Name = "s"
	}
	cfg.State = w.registry.Service(cfg.Name)
	cfg.Secret = "secret of " + cfg.Name
	for i, weight := range weights {
		e, err := w.registry.Endpoint(cfg.Name, "127.0.0.1:"+strconv.Itoa(1000+i), "")
		require.NoError(w.t, err)
		cfg.Members = append(cfg.Members, Member{Endpoint: e, Weight: weight})
	}
	s, err := NewService(cfg)
	require.NoError(w.t, err)
	return s
}

// limited makes a service with one endpoint and the given limits.
func (w *world) limited(limits Limits) (*Service, *Endpoint) {
	s := w.service(ServiceConfig{Limits: limits}, 1)
	return s, s.Members[0].Endpoint
}

// deliver hands over all messages, also those that come of it.
func (w *world) deliver() {
	for len(w.mail) > 0 {
		m := w.mail[0]
		w.mail = w.mail[1:]
		w.locals[m.loop].Wake(m.e, w.now)
	}
}

// pass makes time pass, and fires the timers that fall due on the way.
func (w *world) pass(d time.Duration) {
	end := w.now + int64(d)
	for {
		due, at := -1, end
		for i, clock := range w.timers {
			if clock.deadline != 0 && clock.deadline <= at {
				due, at = i, clock.deadline
			}
		}
		if due < 0 {
			w.now = end
			return
		}
		w.now = max(w.now, at)
		w.timers[due].deadline = 0
		(*sweeper)(w.locals[due]).OnTimer(0, w.now)
	}
}

// client is an exchange in the eyes of the pool, and its connection.
type client struct {
	waiter  Waiter
	local   *Local
	service *Service
	conn    *fakeConn
	granted int
	err     error
	then    func(c *client) // runs inside OnGrant
}

// fakeConn is a connection that only knows whether it is open.
type fakeConn struct {
	Node
	closed  bool
	reasons []CloseReason
	onClose func()
}

func (c *fakeConn) Pooled() *Node { return &c.Node }

func (c *fakeConn) CloseIdle(reason CloseReason) {
	c.closed = true
	c.reasons = append(c.reasons, reason)
	if c.onClose != nil {
		c.onClose()
	}
}

func (w *world) client(loop int, s *Service) *client {
	c := &client{local: w.locals[loop], service: s}
	c.waiter.Init(c)
	return c
}

// get asks for a connection and opens it if there is room.
func (w *world) get(loop int, s *Service, e *Endpoint) (*client, Grant) {
	c := w.client(loop, s)
	conn, grant := c.local.Get(s, e, &c.waiter, w.now)
	switch grant {
	case Idle:
		c.conn = conn.(*fakeConn)
	case Dial:
		c.dial(e, w.now)
	default:
		require.Nil(w.t, conn)
	}
	return c, grant
}

// must is get with the expected answer.
func (w *world) must(want Grant, loop int, s *Service, e *Endpoint) *client {
	w.t.Helper()
	c, grant := w.get(loop, s, e)
	require.Equal(w.t, want, grant)
	return c
}

func (c *client) dial(e *Endpoint, now int64) {
	c.conn = &fakeConn{}
	c.local.Attach(c.conn, c.service, e, now)
}

// OnGrant implements WaiterOwner.
func (c *client) OnGrant(w *Waiter, conn Conn, err error) {
	c.granted++
	c.err = err
	switch {
	case err != nil:
	case conn != nil:
		c.conn = conn.(*fakeConn)
	default:
		c.dial(w.Endpoint(), 0)
	}
	if c.then != nil {
		c.then(c)
	}
}

func (w *world) put(c *client) {
	c.local.Put(c.conn, c.service, w.now)
}
