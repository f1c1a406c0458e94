package pool

import (
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const ms = int64(time.Millisecond)

// answered ends a try on a member that took a time.
func (w *world) answered(s *Service, member int, o Outcome, elapsed int64) {
	e := s.Members[member].Endpoint
	w.locals[0].Start(s, e)
	w.locals[0].DoneAfter(s, e, o, elapsed, w.now)
}

// about compares durations to a part in a thousand; the mean has 24 bits.
func about(t *testing.T, want time.Duration, got time.Duration, message ...any) {
	t.Helper()
	assert.InEpsilon(t, float64(want), float64(got), 1e-3, message...)
}

func TestResponseTimeRisesAtOnceAndFallsSlowly(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{Balance: EWMA}, 1)
	e := s.Members[0].Endpoint
	assert.Zero(t, e.ResponseTime(w.now))
	w.answered(s, 0, Success, 10*ms)
	about(t, 10*time.Millisecond, e.ResponseTime(w.now))
	w.answered(s, 0, Success, 80*ms)
	about(t, 80*time.Millisecond, e.ResponseTime(w.now), "a peak")
	w.answered(s, 0, Success, 10*ms)
	about(t, 80*time.Millisecond, e.ResponseTime(w.now), "no time has passed")

	w.now += 10 * second
	about(t, 80*time.Millisecond/2718*1000, e.ResponseTime(w.now), "what was seen ages")
	w.answered(s, 0, Success, 10*ms)
	kept := 1 / math.E
	about(t, time.Duration(80e6*kept+10e6*(1-kept)), e.ResponseTime(w.now))
	w.answered(s, 0, Success, 0)
	about(t, time.Duration(80e6*kept+10e6*(1-kept)), e.ResponseTime(w.now), "0 is not measured")

	for range 10000 {
		w.now += 10 * ms
		w.answered(s, 0, Success, 10*ms)
	}
	about(t, 10*time.Millisecond, e.ResponseTime(w.now), "many small steps arrive")
}

func TestFailuresDoNotLookFast(t *testing.T) {
	for _, o := range []Outcome{Failed5xx, ConnectFailed, Reset, TimedOut} {
		w := newWorld(t, 1)
		s := w.service(ServiceConfig{Balance: EWMA}, 1)
		e := s.Members[0].Endpoint
		w.answered(s, 0, o, 1000)
		about(t, 100*time.Millisecond, e.ResponseTime(w.now), "of an unknown one")
		w.answered(s, 0, o, 1000)
		about(t, 200*time.Millisecond, e.ResponseTime(w.now), "each doubles")
		w.answered(s, 0, o, 3*second)
		about(t, 3*time.Second, e.ResponseTime(w.now), "unless it took longer")
		for range 9 {
			w.answered(s, 0, o, 1000)
		}
		about(t, 10*time.Second, e.ResponseTime(w.now), "up to a bound")
	}
}

func TestATryThatWasGivenUpCanOnlyRaise(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{Balance: EWMA}, 1)
	w.answered(s, 0, Success, 10*ms)
	w.now += second
	before := s.Members[0].Endpoint.response.word.Load()
	w.answered(s, 0, Aborted, ms)
	assert.Equal(t, before, s.Members[0].Endpoint.response.word.Load())
	w.answered(s, 0, Aborted, second)
	about(t, time.Second, s.Members[0].Endpoint.ResponseTime(w.now), "clients do not wait for a hanging endpoint")
}

func TestTheFasterOfTwoGetsMore(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{Balance: EWMA}, 1, 1)
	w.answered(s, 0, Success, 30*ms)
	w.answered(s, 1, Success, 10*ms)
	assert.Equal(t, []int{0, 50}, w.counts(0, s, nil, 50), "both are idle")
	for range 400 { // nothing ends
		e, err := w.locals[0].Pick(s, Key{}, nil, w.now)
		require.NoError(t, err)
		w.locals[0].Start(s, e)
	}
	assert.InDelta(t, 100, s.Members[0].Endpoint.Active(), 2, "in inverse proportion to the time")
	assert.InDelta(t, 300, s.Members[1].Endpoint.Active(), 2)
}

