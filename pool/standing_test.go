package pool

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func (w *world) unhealthy(s *Service, members ...int) {
	for _, i := range members {
		s.Members[i].Endpoint.SetHealth(Unhealthy, w.now)
	}
}

func TestUnhealthyAndDrainingAreNotChosen(t *testing.T) {
	for _, balance := range everyBalance {
		w := newWorld(t, 1)
		s := w.service(ServiceConfig{Balance: balance}, 1, 1, 1)
		a, b := s.Members[0].Endpoint, s.Members[1].Endpoint
		assert.Equal(t, Unknown, a.Health())
		assert.NotContains(t, w.counts(0, s, nil, 300), 0, "what is not known is used")

		assert.Equal(t, Unknown, a.SetHealth(Unhealthy, w.now))
		require.True(t, b.SetDraining(true, w.now))
		assert.Equal(t, []int{0, 0, 50}, w.counts(0, s, nil, 50), balance)
		assert.Equal(t, Unhealthy, a.Health())
		assert.True(t, b.Draining())

		assert.Equal(t, Unhealthy, a.SetHealth(Healthy, w.now))
		assert.NotZero(t, w.counts(0, s, nil, 50)[0], balance)
		require.True(t, b.SetDraining(false, w.now))
		assert.NotContains(t, w.counts(0, s, nil, 300), 0)
	}
}

func TestAllUnhealthyIsNoEndpoint(t *testing.T) {
	for _, balance := range everyBalance {
		for _, weights := range [][]int{{1}, {1, 2}, {1, 1, 1}} {
			w := newWorld(t, 1)
			s := w.service(ServiceConfig{Balance: balance, WarmUp: time.Second, SlowStart: time.Second}, weights...)
			for i := range weights {
				w.unhealthy(s, i)
			}
			_, err := w.locals[0].Pick(s, Key{}, nil, w.now)
			assert.ErrorIs(t, err, ErrNoEndpoint)
		}
	}
}

func TestStandingsDoNotDisturbEachOther(t *testing.T) {
	e := new(Endpoint)
	assert.True(t, e.SetDraining(true, 1))
	assert.False(t, e.SetDraining(true, 1))
	assert.Equal(t, Unknown, e.SetHealth(Unhealthy, 1))
	assert.True(t, e.Draining())
	assert.True(t, e.SetDraining(false, 2))
	assert.False(t, e.SetDraining(false, 2))
	assert.Equal(t, Unhealthy, e.Health())
	assert.Equal(t, Unhealthy, e.SetHealth(Unknown, 3))
	assert.Equal(t, Unknown, e.Health())
}

func TestRefusalNamesTheReason(t *testing.T) {
	w := newWorld(t, 1)
	g := &gateLog{}
	s := w.service(ServiceConfig{Passive: ejecting, WarmUp: time.Second, SlowStart: time.Second, Gates: []Gate{g}}, 1, 1)
	e := s.Members[0].Endpoint
	reason := func() string { return s.Refusal(e, w.now) }
	assert.Empty(t, reason())
	e.join(true, w.now)
	assert.Equal(t, "warming_up", reason())
	w.now += second
	assert.Equal(t, "slow_start", reason())
	g.refuse = e
	assert.Equal(t, "gate", reason())
	w.eject(s, 0)
	assert.Equal(t, "ejected", reason())
	w.unhealthy(s, 0)
	assert.Equal(t, "unhealthy", reason())
	e.SetDraining(true, w.now)
	assert.Equal(t, "draining", reason())
}

func TestIdleConnectionsToWhatIsOutAreNotKept(t *testing.T) {
	for name, tt := range map[string]struct {
		out   func(w *world, s *Service, e *Endpoint)
		panic float64
		kept  bool
	}{
		"draining":           {out: func(w *world, _ *Service, e *Endpoint) { e.SetDraining(true, w.now) }},
		"unhealthy":          {out: func(w *world, s *Service, _ *Endpoint) { w.unhealthy(s, 0) }},
		"ejected":            {out: func(w *world, s *Service, _ *Endpoint) { w.eject(s, 0) }},
		"draining in panic":  {out: func(w *world, s *Service, e *Endpoint) { e.SetDraining(true, w.now); w.unhealthy(s, 1) }, panic: 100},
		"unhealthy in panic": {out: func(w *world, s *Service, _ *Endpoint) { w.unhealthy(s, 0) }, panic: 100, kept: true},
		"ejected in panic":   {out: func(w *world, s *Service, _ *Endpoint) { w.eject(s, 0) }, panic: 100, kept: true},
		"in use":             {out: func(*world, *Service, *Endpoint) {}, kept: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			s := w.service(ServiceConfig{Passive: ejecting, Panic: tt.panic}, 1, 1)
			e := s.Members[0].Endpoint
			idle, lent := w.must(Dial, 0, s, e), w.must(Dial, 0, s, e)
			w.put(idle)
			tt.out(w, s, e)
			w.locals[0].CloseIdle(e)
			assert.Equal(t, []CloseReason{ReasonUnhealthy}, idle.conn.reasons)
			assert.False(t, lent.conn.closed, "what is lent goes on")
			w.put(lent)
			assert.Equal(t, tt.kept, !lent.conn.closed)
		})
	}
}

// Exchanges that had chosen an endpoint before it drained end on the connections that there are.
func TestWaitersOfADrainingEndpointMakeNoConnection(t *testing.T) {
	w := newWorld(t, 1)
	s, e := w.limited(Limits{MaxConnections: 1, Wait: time.Minute})
	first := w.must(Dial, 0, s, e)
	second, third := w.must(Queued, 0, s, e), w.must(Queued, 0, s, e)
	e.SetDraining(true, w.now)
	w.locals[0].CloseIdle(e)
	w.put(first)
	assert.Same(t, first.conn, second.conn)
	w.put(second)
	assert.Same(t, first.conn, third.conn)
	w.put(third)
	assert.Equal(t, []CloseReason{ReasonUnhealthy}, first.conn.reasons)
	assert.Zero(t, e.Conns())
	assert.EqualValues(t, 1, w.locals[0].Stats().Dialed)
}

func TestHealthNames(t *testing.T) {
	assert.Equal(t, "unknown", Unknown.String())
	assert.Equal(t, "healthy", Healthy.String())
	assert.Equal(t, "unhealthy", Unhealthy.String())
	assert.Equal(t, "unknown", Health(9).String())
}
