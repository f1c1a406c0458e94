package pool

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// counts picks n times on one loop and says how often each member came.
func (w *world) counts(loop int, s *Service, tried *Tried, n int) []int {
	w.t.Helper()
	got := make([]int, len(s.Members))
	for range n {
		e, err := w.locals[loop].Pick(s, Key{}, tried, w.now)
		require.NoError(w.t, err)
		for i, m := range s.Members {
			if m.Endpoint == e {
				got[i]++
			}
		}
	}
	return got
}

func (w *world) eject(s *Service, members ...int) {
	for _, i := range members {
		s.Members[i].Endpoint.ejectedUntil.Store(w.now + second)
	}
}

var everyBalance = []Balance{WeightedRandom, RoundRobin, LeastRequests, EWMA, Hash, Sticky}

// ejecting makes a service obey ejections without ever ejecting by itself.
var ejecting = Passive{ConsecutiveFailures: 1 << 30, Eject: time.Second, MaxEjected: 100}

func TestPickFollowsTheWeights(t *testing.T) {
	const n = 60000
	for _, balance := range everyBalance {
		for _, tt := range []struct {
			weights []int
			out     []int
			want    []float64
		}{
			{[]int{1, 1, 1, 1}, nil, []float64{.25, .25, .25, .25}},
			{[]int{5, 3, 0, 2}, nil, []float64{.5, .3, 0, .2}},
			{[]int{7, 7}, []int{0}, []float64{0, 1}},
			{[]int{4, 3, 2, 1}, []int{0}, []float64{0, .5, 1 / 3., 1 / 6.}},
			{[]int{1000, 1, 3}, []int{0}, []float64{0, .25, .75}}, // far beyond a few redraws
		} {
			w := newWorld(t, 1)
			s := w.service(ServiceConfig{Balance: balance, Passive: ejecting}, tt.weights...)
			w.eject(s, tt.out...)
			for i, got := range w.counts(0, s, nil, n) {
				assert.InDelta(t, tt.want[i], float64(got)/n, 0.02, "%v %v member %d", balance, tt.weights, i)
			}
		}
	}
}

func TestPickPrefersTheUntried(t *testing.T) {
	for _, balance := range everyBalance {
		w := newWorld(t, 1)
		s := w.service(ServiceConfig{Balance: balance, Passive: ejecting}, 100, 1, 1)
		var tried Tried
		tried.Add(s.Members[0].Endpoint)
		assert.Zero(t, w.counts(0, s, &tried, 100)[0], balance)

		tried.Add(s.Members[1].Endpoint)
		assert.Equal(t, []int{0, 0, 100}, w.counts(0, s, &tried, 100), balance)

		w.eject(s, 2)
		got := w.counts(0, s, &tried, 100)
		assert.Zero(t, got[2], "an ejected one is not an alternative to a tried one")
	}
}

func TestPickFindsNothing(t *testing.T) {
	for _, balance := range everyBalance {
		w := newWorld(t, 1)
		for name, s := range map[string]*Service{
			"empty":      w.service(ServiceConfig{Name: "empty", Balance: balance}),
			"weightless": w.service(ServiceConfig{Name: "weightless", Balance: balance}, 0, 0),
			"one out":    w.service(ServiceConfig{Name: "one", Balance: balance, Passive: ejecting}, 1),
			"all out":    w.service(ServiceConfig{Name: "all", Balance: balance, Passive: ejecting}, 1, 2, 3),
		} {
			for i := range s.Members {
				w.eject(s, i)
			}
			_, err := w.locals[0].Pick(s, Key{}, nil, w.now)
			assert.ErrorIs(t, err, ErrNoEndpoint, name)
		}
		assert.EqualValues(t, 4, w.locals[0].Stats().NoEndpoint)
	}
}

func TestPickReturnsATriedOneIfItIsTheOnlyOne(t *testing.T) {
	for _, balance := range everyBalance {
		w := newWorld(t, 1)
		s := w.service(ServiceConfig{Balance: balance}, 1, 0)
		var tried Tried
		tried.Add(s.Members[0].Endpoint)
		e, err := w.locals[0].Pick(s, Key{}, &tried, w.now)
		require.NoError(t, err)
		assert.Same(t, s.Members[0].Endpoint, e)
	}
}

func TestPickIsReproducible(t *testing.T) {
	a, b := newWorld(t, 2), newWorld(t, 2)
	sa, sb := a.service(ServiceConfig{}, 1, 2, 3), b.service(ServiceConfig{}, 1, 2, 3)
	differ := 0
	for range 200 {
		first, _ := a.locals[0].Pick(sa, Key{}, nil, 0)
		second, _ := b.locals[0].Pick(sb, Key{}, nil, 0)
		other, _ := b.locals[1].Pick(sb, Key{}, nil, 0)
		require.Equal(t, first.Slot(), second.Slot())
		if other != second {
			differ++
		}
	}
	assert.NotZero(t, differ, "loops draw different numbers")
}

func TestLeastRequestsEvensOutTheLoad(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{Balance: LeastRequests}, 4, 4, 2)
	for range 1000 { // nothing ends
		e, err := w.locals[0].Pick(s, Key{}, nil, w.now)
		require.NoError(t, err)
		w.locals[0].Start(s, e)
	}
	for i, want := range []float64{400, 400, 200} {
		assert.InDelta(t, want, float64(s.Members[i].Endpoint.Active()), 12, i)
	}
	slow := s.Members[0].Endpoint
	got := w.counts(0, s, nil, 1000)
	for range 200 {
		w.locals[0].Start(s, slow)
	}
	assert.Less(t, w.counts(0, s, nil, 1000)[0], got[0]/2+1, "a loaded endpoint gets less")
}

func TestLeastRequestsOfTwoComparesBoth(t *testing.T) {
	for _, weights := range [][]int{{1, 1}, {3, 3}, {1, 2}} {
		w := newWorld(t, 1)
		s := w.service(ServiceConfig{Balance: LeastRequests}, weights...)
		w.locals[0].Start(s, s.Members[1].Endpoint)
		assert.Equal(t, []int{50, 0}, w.counts(0, s, nil, 50), weights)
		w.locals[0].Done(s, s.Members[1].Endpoint, Success, w.now)
		assert.Zero(t, s.Members[1].Endpoint.Active())
	}
}

func TestOnlyLeastRequestsCountsTries(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{}, 1)
	w.locals[0].Start(s, s.Members[0].Endpoint)
	assert.Zero(t, s.Members[0].Endpoint.Active())
	w.locals[0].Done(s, s.Members[0].Endpoint, Success, w.now)
	assert.Zero(t, s.Members[0].Endpoint.Active())
}

func TestExtremeWeightsDoNotOverflow(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{Balance: LeastRequests}, maxWeight, maxWeight, 1)
	s.Members[0].Endpoint.active.Store(math.MaxInt32)
	assert.Zero(t, w.counts(0, s, nil, 100)[0])
	s.Members[0].Endpoint.active.Store(-5) // never happens; must not become a huge load
	assert.NotZero(t, w.counts(0, s, nil, 100)[0])
}
