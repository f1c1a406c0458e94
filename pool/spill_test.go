package pool

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tiers makes a service with as many members of weight 1 in each tier as sizes says; the priorities are 0, 10, 20 …
func (w *world) tiers(cfg ServiceConfig, sizes ...int) *Service {
	total := 0
	for _, n := range sizes {
		total += n
	}
	cfg.Members, cfg.Passive = w.members(total, Member{Weight: 1}), ejecting
	at := 0
	for tier, n := range sizes {
		for range n {
			cfg.Members[at].Priority = 10 * tier
			at++
		}
	}
	return w.service(cfg)
}

func (w *world) shares(s *Service) []float64 { return w.locals[0].spill(s, w.now).shares }

// The figures are those of Envoy's documentation of priority levels, with members of 100 in each tier.
func TestSharesOfTiers(t *testing.T) {
	for _, tt := range []struct {
		usable []int
		want   []float64
	}{
		{[]int{100, 100}, []float64{1, 0}},
		{[]int{72, 72}, []float64{1, 0}},
		{[]int{71, 71}, []float64{.994, .006}},
		{[]int{50, 50}, []float64{.7, .3}},
		{[]int{50, 100}, []float64{.7, .3}},
		{[]int{25, 100}, []float64{.35, .65}},
		{[]int{25, 25}, []float64{.5, .5}},
		{[]int{0, 100}, []float64{0, 1}},
		{[]int{0, 10}, []float64{0, 1}},
		{[]int{5, 0}, []float64{1, 0}},
		{[]int{0, 0}, []float64{1, 0}},
		{[]int{100, 100, 100}, []float64{1, 0, 0}},
		{[]int{72, 72, 100}, []float64{1, 0, 0}},
		{[]int{71, 71, 100}, []float64{.994, .006, 0}},
		{[]int{50, 50, 100}, []float64{.7, .3, 0}},
		{[]int{50, 10, 100}, []float64{.7, .14, .16}},
		{[]int{25, 25, 100}, []float64{.35, .35, .3}},
		{[]int{25, 25, 20}, []float64{.357, .357, .286}},
		{[]int{0, 0, 1}, []float64{0, 0, 1}},
	} {
		w := newWorld(t, 1)
		sizes := []int{100, 100, 100}
		s := w.tiers(ServiceConfig{Balance: Sticky}, sizes[:len(tt.usable)]...) // which has no subsets
		for tier, usable := range tt.usable {
			for i := usable; i < 100; i++ {
				w.eject(s, tier*100+i)
			}
		}
		assert.InDeltaSlice(t, tt.want, w.shares(s), 0.001, "%v", tt.usable)
	}
}

func TestRequestsFollowTheShares(t *testing.T) {
	const n = 20000
	for _, balance := range everyBalance {
		w := newWorld(t, 1)
		s := w.tiers(ServiceConfig{Balance: balance}, 4, 4)
		got := w.counts(0, s, nil, n)
		assert.Equal(t, []int{0, 0, 0, 0}, got[4:], "%v: the first tier is healthy", balance)
		w.eject(s, 0, 1)
		w.now++
		w.locals[0].spills[0].expires = 0
		got = w.counts(0, s, nil, n)
		assert.Equal(t, []int{0, 0}, got[:2], balance)
		assert.InDelta(t, .7*n, got[2]+got[3], .02*n, balance)
		for i := 4; i < 8; i++ {
			assert.InDelta(t, .3*n/4, got[i], .01*n, "%v: each tier balances by itself", balance)
		}
	}
}

func TestSharesAreCountedNowAndThen(t *testing.T) {
	w := newWorld(t, 1)
	s := w.tiers(ServiceConfig{}, 2, 2)
	w.counts(0, s, nil, 1)
	w.eject(s, 0, 1)
	w.now += spillAge - 1
	assert.Equal(t, []float64{1, 0}, w.shares(s), "not at every choice")
	got := w.counts(0, s, nil, 100)
	assert.Equal(t, []int{0, 0}, got[:2], "but nobody who is out is chosen, and a tier without any is left at once")
	w.now++
	assert.Equal(t, []float64{0, 1}, w.shares(s))
	other := w.tiers(ServiceConfig{}, 1, 3)
	assert.Equal(t, []float64{0, 1}, w.shares(other), "another service of the same slot")
	w.now += second
	assert.Equal(t, []float64{1, 0}, w.shares(s), "they are back")
}

