package pool

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var five = Passive{ConsecutiveFailures: 5, Eject: 30 * time.Second, MaxEjected: 50}

func (w *world) done(s *Service, member, times int, o Outcome) {
	for range times {
		w.locals[0].Start(s, s.Members[member].Endpoint)
		w.locals[0].Done(s, s.Members[member].Endpoint, o, w.now)
	}
}

func TestEjectionAndRecovery(t *testing.T) {
	for _, o := range []Outcome{Failed5xx, ConnectFailed, Reset, TimedOut} {
		w := newWorld(t, 1)
		s := w.service(ServiceConfig{Passive: five}, 1, 1)
		bad := s.Members[0].Endpoint
		w.done(s, 0, 4, o)
		assert.EqualValues(t, 4, bad.Failures())
		assert.False(t, bad.Ejected(w.now))
		w.done(s, 0, 1, o)
		require.True(t, bad.Ejected(w.now), o)
		assert.Equal(t, w.now+30*second, bad.EjectedUntil())
		assert.EqualValues(t, 1, s.State.Ejections())
		assert.Equal(t, []int{0, 50}, w.counts(0, s, nil, 50))

		w.done(s, 0, 3, o) // tries that were under way do not prolong it
		assert.Equal(t, w.now+30*second, bad.EjectedUntil())

		w.now += 30 * second
		assert.False(t, bad.Ejected(w.now))
		assert.NotZero(t, w.counts(0, s, nil, 50)[0])
		w.done(s, 0, 1, o)
		assert.True(t, bad.Ejected(w.now), "failures go on being consecutive")
		w.now += 60 * second
		w.done(s, 0, 1, Success)
		w.done(s, 0, 4, o)
		assert.False(t, bad.Ejected(w.now), "a success begins anew")
	}
}

func TestSuccessInterruptsAndAbortDoesNot(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{Passive: five}, 1, 1)
	e := s.Members[0].Endpoint
	w.done(s, 0, 4, Reset)
	w.done(s, 0, 1, Success)
	assert.Zero(t, e.Failures())
	w.done(s, 0, 4, Reset)
	w.done(s, 0, 9, Aborted)
	assert.EqualValues(t, 4, e.Failures())
	assert.False(t, e.Ejected(w.now))
	w.done(s, 0, 1, Reset)
	assert.True(t, e.Ejected(w.now))
}

func TestEjectionShare(t *testing.T) {
	for _, tt := range []struct {
		weights []int
		percent int
		want    int
	}{
		{[]int{1}, 100, 0}, // the only one
		{[]int{1, 0}, 100, 0},
		{[]int{1, 1}, 50, 1},
		{[]int{1, 1, 1}, 50, 1},
		{[]int{1, 1, 1, 1}, 50, 2},
		{[]int{1, 1, 1, 1}, 24, 0},
		{[]int{1, 1, 1}, 100, 3},
		{[]int{1, 1, 1}, 0, 0},
	} {
		w := newWorld(t, 1)
		s := w.service(ServiceConfig{Passive: Passive{ConsecutiveFailures: 1, Eject: time.Second, MaxEjected: tt.percent}}, tt.weights...)
		for i := range tt.weights {
			w.done(s, i, 3, ConnectFailed)
		}
		out := 0
		for _, m := range s.Members {
			if m.Endpoint.Ejected(w.now) {
				out++
			}
		}
		assert.Equal(t, tt.want, out, "%v at %d %%", tt.weights, tt.percent)
	}
}

func TestEjectionMakesRoomWhenItEnds(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{Passive: five}, 1, 1)
	w.done(s, 0, 5, Reset)
	w.done(s, 1, 5, Reset)
	assert.False(t, s.Members[1].Endpoint.Ejected(w.now), "one of two is the share")
	w.now += 30 * second
	w.done(s, 1, 1, Reset)
	assert.True(t, s.Members[1].Endpoint.Ejected(w.now))
}

func TestEjectionOff(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{}, 1, 1)
	w.done(s, 0, 100, Reset)
	assert.Zero(t, s.Members[0].Endpoint.Failures())
	w.eject(s, 0) // by an earlier generation
	assert.NotZero(t, w.counts(0, s, nil, 50)[0])
}

