package pool

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPickDoesNotAllocate(t *testing.T) {
	for _, balance := range everyBalance {
		for _, weights := range [][]int{{1}, {1, 1, 1}, {3, 2, 1, 0}} {
			w := newWorld(t, 1)
			s := w.service(ServiceConfig{Balance: balance, Passive: ejecting}, weights...)
			if len(weights) > 1 {
				w.eject(s, 1)
			}
			var tried Tried
			pick := func() {
				tried.Reset()
				for range 3 {
					e, _ := w.locals[0].Pick(s, Key{}, &tried, w.now)
					tried.Add(e)
					w.locals[0].Start(s, e)
					w.locals[0].Done(s, e, Reset, w.now)
					w.locals[0].Done(s, e, Success, w.now)
				}
			}
			pick()
			assert.Zero(t, testing.AllocsPerRun(200, pick), "%v %v", balance, weights)
		}
	}
}

func TestBorrowingDoesNotAllocate(t *testing.T) {
	w := newWorld(t, 2)
	s, e := w.limited(Limits{MaxConnections: 1, MaxWaiting: 10, Wait: time.Second, Idle: time.Minute, MaxAge: time.Hour})
	a, b := w.must(Dial, 0, s, e), w.client(0, s)
	w.put(a)
	w.mail = make([]posted, 0, 8)
	first := w.locals[0]
	assert.Zero(t, testing.AllocsPerRun(200, func() { // lend and give back
		c, _ := first.Get(s, e, &a.waiter, w.now)
		first.Put(c, s, w.now)
	}))
	assert.Zero(t, testing.AllocsPerRun(200, func() { // hand over to a waiter
		c, _ := first.Get(s, e, &a.waiter, w.now)
		_, grant := first.Get(s, e, &b.waiter, w.now)
		require.Equal(t, Queued, grant)
		first.Put(c, s, w.now)
		first.Put(b.conn, s, w.now)
	}))
	assert.Zero(t, testing.AllocsPerRun(200, func() { // wait, leave; wait, expire
		c, _ := first.Get(s, e, &a.waiter, w.now)
		first.Get(s, e, &b.waiter, w.now)
		first.Cancel(&b.waiter)
		first.Get(s, e, &b.waiter, w.now)
		w.pass(time.Second)
		first.Put(c, s, w.now)
	}))
}

func TestChangingLoopsDoesNotAllocate(t *testing.T) {
	w := newWorld(t, 2)
	s, e := w.limited(Limits{MaxConnections: 1})
	w.mail = make([]posted, 0, 8)
	conns := [2]*fakeConn{{reasons: make([]CloseReason, 0, 4096)}, {reasons: make([]CloseReason, 0, 4096)}}
	a := w.client(1, s)
	swap := func() {
		_, grant := w.locals[0].Get(s, e, &a.waiter, w.now)
		require.Equal(t, Dial, grant)
		w.locals[0].Attach(conns[0], s, e, w.now)
		w.locals[1].Get(s, e, &a.waiter, w.now)
		w.locals[0].Put(conns[0], s, w.now) // yields
		if len(w.mail) != 1 {
			t.Error("the waiting loop was not posted")
		}
		w.mail = w.mail[:0]
		w.locals[1].Cancel(&a.waiter)
		w.locals[1].Wake(e, w.now)
	}
	swap()
	assert.Zero(t, testing.AllocsPerRun(200, swap))
}

func TestHealthDoesNotAllocate(t *testing.T) {
	for _, balance := range everyBalance {
		w := newWorld(t, 1)
		s := w.service(ServiceConfig{Balance: balance, Passive: ejecting, Panic: 60, WarmUp: time.Second, SlowStart: time.Minute}, 1, 1, 2)
		s.Members[0].Endpoint.join(true, w.now)
		w.unhealthy(s, 1)
		pick := func() {
			w.now += second
			e, _ := w.locals[0].Pick(s, Key{}, nil, w.now)
			w.locals[0].Start(s, e)
			w.locals[0].Done(s, e, Success, w.now)
		}
		pick()
		assert.Zero(t, testing.AllocsPerRun(200, pick), balance)
		w.unhealthy(s, 0) // in panic
		assert.Zero(t, testing.AllocsPerRun(200, pick), balance)
	}
}
