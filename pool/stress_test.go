package pool

// style: mutex, channel, go statement, time allowed: a test of loops that truly run at once, with a deadline against hanging

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// mailbox is what a loop's mailbox does: any goroutine puts, the loop takes and sleeps when there is nothing.
type mailbox struct {
	mu     sync.Mutex
	filled sync.Cond
	mail   []*Endpoint
	closed bool
}

func newMailbox() *mailbox {
	m := &mailbox{}
	m.filled.L = &m.mu
	return m
}

func (m *mailbox) put(e *Endpoint) {
	m.mu.Lock()
	m.mail = append(m.mail, e)
	m.mu.Unlock()
	m.filled.Signal()
}

func (m *mailbox) close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.filled.Signal()
}

// take returns what has arrived; with wait it sleeps for it. False: closed.
func (m *mailbox) take(wait bool) ([]*Endpoint, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for wait && len(m.mail) == 0 && !m.closed {
		m.filled.Wait()
	}
	mail := m.mail
	m.mail = nil
	return mail, !m.closed
}

// hammer is a process of loops on goroutines of their own, all after the few connections of one endpoint.
type hammer struct {
	t       *testing.T
	service *Service
	limit   int64
	boxes   []*mailbox
	open    atomic.Int64 // connections, as the origin would count them
	most    atomic.Int64
	left    atomic.Int64 // exchanges still to do
	done    chan struct{}
}

type hammerConn struct {
	Node
	h *hammer
}

func (c *hammerConn) Pooled() *Node         { return &c.Node }
func (c *hammerConn) CloseIdle(CloseReason) { c.h.open.Add(-1) }

// hammerLoop is one of them.
type hammerLoop struct {
	h      *hammer
	local  *Local
	random *rand.Rand
	free   []*hammerClient // will ask
	busy   []*hammerClient // hold a connection
}

type hammerClient struct {
	loop   *hammerLoop
	waiter Waiter
	conn   *hammerConn
}

// OnGrant implements WaiterOwner.
func (c *hammerClient) OnGrant(_ *Waiter, conn Conn, err error) {
	if err != nil {
		panic(err)
	}
	c.got(conn)
}

func (c *hammerClient) got(conn Conn) {
	l, h := c.loop, c.loop.h
	e := h.service.Members[0].Endpoint
	if conn == nil {
		if l.random.IntN(16) == 0 {
			l.free = append(l.free, c)
			l.local.DialFailed(e)
			return
		}
		c.conn = &hammerConn{h: h}
		n := h.open.Add(1)
		for most := h.most.Load(); n > most && !h.most.CompareAndSwap(most, n); most = h.most.Load() {
		}
		l.local.Attach(c.conn, h.service, e, 0)
	} else {
		c.conn = conn.(*hammerConn)
	}
	l.busy = append(l.busy, c)
}

func (l *hammerLoop) ask() {
	c := l.free[len(l.free)-1]
	l.free = l.free[:len(l.free)-1]
	switch conn, grant := l.local.Get(l.h.service, l.h.service.Members[0].Endpoint, &c.waiter, 0); grant {
	case Idle, Dial:
		c.got(conn)
	case Exhausted:
		l.free = append(l.free, c)
	case Queued:
		if l.random.IntN(16) == 0 {
			l.local.Cancel(&c.waiter)
			l.free = append(l.free, c)
		}
	}
}

func (l *hammerLoop) finish() {
	c := l.busy[len(l.busy)-1]
	l.busy = l.busy[:len(l.busy)-1]
	l.free = append(l.free, c)
	if l.h.left.Add(-1) == 0 {
		close(l.h.done)
	}
	if l.random.IntN(16) == 0 {
		l.h.open.Add(-1)
		l.local.Remove(c.conn)
		return
	}
	l.local.Put(c.conn, l.h.service, 0)
}

// run is the loop: it asks and finishes at random, and sleeps when all its exchanges wait.
func (l *hammerLoop) run(box *mailbox) {
	for {
		over := l.h.left.Load() <= 0
		idle := len(l.busy) == 0 && (len(l.free) == 0 || over)
		mail, ok := box.take(idle)
		if !ok {
			return
		}
		for _, e := range mail {
			l.local.Wake(e, 0)
		}
		if len(l.busy) > 0 && (len(l.free) == 0 || over || l.random.IntN(2) == 0) {
			l.finish()
		} else if len(l.free) > 0 && !over {
			l.ask()
		}
	}
}

func TestLoopsHammerOneEndpoint(t *testing.T) {
	for _, tt := range []struct{ loops, connections, clients, waiting int }{
		{2, 1, 1, 0}, {2, 1, 3, 0}, {4, 3, 5, 0}, {4, 2, 6, 7}, {3, 10, 4, 0},
	} {
		h := newHammer(t, tt.loops, tt.connections, tt.waiting, 8000)
		var running sync.WaitGroup
		for id, box := range h.boxes {
			l := h.loop(id, tt.clients)
			running.Go(func() { l.run(box) })
		}
		select {
		case <-h.done:
		case <-time.After(time.Minute):
			t.Error("somebody waits although there is room")
		}
		for _, box := range h.boxes {
			box.close()
		}
		running.Wait()
		require.LessOrEqual(t, h.most.Load(), h.limit, "%+v", tt)
		require.Equal(t, h.open.Load(), h.service.Members[0].Endpoint.Conns(), "%+v", tt)
	}
}

func newHammer(t *testing.T, loops, connections, waiting int, exchanges int64) *hammer {
	w := newWorld(t, 0)
	s, _ := w.limited(Limits{MaxConnections: connections, MaxWaiting: waiting})
	h := &hammer{t: t, service: s, limit: int64(connections), done: make(chan struct{})}
	h.left.Store(exchanges)
	for range loops {
		h.boxes = append(h.boxes, newMailbox())
	}
	return h
}

func (h *hammer) loop(id, clients int) *hammerLoop {
	l := &hammerLoop{h: h, random: rand.New(rand.NewPCG(1, uint64(id)))}
	l.local = NewLocal(Options{LoopID: id, Loops: len(h.boxes), Post: func(loop int, e *Endpoint) { h.boxes[loop].put(e) }})
	l.local.timers = &fakeTimers{}
	for range clients {
		c := &hammerClient{loop: l}
		c.waiter.Init(c)
		l.free = append(l.free, c)
	}
	return l
}