func TestEjectionShareHoldsUnderConcurrentFailures(t *testing.T) {
	w := newWorld(t, 4)
	p := Passive{ConsecutiveFailures: 2, Eject: time.Hour, MaxEjected: 50}
	s := w.service(ServiceConfig{Passive: p}, 1, 1, 1, 1, 1, 1, 1)
	var loops sync.WaitGroup
	var told atomic.Int64
	for id := range w.locals {
		w.locals[id].ejected = func(*Endpoint) { told.Add(1) }
		loops.Go(func() {
			for i := range 2000 {
				w.locals[id].Done(s, s.Members[(i+id)%7].Endpoint, Reset, w.now)
			}
		})
	}
	loops.Wait()
	out := 0
	for _, m := range s.Members {
		if m.Endpoint.Ejected(w.now) {
			out++
		}
	}
	assert.Equal(t, 3, out)
	assert.EqualValues(t, 3, s.State.Ejections())
	assert.GreaterOrEqual(t, told.Load(), int64(3))
}

// gateLog is a gate that refuses one endpoint and keeps what it is told.
type gateLog struct {
	refuse  *Endpoint
	reports []Outcome
	elapsed int64
}

func (g *gateLog) Allow(e *Endpoint, _ int64) bool { return e != g.refuse }

func (g *gateLog) Report(_ *Endpoint, o Outcome, elapsed, _ int64) {
	g.reports = append(g.reports, o)
	g.elapsed = elapsed
}

func TestGatesAreAskedAndTold(t *testing.T) {
	w := newWorld(t, 1)
	g := &gateLog{}
	s := w.service(ServiceConfig{Passive: five, Gates: []Gate{g}}, 1, 1)
	g.refuse = s.Members[1].Endpoint
	assert.Equal(t, []int{50, 0}, w.counts(0, s, nil, 50))
	w.done(s, 0, 1, TimedOut)
	w.locals[0].DoneAfter(s, s.Members[0].Endpoint, Success, 17, w.now)
	assert.Equal(t, []Outcome{TimedOut, Success}, g.reports)
	assert.EqualValues(t, 17, g.elapsed)
}

// ejections lets member 0 fail once at a time and returns how long it is out each time.
func (w *world) ejections(s *Service, times int, quiet time.Duration) []time.Duration {
	var out []time.Duration
	e := s.Members[0].Endpoint
	for range times {
		w.done(s, 0, 1, Reset)
		out = append(out, time.Duration(e.EjectedUntil()-w.now))
		w.now = e.EjectedUntil() + int64(quiet)
	}
	return out
}

func TestEjectionsInARowGrow(t *testing.T) {
	const s = time.Second
	for name, tt := range map[string]struct {
		quiet time.Duration
		want  []time.Duration
	}{
		"at once":            {0, []time.Duration{s, 2 * s, 3 * s, 4 * s, 5 * s, 6 * s, 7 * s, 8 * s, 9 * s, 10 * s, 10 * s, 10 * s}},
		"soon":               {s - 1, []time.Duration{s, 2 * s, 3 * s}},
		"after one interval": {s, []time.Duration{s, s, s}},
		"long after":         {time.Hour, []time.Duration{s, s}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			svc := w.service(ServiceConfig{Passive: Passive{ConsecutiveFailures: 1, Eject: s, MaxEjected: 50}}, 1, 1)
			assert.Equal(t, tt.want, w.ejections(svc, len(tt.want), tt.quiet))
			assert.EqualValues(t, len(tt.want), svc.Members[0].Endpoint.Ejections())
			assert.EqualValues(t, len(tt.want), svc.State.Ejections())
		})
	}
}

func TestQuietTimeShortensTheNextEjection(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{Passive: Passive{ConsecutiveFailures: 1, Eject: time.Second, MaxEjected: 50}}, 1, 1)
	w.ejections(s, 5, 0)
	w.now += 3 * second // of five in a row two are left
	assert.Equal(t, []time.Duration{3 * time.Second}, w.ejections(s, 1, 0))
}

func TestAnEjectionOfNoTimeIsNone(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{Passive: Passive{ConsecutiveFailures: 1, MaxEjected: 50}}, 1, 1)
	w.done(s, 0, 3, Reset)
	assert.False(t, s.Members[0].Endpoint.Ejected(w.now))
	assert.Empty(t, w.ejected)
}

func TestTheLoopIsToldOfItsEjections(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{Passive: five}, 1, 1)
	w.done(s, 0, 4, Reset)
	assert.Empty(t, w.ejected)
	w.done(s, 0, 3, Reset)
	assert.Equal(t, []*Endpoint{s.Members[0].Endpoint}, w.ejected, "once")
}
