package pool

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// picks returns what 40 choices of a loop come to, by address.
func (w *world) picks(loop int, s *Service) map[string]int {
	got := map[string]int{}
	for range 40 {
		e, err := w.locals[loop].Pick(s, Key{}, &Tried{}, w.now)
		require.NoError(w.t, err)
		got[e.Address()[len("127.0.0.1:"):]]++
	}
	return got
}

func TestNewEndpointWaitsForItsConnections(t *testing.T) {
	w := newWorld(t, 2)
	s := w.service(ServiceConfig{Balance: RoundRobin, Limits: Limits{MinIdle: 2}}, 1, 1)
	a, b := s.Members[0].Endpoint, s.Members[1].Endpoint
	publish := func(endpoints ...*Endpoint) {
		for _, e := range endpoints {
			w.registry.Open(e, 0b11)
		}
		w.registry.Publish(endpoints)
	}
	publish(a)
	assert.True(t, a.Opening())
	w.locals[0].Opened(a)
	w.locals[0].Opened(a)
	assert.True(t, a.Opening(), "one loop is not all")
	w.locals[1].Opened(a)
	assert.False(t, a.Opening())

	publish(a, b)
	assert.False(t, a.Opening(), "it was there before")
	assert.True(t, b.Opening())
	assert.Equal(t, map[string]int{"1000": 40}, w.picks(0, s))
	w.locals[0].Opened(b)
	w.locals[1].Opened(b)
	assert.Equal(t, map[string]int{"1000": 20, "1001": 20}, w.picks(0, s))

	publish(b)
	publish(a, b)
	assert.True(t, a.Opening(), "it was gone and is new again")
}

func TestOpeningIsNeverAnOutage(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{Balance: RoundRobin, Limits: Limits{MinIdle: 1}, Passive: ejecting}, 1, 1, 0)
	for _, m := range s.Members {
		w.registry.Open(m.Endpoint, 1)
	}
	assert.Equal(t, map[string]int{"1000": 20, "1001": 20}, w.picks(0, s), "all are new")
	w.locals[0].Opened(s.Members[0].Endpoint)
	assert.Equal(t, map[string]int{"1000": 40}, w.picks(0, s))
	w.eject(s, 0)
	assert.Equal(t, map[string]int{"1001": 40}, w.picks(0, s), "the one that is open is out")
	assert.False(t, s.Usable(s.Members[0].Endpoint, w.now), "ejected")
	assert.True(t, s.Usable(s.Members[1].Endpoint, w.now), "it would be, with its connections")
}

func TestServicesWithoutMinIdleDoNotWait(t *testing.T) {
	w := newWorld(t, 1)
	plain := w.service(ServiceConfig{Balance: RoundRobin}, 1, 1)
	w.registry.Open(plain.Members[0].Endpoint, 1) // by a generation that was never published
	assert.Equal(t, map[string]int{"1000": 20, "1001": 20}, w.picks(0, plain))
	for _, limits := range []Limits{{MinIdle: -1}, {MinIdle: 3, MaxConnections: 2}} {
		_, err := NewService(ServiceConfig{Name: "s", State: w.registry.Service("s"), Limits: limits})
		require.Error(t, err)
	}
}
