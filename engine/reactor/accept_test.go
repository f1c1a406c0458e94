package reactor

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHandoffDecision(t *testing.T) {
	for name, tc := range map[string]struct {
		live     []int64 // of loops; the first accepts
		draining int     // 0: none
		want     int
	}{
		"balanced":                       {[]int64{4, 4}, 0, 0},
		"one more is no reason":          {[]int64{1, 1}, 0, 0},
		"five and three would be uneven": {[]int64{4, 3}, 0, 1},
		"exactly 1.25 times the mean":    {[]int64{9, 7}, 0, 0},
		"over the mean":                  {[]int64{5, 3}, 0, 1},
		"first connection stays":         {[]int64{0, 0}, 0, 0},
		"second goes to the other":       {[]int64{1, 0}, 0, 1},
		"least of three":                 {[]int64{9, 3, 2}, 0, 2},
		"draining loops are spared":      {[]int64{9, 3, 2}, 2, 1},
		"two more but under the margin":  {[]int64{100, 99, 98}, 0, 0},
		"alone":                          {[]int64{100}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := &service{}
			for i, n := range tc.live {
				l := &Loop{}
				l.live.Store(n)
				l.SetDraining(tc.draining != 0 && i == tc.draining)
				s.loops = append(s.loops, l)
			}
			a := &acceptor{listener: &Listener{handoff: true}, service: s, loop: s.loops[0]}
			require.Same(t, s.loops[tc.want], a.target())
			a.listener.handoff = false
			require.Same(t, s.loops[0], a.target())
		})
	}
}

// A unix socket has one acceptor, so its connections must be handed on.
func TestHandoffOverUnixSocket(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		a, b := start(t, o), start(t, o)
		ln, err := Listen(ListenOptions{Address: "unix:" + filepath.Join(t.TempDir(), "s.sock"), Loops: 2})
		require.NoError(t, err)
		owners := make(chan *Loop, 8)
		ln.Serve([]*Loop{a, b}, nil, func(c *Conn) Handler { owners <- c.Loop(); return echo{} })
		var conns []*Conn
		s := newScript()
		for range 8 {
			conns = append(conns, dialed(t, a, s, ln.Address()))
		}
		count := map[*Loop]int{}
		for range 8 {
			count[await(t, owners, "an owner")]++
		}
		require.Equal(t, map[*Loop]int{a: 4, b: 4}, count)
		do(t, a, func() {
			require.Equal(t, uint64(8), a.Stats().Accepts)
			require.Equal(t, uint64(4), a.Stats().HandoffsOut)
		})
		do(t, b, func() { require.Equal(t, uint64(4), b.Stats().HandoffsIn) })
		for _, c := range conns {
			do(t, a, c.Close)
		}
		for a.Live()+b.Live() > 0 {
			quiet(t, b)
		}
	})
}

func TestHandoffToStoppedLoopStays(t *testing.T) {
	a := start(t, Options{CPU: -1})
	ended, err := NewLoop(Options{CPU: -1})
	require.NoError(t, err)
	ended.Stop()
	require.NoError(t, ended.Run())
	ended.stopped.Store(false) // as if it stopped between the decision and the hand-over
	ln, err := Listen(ListenOptions{Address: "127.0.0.1:0", Loops: 1})
	require.NoError(t, err)
	ln.Serve([]*Loop{a, ended}, nil, func(*Conn) Handler { return echo{} })
	for range 4 {
		c := dial(t, ln.Address())
		c.send("x")
		c.expect("x")
	}
	require.Equal(t, int64(4), a.Live())
	require.Zero(t, ended.Live())
}

func TestHandoffToEndingLoopIsClosed(t *testing.T) {
	l := start(t, Options{CPU: -1})
	limit := NewLimit(0)
	ln, address := serve(t, func(*Conn) Handler { return echo{} }, l)
	defer ln.StopAccepting()
	c := dial(t, address)
	c.send("x")
	c.expect("x")
	ended, err := NewLoop(Options{CPU: -1})
	require.NoError(t, err)
	_, fd := socketpair(t)
	require.True(t, limit.acquire())
	h := &arrival{acceptor: &acceptor{listener: ln, service: &service{limit: limit}}, fd: fd}
	h.task.Run = h.handedOff
	ended.live.Add(1)
	require.True(t, ended.Post(&h.task))
	ended.Stop()
	// The task is run on the way out, or before.
	ended.ended = true
	require.NoError(t, ended.Run())
	require.Zero(t, ended.Live())
	require.Zero(t, limit.Count())
}

