package reactor

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDeferRunsAfterTheCallback(t *testing.T) {
	l := start(t, Options{CPU: -1})
	var order []string
	turns := map[uint64]bool{}
	note := func(s string) { order = append(order, s); turns[l.turn] = true }
	do(t, l, func() {
		second := &Deferred{Run: func(int64) { note("second") }}
		first := &Deferred{Run: func(now int64) {
			require.Equal(t, l.Now(), now)
			note("first")
			l.Defer(second)
		}}
		l.Defer(first)
		l.Defer(first)
		note("callback")
	})
	do(t, l, func() {
		require.Equal(t, []string{"callback", "first", "second"}, order)
		require.Len(t, turns, 1, "in the same turn")
	})
}

// Work that defers itself without end must not stop the loop.
func TestEndlessDeferLetsOthersRun(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		l, s := start(t, o), newScript()
		_, peer := pair(t, l, s, nil)
		stop := false
		d := &Deferred{}
		d.Run = func(int64) {
			if !stop {
				l.Defer(d)
			}
		}
		do(t, l, func() { l.Defer(d) })
		peer.send("x")
		require.Equal(t, "data x", s.next(t))
		do(t, l, func() { stop = true })
	})
}

func TestClocks(t *testing.T) {
	l := start(t, Options{ID: 7, CPU: -1})
	before := Monotonic()
	do(t, l, func() {
		require.GreaterOrEqual(t, l.Now(), before)
		require.InDelta(t, time.Now().UnixNano(), l.Wall(), float64(patience))
		require.Equal(t, 7, l.ID())
		require.GreaterOrEqual(t, l.CPUTime(), time.Duration(0))
		require.Equal(t, l.Now(), l.LastTurn())
		require.False(t, l.Waiting())
	})
	for !l.Waiting() { // an idle loop says so to a watchdog
		runtime.Gosched()
	}
	require.GreaterOrEqual(t, l.LastTurn(), before)
}

func TestTurnAndTickCallbacks(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		ticks := make(chan int64, 16)
		turns := 0
		o.OnTurn = func(l *Loop, now int64) { turns++ }
		o.OnTick = func(l *Loop, now int64) { ticks <- now }
		l := start(t, o)
		do(t, l, func() { l.tickAt = l.Now() })
		await(t, ticks, "the tick of a turn with work")
		do(t, l, func() { require.Positive(t, turns); l.tickAt = l.Now() + 1 })
		await(t, ticks, "the tick that follows the last work")
	})
}

func TestPinning(t *testing.T) {
	cpus := CPUs()
	if len(cpus) == 0 {
		return // the system has no affinity
	}
	forPollers(t, func(t *testing.T, o Options) {
		o.CPU = cpus[len(cpus)-1]
		l := start(t, o)
		do(t, l, func() { require.Equal(t, []int{o.CPU}, CPUs()) })
		require.Equal(t, cpus, CPUs(), "other threads are not touched")
	})
	l, err := NewLoop(Options{CPU: maxCPU})
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- l.Run() }()
	require.ErrorContains(t, await(t, done, "Run to return"), "pin to CPU 4095")
	require.False(t, l.Post(&Task{}))
}

func TestSlots(t *testing.T) {
	var s slots
	n, token := s.take()
	require.Nil(t, s.find(token), "empty")
	c := &Conn{}
	s.all[n].conn = c
	require.Same(t, c, s.find(token).conn)
	require.Equal(t, []*Conn{c}, s.conns())
	s.give(n)
	require.Nil(t, s.find(token))
	again, fresh := s.take()
	require.Equal(t, n, again)
	require.NotEqual(t, token, fresh)
	s.all[again].conn = &Conn{}
	require.Nil(t, s.find(token), "an event from before finds nobody")
	require.Nil(t, s.find(tokenWake))
	s.all[again].gen = 0x7fffffff
	s.give(again)
	require.Zero(t, s.all[again].gen)
}
