package engine

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/pool"
)

// opened waits until no endpoint is being opened.
func (g *gateway) opened() {
	g.t.Helper()
	require.Eventually(g.t, func() bool { return g.server.Passed() > 0 && g.server.Opening() == nil }, patience, time.Millisecond)
}

// perLoop returns the connections to upstreams of each loop.
func (g *gateway) perLoop() []int {
	g.t.Helper()
	q := g.server.AskLanes()
	require.Eventually(g.t, q.Complete, patience, time.Millisecond)
	open := make([]int, len(g.server.workers))
	q.Each(func(loop int, lanes []pool.LaneStats) {
		for _, l := range lanes {
			open[loop] += l.Idle + l.Busy
		}
	})
	return open
}

func TestConnectionsAreOpenBeforeTheFirstRequest(t *testing.T) {
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.options.Loops = 2
	s.limits.MinIdle = 3
	g := s.start(t)
	g.opened()
	require.Equal(t, []int{2, 1}, g.perLoop(), "the first loops take what is left over")
	conns := []*peer{o.accept(), o.accept(), o.accept()}
	c := g.dial().get("/")
	answered := make(chan struct{})
	for _, up := range conns {
		go func() {
			if _, err := http.ReadRequest(up.in); err == nil {
				up.send(ok)
				close(answered)
			}
		}()
	}
	c.expect(200, "ok")
	<-answered
	require.Equal(t, []int{2, 1}, g.perLoop(), "no other was dialled")
	for _, up := range conns {
		up.close()
	}
}

func TestEndpointThatCannotBeOpened(t *testing.T) {
	silent := fillBacklog(t, newOrigin(t))
	for name, address := range map[string]string{"refuses": refusing(t), "is silent": silent} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t).serve(echoOK)
			s := newSetup(o.addr, address)
			s.limits.MinIdle, s.connect = 2, 20*time.Millisecond
			g := s.start(t)
			g.opened()
			require.Equal(t, []int{2}, g.perLoop())
			for range 4 {
				g.dial().get("/").expect(200, "ok") // requests fail over
			}
		})
	}
}

func TestConnectTimeoutThatIsOffDoesNotKeepAnEndpointOpening(t *testing.T) {
	s := newSetup(refusing(t))
	s.limits.MinIdle, s.connect = 1, 0
	s.start(t).opened()
}

// TestNewEndpointGetsNoTrafficBeforeItIsOpen: the one that is added does not
// answer for as long as the test goes on.
func TestNewEndpointGetsNoTrafficBeforeItIsOpen(t *testing.T) {
	o := newOrigin(t).serve(echoOK)
	s := newSetup(o.addr)
	s.limits.MinIdle, s.balance = 1, pool.RoundRobin
	g := s.start(t)
	g.opened()
	s.endpoints = append(s.endpoints, fillBacklog(t, newOrigin(t)))
	g.server.Publish(g.compile(2))
	require.Eventually(t, func() bool { return g.server.Passed() == 2 }, patience, time.Millisecond)
	require.Equal(t, s.endpoints[1], g.server.Opening().Address())
	c := g.dial()
	for range 10 {
		c.get("/").expect(200, "ok")
		require.Contains(t, g.records.next(t), o.addr)
	}
	s.endpoints = s.endpoints[:1] // it goes, and is not waited for
	g.server.Publish(g.compile(3))
	require.Eventually(t, func() bool { return g.server.Passed() == 3 }, patience, time.Millisecond)
	require.Nil(t, g.server.Opening())
}

func TestClosedConnectionsAreReplaced(t *testing.T) {
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.limits.MinIdle, s.limits.MaxConnections = 2, 2
	g := s.start(t)
	g.opened()
	first, second := o.accept(), o.accept()
	first.close()
	second.close()
	third, fourth := o.accept(), o.accept()
	require.LessOrEqual(t, g.stats().Pool.Dialed, uint64(4))
	c := g.dial().get("/")
	fourth.requestOf(third).send(ok)
	c.expect(200, "ok")
}