func TestLimitIsExact(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		a, b := start(t, o), start(t, o)
		limit := NewLimit(2)
		ln, err := Listen(ListenOptions{Address: "127.0.0.1:0", Loops: 2})
		require.NoError(t, err)
		ln.Serve([]*Loop{a, b}, limit, func(*Conn) Handler { return echo{} })
		var held []*client
		for range 2 {
			c := dial(t, ln.Address())
			c.send("x")
			c.expect("x")
			held = append(held, c)
		}
		require.Equal(t, 2, limit.Count())
		over := dial(t, ln.Address())
		over.expectEOF()
		require.NoError(t, held[0].Close())
		for limit.Count() == 2 {
			quiet(t, a)
			quiet(t, b)
		}
		c := dial(t, ln.Address())
		c.send("again")
		c.expect("again")
		refused := uint64(0)
		for _, l := range []*Loop{a, b} {
			do(t, l, func() { refused += l.Stats().Refused })
		}
		require.Equal(t, uint64(1), refused)
	})
}

// A listener's own limit holds besides that of the process, and can change.
func TestListenerLimit(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		a, b := start(t, o), start(t, o)
		process := NewLimit(3)
		listeners := make([]*Listener, 2)
		for i := range listeners {
			ln, err := Listen(ListenOptions{Address: "127.0.0.1:0", Loops: 2})
			require.NoError(t, err)
			ln.Serve([]*Loop{a, b}, process, func(*Conn) Handler { return echo{} })
			listeners[i] = ln
		}
		bounded, other := listeners[0], listeners[1]
		bounded.Limit().SetMax(1)
		first := served(t, bounded.Address())
		dial(t, bounded.Address()).expectEOF()
		served(t, other.Address())
		require.Equal(t, []int{1, 1, 2}, []int{bounded.Limit().Count(), other.Limit().Count(), process.Count()})
		require.Equal(t, []uint64{1, 0, 0}, []uint64{bounded.Limit().Refused(), other.Limit().Refused(), process.Refused()})

		bounded.Limit().SetMax(0)
		served(t, bounded.Address())
		dial(t, bounded.Address()).expectEOF() // the process is full
		require.Equal(t, 2, bounded.Limit().Count(), "the place was given back")
		require.Equal(t, uint64(1), process.Refused())

		bounded.Limit().SetMax(1) // those above it stay
		first.send("still here")
		first.expect("still here")
		require.NoError(t, first.Close())
		for bounded.Limit().Count() == 2 {
			quiet(t, a)
			quiet(t, b)
		}
	})
}

// served is a client that has been accepted.
func served(t *testing.T, address string) *client {
	t.Helper()
	c := dial(t, address)
	c.send("x")
	c.expect("x")
	return c
}

func TestAcceptWithoutHandlerCloses(t *testing.T) {
	l := start(t, Options{CPU: -1})
	_, address := serve(t, func(*Conn) Handler { return nil }, l)
	dial(t, address).expectEOF()
	for l.Live() > 0 {
		quiet(t, l)
	}
}

// Accepting rests after a failure, and goes on when the timer fires.
func TestAcceptBackoffDoubles(t *testing.T) {
	l, err := NewLoop(Options{CPU: -1})
	require.NoError(t, err)
	defer func() { l.Stop(); require.NoError(t, l.Run()) }()
	a := &acceptor{loop: l, fd: -1, ready: true}
	a.timer.Init(a, 0)
	for want := backoffFirst; want < backoffLimit; want *= 2 {
		a.accept() // EBADF
		require.True(t, a.held)
		require.Equal(t, want, a.backoff)
		require.Equal(t, l.now+want, a.timer.Deadline())
		a.OnTimer(0, 0)
		require.False(t, a.held)
	}
	a.accept()
	require.Equal(t, backoffLimit, a.backoff)
	l.Forget(&a.timer)
}