func TestEqualKeysStayInOneTier(t *testing.T) {
	w := newWorld(t, 2)
	s := w.tiers(ServiceConfig{Balance: Hash}, 4, 4)
	w.eject(s, 0, 1)
	second := 0
	for i := range 1000 {
		k := key(strconv.Itoa(i))
		e, err := w.locals[0].Pick(s, k, nil, w.now)
		require.NoError(t, err)
		again, _ := w.locals[1].Pick(s, k, nil, w.now)
		require.Same(t, e, again)
		if s.groups[1].has(e) {
			second++
		}
	}
	assert.InDelta(t, 300, second, 50)
}

func TestARetryGoesToAnotherTierRatherThanBack(t *testing.T) {
	w := newWorld(t, 1)
	s := w.tiers(ServiceConfig{}, 1, 1, 1)
	var tried Tried
	for _, m := range s.Members {
		e, err := w.locals[0].Pick(s, Key{}, &tried, w.now)
		require.NoError(t, err)
		require.Same(t, m.Endpoint, e)
		tried.Add(e)
	}
	e, err := w.locals[0].Pick(s, Key{}, &tried, w.now)
	require.NoError(t, err)
	assert.Same(t, s.Members[0].Endpoint, e)
	w.eject(s, 0, 1, 2)
	_, err = w.locals[0].Pick(s, Key{}, nil, w.now)
	require.ErrorIs(t, err, ErrNoEndpoint)
}

func TestHealthOfTiers(t *testing.T) {
	w := newWorld(t, 1)
	s := w.tiers(ServiceConfig{}, 2, 2)
	w.unhealthy(s, 0)
	s.Members[2].Endpoint.SetDraining(true, w.now)
	assert.InDeltaSlice(t, []float64{.7, .3}, w.shares(s), 1e-9)
	s.Members[1].Endpoint.SetDraining(true, w.now)
	w.now += second
	assert.Equal(t, []float64{0, 1}, w.shares(s))

	panicking := w.tiers(ServiceConfig{Panic: 80}, 2, 2)
	assert.InDeltaSlice(t, []float64{.7, .3}, w.shares(panicking), 1e-9, "whoever does not drain is needed")
}

// What a tier in slow start does not take yet goes to the next one, once and not twice.
func TestASlowStartOfATier(t *testing.T) {
	const n = 20000
	w := newWorld(t, 1)
	s := w.tiers(ServiceConfig{WarmUp: 10 * time.Second, SlowStart: 10 * time.Second}, 1, 1)
	s.Members[0].Endpoint.join(true, w.now)
	assert.Equal(t, []int{0, 100}, w.counts(0, s, nil, 100), "it warms up")
	w.now += 15 * second
	share, _ := s.Share(s.Members[0].Endpoint, w.now)
	got := 0
	for range n / 20 { // choices go by shares that another choice has counted
		w.locals[0].spills[0].expires = 0
		got += w.counts(0, s, nil, 20)[0]
	}
	assert.InDelta(t, share*n, got, .02*n)
	w.now += 5 * second
	assert.Equal(t, []int{100, 0}, w.counts(0, s, nil, 100))

	s.Members[1].Endpoint.join(true, w.now)
	s.Members[0].Endpoint.SetHealth(Unhealthy, w.now)
	assert.Equal(t, []int{0, 100}, w.counts(0, s, nil, 100), "no warm-up causes an outage")
}

func TestATierWithoutWeightIsNone(t *testing.T) {
	w := newWorld(t, 1)
	members := w.members(3, Member{Weight: 1, Priority: 7})
	members[0].Weight, members[0].Priority = 0, 0
	members[2].Priority = 9
	s := w.service(ServiceConfig{Members: members})
	assert.Equal(t, 2, s.tiers)
	assert.Equal(t, []int{0, 50, 0}, w.counts(0, s, nil, 50))
}

func TestTiersDoNotAllocate(t *testing.T) {
	w := newWorld(t, 1)
	for _, balance := range everyBalance {
		s := w.tiers(ServiceConfig{Balance: balance}, 3, 3)
		w.eject(s, 0, 1)
		w.counts(0, s, nil, 100)
		assert.Zero(t, testing.AllocsPerRun(100, func() {
			w.now += spillAge
			_, _ = w.locals[0].Pick(s, key("a"), nil, w.now)
			_, _ = w.locals[0].Pick(s, Key{}, nil, w.now)
		}), balance)
		w.now += second
	}
}
