package pool

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPanicking(t *testing.T) {
	for name, tt := range map[string]struct {
		panic                        float64
		weights                      []int
		unhealthy, ejected, draining []int
		want                         bool
	}{
		"off":                      {0, []int{1, 1}, []int{0, 1}, nil, nil, false},
		"all are well":             {100, []int{1, 1}, nil, nil, nil, false},
		"at the threshold":         {50, []int{1, 1}, []int{0}, nil, nil, false},
		"under it":                 {51, []int{1, 1}, []int{0}, nil, nil, true},
		"none is left":             {0.01, []int{1, 1}, []int{0, 1}, nil, nil, true},
		"ejections count":          {60, []int{1, 1, 1}, []int{0}, []int{1}, nil, true},
		"once only":                {60, []int{1, 1, 1}, []int{0}, []int{0}, nil, false},
		"draining ones do not":     {50, []int{1, 1, 1, 1}, []int{0}, nil, []int{1, 2}, false},
		"on either side":           {51, []int{1, 1, 1, 1}, []int{0}, nil, []int{1, 2}, true},
		"nor do those of no use":   {50, []int{1, 1, 0, 0}, []int{2, 3}, nil, nil, false},
		"all are drained":          {100, []int{1, 1}, nil, nil, []int{0, 1}, false},
		"a service of none":        {100, nil, nil, nil, nil, false},
		"the only one is not well": {1, []int{1}, []int{0}, nil, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			s := w.service(ServiceConfig{Panic: tt.panic, Passive: ejecting}, tt.weights...)
			w.unhealthy(s, tt.unhealthy...)
			w.eject(s, tt.ejected...)
			for _, i := range tt.draining {
				s.Members[i].Endpoint.SetDraining(true, w.now)
			}
			assert.Equal(t, tt.want, s.Panicking(w.now))
		})
	}
}

func TestAPanicIgnoresHealthAndEjection(t *testing.T) {
	for _, balance := range everyBalance {
		w := newWorld(t, 1)
		s := w.service(ServiceConfig{Balance: balance, Panic: 50, Passive: ejecting, WarmUp: time.Minute}, 1, 1, 1, 1)
		w.unhealthy(s, 0)
		w.eject(s, 1)
		got := w.counts(0, s, nil, 400)
		assert.Zero(t, got[0]+got[1], "half of them are well")

		s.Members[3].Endpoint.SetDraining(true, w.now)
		w.now += panicGap
		got = w.counts(0, s, nil, 400)
		assert.NotContains(t, got[:3], 0, balance)
		assert.Zero(t, got[3], "what drains is left alone")
		assert.EqualValues(t, 400, w.locals[0].Stats().Panicked)

		s.Members[0].Endpoint.SetHealth(Healthy, w.now)
		w.now += panicGap
		assert.Zero(t, w.counts(0, s, nil, 400)[1], "the panic is over")
		assert.EqualValues(t, 400, w.locals[0].Stats().Panicked)
	}
}

func TestAPanicThatLeavesNobodyIsSeenAtOnce(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{Panic: 1}, 1, 1)
	w.counts(0, s, nil, 1) // the loop has looked
	w.unhealthy(s, 0, 1)
	_, err := w.locals[0].Pick(s, Key{}, nil, w.now)
	require.NoError(t, err)
}

func TestLoopsLookAtAPanicNowAndThen(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{Panic: 60}, 1, 1)
	w.counts(0, s, nil, 1)
	w.unhealthy(s, 0)
	assert.Equal(t, []int{0, 50}, w.counts(0, s, nil, 50), "not in every choice")
	w.now += panicGap
	assert.NotContains(t, w.counts(0, s, nil, 50), 0)
}
