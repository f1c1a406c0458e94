package pool

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestShare(t *testing.T) {
	const s = time.Second
	for name, tt := range map[string]struct {
		warm, slow time.Duration
		age        time.Duration
		share      float64
		out        bool
	}{
		"nothing configured":    {0, 0, 0, 1, false},
		"warm-up begins":        {10 * s, 0, 0, 0, true},
		"warm-up ends":          {10 * s, 0, 10*s - 1, 0, true},
		"warm":                  {10 * s, 0, 10 * s, 1, false},
		"slow start begins":     {0, 10 * s, 0, 0.1, false},
		"slow start half-way":   {0, 10 * s, 5 * s, 0.55, false},
		"slow start ends":       {0, 10 * s, 10 * s, 1, false},
		"first warm, then slow": {10 * s, 10 * s, 9 * s, 0, true},
		"slow after warm":       {10 * s, 10 * s, 15 * s, 0.55, false},
		"both over":             {10 * s, 10 * s, 20 * s, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			svc := w.service(ServiceConfig{WarmUp: tt.warm, SlowStart: tt.slow}, 1, 1)
			e := svc.Members[0].Endpoint
			e.join(true, w.now)
			share, warm := svc.Share(e, w.now+int64(tt.age))
			assert.InDelta(t, tt.share, share, 1e-9)
			assert.Equal(t, tt.out, !warm)
		})
	}
}

func TestSlowStartGetsItsShare(t *testing.T) {
	const n = 40000
	for _, balance := range everyBalance {
		for _, weights := range [][]int{{1, 1}, {3, 1, 2}} {
			for _, age := range []time.Duration{0, 5, 9} {
				w := newWorld(t, 1)
				s := w.service(ServiceConfig{Balance: balance, SlowStart: 10 * time.Second}, weights...)
				s.Members[0].Endpoint.join(true, w.now)
				w.now += int64(age) * second
				share, _ := s.Share(s.Members[0].Endpoint, w.now)
				whole := float64(weights[0]) / float64(s.groups[0].total)
				// Of unweighted round robin the others leave their places to it sooner.
				assert.InDelta(t, share*whole, float64(w.counts(0, s, nil, n)[0])/n, 0.09, "%v %v at %v s", balance, weights, age)
			}
		}
	}
}

func TestSlowStartBeginsWithATenth(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{SlowStart: 10 * time.Second}, 1, 1)
	s.Members[0].Endpoint.join(true, w.now)
	assert.InDelta(t, 500, w.counts(0, s, nil, 10000)[0], 100)
	w.now += 10 * second
	assert.InDelta(t, 5000, w.counts(0, s, nil, 10000)[0], 300)
}

// No warm-up causes an outage.
func TestWarmingEndpointsAreUsedIfNobodyElseIsLeft(t *testing.T) {
	for _, balance := range everyBalance {
		w := newWorld(t, 1)
		s := w.service(ServiceConfig{Balance: balance, WarmUp: 10 * time.Second, SlowStart: 10 * time.Second}, 1, 1)
		a, b := s.Members[0].Endpoint, s.Members[1].Endpoint
		b.join(true, w.now)
		assert.Equal(t, []int{50, 0}, w.counts(0, s, nil, 50), balance)

		var tried Tried
		tried.Add(a)
		assert.Equal(t, []int{0, 50}, w.counts(0, s, &tried, 50), "better than the one that has just failed")

		w.unhealthy(s, 0)
		assert.Equal(t, []int{0, 50}, w.counts(0, s, nil, 50), balance)
		w.now += 10 * second // in slow start now
		assert.Equal(t, []int{0, 50}, w.counts(0, s, nil, 50), balance)
	}
}

func TestRecoveryArmsTheWarmUpAnew(t *testing.T) {
	for name, recover := range map[string]func(w *world, s *Service, e *Endpoint){
		"healthy again":  func(w *world, _ *Service, e *Endpoint) { e.SetHealth(Unhealthy, w.now); e.SetHealth(Healthy, w.now) },
		"not checked":    func(w *world, _ *Service, e *Endpoint) { e.SetHealth(Unhealthy, w.now); e.SetHealth(Unknown, w.now) },
		"undrained":      func(w *world, _ *Service, e *Endpoint) { e.SetDraining(true, w.now); e.SetDraining(false, w.now) },
		"ejection ended": func(w *world, s *Service, e *Endpoint) { w.eject(s, 0); w.now = e.EjectedUntil() },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			s := w.service(ServiceConfig{Passive: ejecting, WarmUp: 10 * time.Second, SlowStart: 10 * time.Second}, 1, 1)
			e := s.Members[0].Endpoint
			share, warm := s.Share(e, w.now)
			assert.True(t, warm && share == 1)
			recover(w, s, e)
			_, warm = s.Share(e, w.now)
			assert.False(t, warm)
			share, _ = s.Share(e, w.now+15*second)
			assert.InDelta(t, 0.55, share, 1e-9)
			share, _ = s.Share(e, w.now+20*second)
			assert.InDelta(t, 1, share, 1e-9)
		})
	}
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{WarmUp: time.Second}, 1)
	s.Members[0].Endpoint.SetHealth(Healthy, w.now)
	_, warm := s.Share(s.Members[0].Endpoint, w.now)
	assert.True(t, warm, "the first good probe is no recovery")
}

func TestWhoJoinsOthersWarmsUp(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{WarmUp: time.Minute}, 1, 1, 1)
	ends := []*Endpoint{s.Members[0].Endpoint, s.Members[1].Endpoint, s.Members[2].Endpoint}
	warm := func(i int) bool { _, warm := s.Share(ends[i], w.now); return warm }

	w.registry.Publish(ends[:1])
	assert.True(t, warm(0), "a cold start must serve")
	w.registry.Publish(ends[:2])
	assert.True(t, warm(0))
	assert.False(t, warm(1))
	w.registry.Publish(ends[2:])
	assert.True(t, warm(2), "nobody else is there")

	w.now += 2 * int64(time.Minute)
	w.registry.Publish([]*Endpoint{ends[2], ends[0]})
	assert.False(t, warm(0), "who comes back warms up")
	w.registry.Publish([]*Endpoint{ends[2], ends[0]})
	w.now += int64(time.Minute)
	assert.True(t, warm(0), "who stays goes on")
}

func TestATriedOneThatIsWarmGoesBeforeOneThatWarmsUp(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{WarmUp: time.Minute}, 1, 1)
	s.Members[1].Endpoint.join(true, w.now)
	var tried Tried
	tried.Add(s.Members[0].Endpoint)
	assert.Equal(t, []int{0, 50}, w.counts(0, s, &tried, 50), "whoever was not tried goes first of all")
	tried.Add(s.Members[1].Endpoint)
	assert.Equal(t, []int{50, 0}, w.counts(0, s, &tried, 50))
}