// requestOf reads a request from whichever of two connections has one.
func (p *peer) requestOf(other *peer) *peer {
	p.t.Helper()
	got := make(chan *peer, 2)
	for _, up := range []*peer{p, other} {
		go func() {
			if _, err := http.ReadRequest(up.in); err == nil {
				got <- up
			}
		}()
	}
	up := <-got
	p.t.Cleanup(func() { p.close(); other.close() })
	return up
}

func TestMinIdleFollowsTheConfiguration(t *testing.T) {
	o, next := newOrigin(t), newOrigin(t)
	s := newSetup(o.addr)
	s.limits.MinIdle = 1
	g := s.start(t)
	g.opened()
	up := o.accept()
	s.endpoints, s.limits.MinIdle = []string{next.addr}, 2
	g.server.Publish(g.compile(2))
	up.expectCut() // a retired endpoint keeps nothing
	next.accept()
	next.accept()
	g.opened()
	s.limits.MinIdle = 0
	g.server.Publish(g.compile(3))
	require.Eventually(t, func() bool { return g.server.Passed() == 3 }, patience, time.Millisecond)
	require.Empty(t, g.server.kept)
	on(g, func(w *worker) {
		require.Empty(t, w.keeper.all)
		w.keeper.OnTimer(0, 0) // one that was on its way
		require.False(t, w.keeper.clock.Armed())
	})
}

// on runs fn on the first loop.
func on(g *gateway, fn func(w *worker)) {
	g.t.Helper()
	w, done := g.server.workers[0], make(chan struct{})
	require.True(g.t, w.loop.Post(&reactor.Task{Run: func(*reactor.Loop) { defer close(done); fn(w) }}))
	<-done
}

// TestKeeperPaces looks at what a loop plans after dials that fail, without
// waiting for it.
func TestKeeperPaces(t *testing.T) {
	s := newSetup(refusing(t))
	s.limits.MinIdle = 200
	s.limits.MaxConnections = 0
	g := s.start(t)
	g.opened()
	on(g, func(w *worker) {
		c := w.keeper.all[0]
		c.pause = 0
		require.LessOrEqual(t, c.open(dialsPerRound), 1, "once it was opened, one a round")
	})
	require.Eventually(t, func() bool {
		settled := false
		on(g, func(w *worker) { settled = w.keeper.all[0].dialling == 0 })
		return settled
	}, patience, time.Millisecond)
	on(g, func(w *worker) {
		c := w.keeper.all[0]
		require.Greater(t, c.pause, w.loop.Now())
		require.Zero(t, c.open(dialsPerRound), "a pause is kept")
		for range 10 {
			c.failed = true
			c.settle()
		}
		require.LessOrEqual(t, c.pause, w.loop.Now()+maxKeepPause)
		w.beginDrain()
		w.keeper.round()
		require.False(t, w.keeper.clock.Armed(), "a node that ends opens nothing")
	})
}

func TestKeeperStopsAtTheLimit(t *testing.T) {
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.limits.MinIdle, s.limits.MaxConnections = 1, 1
	s.options.Loops = 2
	g := s.start(t)
	g.opened()
	o.accept()
	on(g, func(w *worker) {
		c := w.keeper.all[0]
		c.share, c.opened = 2, false
		require.Zero(t, c.open(dialsPerRound))
		require.True(t, c.opened, "what others have taken is not waited for")
		require.EqualValues(t, 1, c.ep.Conns())
	})
}

func TestReclaimForgetsWhatEndsLater(t *testing.T) {
	o, next := newOrigin(t), newOrigin(t)
	s := newSetup(o.addr)
	g := s.start(t)
	c := g.dial().get("/")
	up := o.accept()
	up.request()
	s.endpoints = []string{next.addr}
	g.server.Publish(g.compile(2))
	require.Eventually(t, func() bool { return g.server.Passed() == 2 }, patience, time.Millisecond)
	g.server.Reclaim()
	require.Len(t, g.registry.Endpoints(), 2, "it still has a connection")
	up.send(ok)
	c.expect(200, "ok")
	up.expectCut()
	g.stats()
	g.server.Reclaim()
	require.Len(t, g.registry.Endpoints(), 1)
}