func TestCostFollowsTheWeights(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{Balance: EWMA}, 6, 3, 1)
	for i := range s.Members {
		w.answered(s, i, Success, 10*ms)
	}
	for range 1000 {
		e, err := w.locals[0].Pick(s, Key{}, nil, w.now)
		require.NoError(t, err)
		w.locals[0].Start(s, e)
	}
	for i, want := range []float64{600, 300, 100} {
		assert.InDelta(t, want, s.Members[i].Endpoint.Active(), 15, i)
	}
}

// A fresh endpoint has shown nothing. It gets its share and no more, however fast or slow the others are.
func TestAFreshEndpointIsNotFavoured(t *testing.T) {
	for _, others := range []int64{ms / 10, 5 * second} {
		w := newWorld(t, 1)
		s := w.service(ServiceConfig{Balance: EWMA}, 1, 1, 1, 1)
		for i := range 3 {
			w.answered(s, i, Success, others)
		}
		for range 400 { // it answers nothing yet
			e, err := w.locals[0].Pick(s, Key{}, nil, w.now)
			require.NoError(t, err)
			w.locals[0].Start(s, e)
		}
		assert.InDelta(t, 100, s.Members[3].Endpoint.Active(), 10)
	}
}

// A slow endpoint gets nothing while others are idle. It is tried again when its past has faded, and then as one of
// equals: having been idle does not make it the fastest.
func TestASlowEndpointIsForgivenButNotFavoured(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{Balance: EWMA}, 1, 1)
	w.answered(s, 0, Success, second)
	w.answered(s, 1, Success, 10*ms)
	w.now += 20 * second
	assert.Zero(t, w.counts(0, s, nil, 100)[0])
	w.now += 3600 * second
	for range 200 {
		e, err := w.locals[0].Pick(s, Key{}, nil, w.now)
		require.NoError(t, err)
		w.locals[0].Start(s, e)
	}
	assert.InDelta(t, 100, s.Members[0].Endpoint.Active(), 5)
}

func TestAnEndpointThatFailsAtOnceIsAvoided(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{Balance: EWMA}, 1, 1, 1)
	got := make([]int, 3)
	for range 3000 {
		e, err := w.locals[0].Pick(s, Key{}, nil, w.now)
		require.NoError(t, err)
		w.locals[0].Start(s, e)
		w.now += 2 * ms
		if e == s.Members[1].Endpoint {
			got[1]++
			w.locals[0].DoneAfter(s, e, ConnectFailed, 50_000, w.now)
		} else {
			w.locals[0].DoneAfter(s, e, Success, 5*ms, w.now)
		}
	}
	assert.Less(t, got[1], 10)
}

func TestTicksWrap(t *testing.T) {
	last := int64(math.MaxUint32) * ewmaTick
	var r responseTime
	r.learn(Success, second, last)
	_, left := r.at(last + 10*second)
	assert.InEpsilon(t, 1e9/math.E, left, 1e-2)
	_, left = r.at(last - second)
	assert.InEpsilon(t, 1e9, left, 1e-6, "another loop's clock may be behind")
}

func TestResponseTimesOfManyLoops(t *testing.T) {
	var r responseTime
	var loops sync.WaitGroup
	for id := range 4 {
		loops.Go(func() {
			for i := range 2000 {
				r.learn(Success, int64(id*2000+i+1), 5*second)
			}
		})
	}
	loops.Wait()
	last, _ := r.at(5 * second)
	assert.InEpsilon(t, 8000, last, 1e-6, "no peak is lost")
}

func TestOnlyEWMAMeasures(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{Balance: LeastRequests}, 1)
	w.answered(s, 0, Success, second)
	assert.Zero(t, s.Members[0].Endpoint.ResponseTime(w.now))
}
