package pool

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// model drives several loops with random steps, messages delivered at random moments, and checks what must always hold.
type model struct {
	*world
	limits   Limits
	services []*Service
	conns    map[*Endpoint]int64 // at the last check
	active   []int               // the loops that do something
	waiting  [][]*client         // by loop
	lent     [][]*client
	fifo     map[*Endpoint][][]*client // waiters by endpoint and loop, in order
}

func newModel(t *rapid.T, active []int) *model {
	loops := slices.Max(active) + 1
	m := &model{world: newWorld(t, loops), active: active, fifo: map[*Endpoint][][]*client{}, conns: map[*Endpoint]int64{}}
	m.waiting, m.lent = make([][]*client, loops), make([][]*client, loops)
	m.limits = Limits{
		MaxConnections: rapid.IntRange(1, 4).Draw(t, "connections"), MaxWaiting: rapid.IntRange(1, 9).Draw(t, "waiting"),
		Wait: time.Second, Idle: 5 * time.Second, MaxAge: 20 * time.Second,
	}
	m.publish(0)
	for _, s := range m.services {
		m.fifo[s.Members[0].Endpoint] = make([][]*client, loops)
	}
	return m
}

// publish makes a generation with the present limits that lacks the endpoints in the mask, and lets the loops take it up.
func (m *model) publish(without int) {
	m.services = nil
	var inUse []*Endpoint
	for i, name := range []string{"a", "b"} {
		s := m.service(ServiceConfig{Name: name, Limits: m.limits}, 1)
		m.services = append(m.services, s)
		if without>>i&1 == 0 {
			inUse = append(inUse, s.Members[0].Endpoint)
		}
	}
	m.registry.Publish(inUse)
	for _, l := range m.locals {
		l.CloseRetired(m.now)
	}
}

// ask is a new exchange on a loop.
func (m *model) ask(loop int, s *Service) {
	e := s.Members[0].Endpoint
	before := s.State.Waiting()
	c, grant := m.get(loop, s, e)
	switch grant {
	case Exhausted:
		require.EqualValues(m.t, s.Limits.MaxWaiting, before)
	case Queued:
		m.waiting[loop] = append(m.waiting[loop], c)
		m.fifo[e][loop] = append(m.fifo[e][loop], c)
		c.then = func(c *client) { m.granted(loop, e, c) }
	default:
		require.Empty(m.t, m.fifo[e][loop], "overtaken")
		m.lent[loop] = append(m.lent[loop], c)
	}
}

func (m *model) granted(loop int, e *Endpoint, c *client) {
	require.Equal(m.t, 1, c.granted)
	m.forget(loop, e, c)
	if c.err == nil {
		m.lent[loop] = append(m.lent[loop], c)
	}
}

// forget takes c out of the queues; one that was granted a connection must have been the first.
func (m *model) forget(loop int, e *Endpoint, c *client) {
	at := slices.Index(m.fifo[e][loop], c)
	require.GreaterOrEqual(m.t, at, 0)
	if c.granted > 0 && c.err == nil {
		require.Zero(m.t, at, "not the first of its queue")
	}
	m.fifo[e][loop] = slices.Delete(m.fifo[e][loop], at, at+1)
	m.waiting[loop] = slices.DeleteFunc(m.waiting[loop], func(x *client) bool { return x == c })
}

func take(t *rapid.T, from *[]*client) *client {
	if len(*from) == 0 {
		return nil
	}
	at := rapid.IntRange(0, len(*from)-1).Draw(t, "which")
	c := (*from)[at]
	*from = slices.Delete(*from, at, at+1)
	return c
}

func (m *model) step(t *rapid.T) {
	loop := rapid.SampledFrom(m.active).Draw(t, "loop")
	switch rapid.IntRange(0, 11).Draw(t, "op") {
	case 0, 1, 2:
		m.ask(loop, rapid.SampledFrom(m.services).Draw(t, "service"))
	case 3, 4:
		if c := take(t, &m.lent[loop]); c != nil {
			m.put(c)
		}
	case 5:
		if c := take(t, &m.lent[loop]); c != nil {
			c.local.Remove(c.conn)
		}
	case 6:
		if n := len(m.waiting[loop]); n > 0 {
			c := m.waiting[loop][rapid.IntRange(0, n-1).Draw(t, "waiter")]
			c.local.Cancel(&c.waiter)
			m.forget(loop, c.waiter.Endpoint(), c)
		}
	case 7:
		m.pass(time.Duration(rapid.IntRange(1, 900).Draw(t, "ms")) * time.Millisecond)
	case 8:
		m.disturb(t, loop)
	default:
		m.deliverOne(t)
	}
}

// disturb does what happens now and then: another limit, retired endpoints, an endpoint that became unhealthy.
func (m *model) disturb(t *rapid.T, loop int) {
	switch rapid.IntRange(0, 2).Draw(t, "disturbance") {
	case 0:
		m.limits.MaxConnections = rapid.IntRange(0, 4).Draw(t, "connections")
		m.publish(0)
	case 1:
		m.publish(rapid.IntRange(0, 3).Draw(t, "without"))
	default:
		m.locals[loop].CloseIdle(rapid.SampledFrom(m.services).Draw(t, "service").Members[0].Endpoint)
	}
}

// deliverOne delivers any message, since those of different loops may overtake each other.
func (m *model) deliverOne(t *rapid.T) {
	if len(m.mail) == 0 {
		return
	}
	at := rapid.IntRange(0, len(m.mail)-1).Draw(t, "mail")
	msg := m.mail[at]
	m.mail = slices.Delete(m.mail, at, at+1)
	m.locals[msg.loop].Wake(msg.e, m.now)
}

// check holds after each step; settled: all messages are delivered.
func (m *model) check(settled bool) {
	for _, s := range m.services {
		e := s.Members[0].Endpoint
		held, idle, waiting := 0, 0, 0
		for _, l := range m.locals {
			if p := l.known(e); p != nil {
				held += p.busy + p.idle.n
				idle += p.idle.n
				waiting += p.waiters.n
				require.False(m.t, p.idle.n > 0 && p.waiters.n > 0, "idle connections beside waiters")
			}
		}
		require.EqualValues(m.t, held, e.Conns())
		if e.over() {
			require.LessOrEqual(m.t, e.Conns(), m.conns[e], "more connections over the limit")
		}
		m.conns[e] = e.Conns()
		require.EqualValues(m.t, waiting, s.State.Waiting())
		require.LessOrEqual(m.t, waiting, s.Limits.MaxWaiting)
		if settled && waiting > 0 {
			require.False(m.t, e.room(), "a wake-up was lost: room, but somebody waits")
			require.Zero(m.t, idle, "a wake-up was lost: idle connections, but somebody waits")
		}
	}
}

func checkModel(t *testing.T, active ...[]int) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t, rapid.SampledFrom(active).Draw(t, "loops"))
		for range rapid.IntRange(1, 150).Draw(t, "steps") {
			m.step(t)
			m.check(false)
			if rapid.IntRange(0, 9).Draw(t, "settle") == 0 {
				m.deliver()
				m.check(true)
			}
		}
		m.deliver()
		m.check(true)
	})
}

func TestModel(t *testing.T) {
	checkModel(t, []int{0}, []int{0, 1}, []int{0, 1, 2}, []int{0, 1, 2, 3})
}

func TestModelOfSharedBits(t *testing.T) {
	checkModel(t, []int{0, 1, maskBits, maskBits + 1}, []int{0, maskBits})
}
