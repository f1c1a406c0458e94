package pool

// style: channel, go statement, time allowed: a test with real loops, with a deadline against hanging

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/corelane/corelane/engine/reactor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of these tests; one that reaches it has failed.
const patience = 20 * time.Second

func await[T any](t *testing.T, ch <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		require.FailNow(t, "waited in vain for "+what)
		panic("unreachable")
	}
}

// realLoops runs loops with a Local each until the test ends.
func realLoops(t *testing.T, n int) ([]*reactor.Loop, []*Local) {
	loops, locals := make([]*reactor.Loop, n), make([]*Local, n)
	for id := range n {
		l, err := reactor.NewLoop(reactor.Options{ID: id, CPU: -1})
		require.NoError(t, err)
		loops[id] = l
		locals[id] = NewLocal(Options{Loop: l, LoopID: id, Loops: n, Post: func(loop int, e *Endpoint) {
			loops[loop].Post(&reactor.Task{Run: func(l *reactor.Loop) { locals[loop].Wake(e, l.Now()) }})
		}})
	}
	for _, l := range loops {
		done := make(chan error, 1)
		go func() { done <- l.Run() }()
		t.Cleanup(func() {
			l.Stop()
			require.NoError(t, await(t, done, "the loop to end"))
		})
	}
	return loops, locals
}

// on runs fn on a loop and waits for it.
func on(t *testing.T, l *reactor.Loop, fn func()) {
	t.Helper()
	done := make(chan struct{})
	require.True(t, l.Post(&reactor.Task{Run: func(*reactor.Loop) { defer close(done); fn() }}))
	await(t, done, "a task")
}

func TestRealLoops(t *testing.T) {
	loops, locals := realLoops(t, 2)
	w := newWorld(t, 0)
	limits := Limits{MaxConnections: 1, Wait: 10 * time.Millisecond, Idle: 10 * time.Millisecond}
	impatient, e := w.limited(limits)
	limits.Wait = 0
	patient, _ := w.limited(limits)
	clients := make([]*client, 2)
	for id := range clients {
		clients[id] = &client{local: locals[id], service: patient}
		clients[id].waiter.Init(clients[id])
	}
	on(t, loops[0], func() {
		_, grant := locals[0].Get(patient, e, &clients[0].waiter, loops[0].Now())
		assert.Equal(t, Dial, grant)
		clients[0].dial(e, loops[0].Now())
	})

	ended := make(chan error, 2)
	clients[1].then = func(c *client) { ended <- c.err }
	ask := func(s *Service) {
		on(t, loops[1], func() {
			_, grant := locals[1].Get(s, e, &clients[1].waiter, loops[1].Now())
			assert.Equal(t, Queued, grant)
		})
	}
	ask(impatient)
	require.ErrorIs(t, await(t, ended, "the deadline"), ErrPoolExhausted)

	ask(patient)
	on(t, loops[0], func() { locals[0].Put(clients[0].conn, patient, loops[0].Now()) })
	require.NoError(t, await(t, ended, "the grant from the other loop"))

	closed := make(chan struct{})
	on(t, loops[1], func() {
		clients[1].conn.onClose = func() { close(closed) }
		locals[1].Put(clients[1].conn, patient, loops[1].Now())
	})
	await(t, closed, "the idle connection to expire")
	on(t, loops[1], func() { assert.Zero(t, e.Conns()) })
}
