package pool

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func whys(verdicts []Verdict) []string {
	var out []string
	for _, v := range verdicts {
		if v.Usable {
			out = append(out, "")
		} else {
			out = append(out, v.Why)
		}
	}
	return out
}

func scores(verdicts []Verdict) []float64 {
	var out []float64
	for _, v := range verdicts {
		out = append(out, v.Score)
	}
	return out
}

func TestExplainNamesWhoIsLeftOut(t *testing.T) {
	w := newWorld(t, 1)
	g := &gateLog{}
	members := w.members(6, Member{Weight: 1})
	members[0].Weight, members[5].Priority = 0, 3
	s := w.service(ServiceConfig{Members: members, Passive: ejecting, Gates: []Gate{g}})
	w.eject(s, 1)
	g.refuse = s.Members[2].Endpoint
	var tried Tried
	tried.Add(s.Members[3].Endpoint)
	verdicts, choice := w.locals[0].explain(s, Key{}, &tried, w.now)
	assert.Equal(t, []string{"no_weight", "ejected", "gate", "tried", "", ""}, whys(verdicts), "0.7 of the first tier, 0.3 of the second")
	assert.Contains(t, []*Endpoint{s.Members[4].Endpoint, s.Members[5].Endpoint}, choice)
	for i, v := range verdicts {
		assert.Same(t, s.Members[i].Endpoint, v.Endpoint)
		assert.Equal(t, s.Members[i].Weight, v.Weight)
		assert.Equal(t, s.Members[i].Priority, v.Tier)
	}
	w.now += second
	g.refuse = nil
	w.locals[0].spills = nil
	verdicts, _ = w.locals[0].Explain(s, Key{}, w.now)
	assert.Equal(t, []string{"no_weight", "", "", "", "", "other_tier"}, whys(verdicts))
}

func TestExplainNamesHealthAndWarmUp(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{WarmUp: time.Minute}, 1, 1, 1, 1)
	w.unhealthy(s, 0)
	s.Members[1].Endpoint.SetDraining(true, w.now)
	s.Members[2].Endpoint.join(true, w.now)
	verdicts, choice := w.locals[0].Explain(s, Key{}, w.now)
	assert.Equal(t, []string{"unhealthy", "draining", "warming_up", ""}, whys(verdicts))
	assert.Same(t, s.Members[3].Endpoint, choice)
	w.unhealthy(s, 3)
	verdicts, choice = w.locals[0].Explain(s, Key{}, w.now)
	assert.Equal(t, []string{"unhealthy", "draining", "", "unhealthy"}, whys(verdicts), "better than none")
	assert.Same(t, s.Members[2].Endpoint, choice)
	panicking := w.service(ServiceConfig{Panic: 50}, 1, 1, 1, 1)
	verdicts, _ = w.locals[0].Explain(panicking, Key{}, w.now)
	assert.Equal(t, []string{"", "draining", "", ""}, whys(verdicts))
}

func TestExplainSaysNothingIsLeft(t *testing.T) {
	w := newWorld(t, 1)
	s := w.tiers(ServiceConfig{}, 1, 1)
	w.eject(s, 0, 1)
	verdicts, choice := w.locals[0].Explain(s, Key{}, w.now)
	assert.Nil(t, choice)
	assert.Equal(t, []string{"ejected", "ejected"}, whys(verdicts))
	verdicts, choice = w.locals[0].Explain(w.service(ServiceConfig{Name: "empty"}), Key{}, w.now)
	assert.Nil(t, choice)
	assert.Empty(t, verdicts)
	assert.Zero(t, w.locals[0].Stats().NoEndpoint, "a dry run is not counted")
}

func TestExplainOfSubsets(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{Members: w.members(51, Member{Weight: 1}), Passive: ejecting})
	left := s.groups[1].members[0].endpoint
	verdicts, _ := w.locals[0].Explain(s, Key{}, w.now)
	for _, v := range verdicts {
		assert.Equal(t, v.Endpoint != left, v.Usable)
		if !v.Usable {
			assert.Equal(t, "not_in_subset", v.Why)
		}
	}
	for i, m := range s.Members {
		if m.Endpoint != left {
			w.eject(s, i)
		}
	}
	verdicts, choice := w.locals[0].Explain(s, Key{}, w.now)
	assert.Same(t, left, choice)
	for _, v := range verdicts {
		assert.Equal(t, v.Endpoint == left, v.Usable)
	}
}

func TestExplainOfTiersByKey(t *testing.T) {
	w := newWorld(t, 1)
	s := w.tiers(ServiceConfig{Balance: Hash}, 4, 1)
	w.eject(s, 0, 1)
	verdicts, choice := w.locals[0].Explain(s, Key{Hash: 1, Has: true}, w.now)
	assert.Equal(t, []string{"ejected", "ejected", "", "", "other_tier"}, whys(verdicts))
	assert.True(t, s.groups[0].has(choice))
	verdicts, choice = w.locals[0].Explain(s, Key{Hash: 1<<64 - 1, Has: true}, w.now)
	assert.Equal(t, []string{"ejected", "ejected", "other_tier", "other_tier", ""}, whys(verdicts))
	assert.Same(t, s.Members[4].Endpoint, choice)
}

func TestExplainOfAStickyClient(t *testing.T) {
	w := newWorld(t, 1)
	s := w.tiers(ServiceConfig{Balance: Sticky}, 2, 2)
	verdicts, choice := w.locals[0].Explain(s, sticky(s, 2), w.now)
	assert.Equal(t, []string{"", "", "", "other_tier"}, whys(verdicts))
	assert.Same(t, s.Members[2].Endpoint, choice)
}

func TestScores(t *testing.T) {
	w := newWorld(t, 1)
	of := func(b Balance, k Key) []float64 {
		s := w.service(ServiceConfig{Balance: b, Passive: ejecting}, 1, 3, 4, 0)
		w.eject(s, 0)
		verdicts, _ := w.locals[0].Explain(s, k, w.now)
		return scores(verdicts)
	}
	for _, b := range []Balance{WeightedRandom, RoundRobin, Sticky, Hash} {
		assert.InDeltaSlice(t, []float64{0, 3 / 7., 4 / 7., 0}, of(b, Key{}), 1e-9, b)
	}
	s := w.service(ServiceConfig{Balance: EWMA}, 1, 3, 4, 0)
	for range 6 {
		w.locals[0].Start(s, s.Members[1].Endpoint)
	}
	assert.Equal(t, []float64{0, 2, 0, 0}, of(LeastRequests, Key{}))
	w.answered(s, 1, Success, 20*ms)
	w.answered(s, 2, Success, 10*ms)
	assert.InDeltaSlice(t, []float64{0, 20 * (6*8/9. + 1), 10, 0}, of(EWMA, Key{}), 1e-3)

	k := key("some key")
	h := w.service(ServiceConfig{Balance: Hash}, 1, 3, 4, 0)
	verdicts, choice := w.locals[0].Explain(h, k, w.now)
	for _, v := range verdicts[:3] {
		assert.Equal(t, v.Endpoint == choice, v.Score == 0)
		assert.GreaterOrEqual(t, v.Score, 0.0)
	}
}

// Whatever the state, Explain foretells the next Pick and does not change it.
func TestExplainForetellsPick(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, twin := newWorld(t, 2), newWorld(t, 2)
		cfg := ServiceConfig{Balance: rapid.SampledFrom(everyBalance).Draw(t, "balance"), Passive: ejecting, Node: "n"}
		cfg.Panic = rapid.SampledFrom([]float64{0, 60}).Draw(t, "panic")
		cfg.WarmUp = rapid.SampledFrom([]time.Duration{0, time.Second}).Draw(t, "warm-up")
		cfg.SlowStart = rapid.SampledFrom([]time.Duration{0, time.Minute}).Draw(t, "slow start")
		size := rapid.SampledFrom([]int{1, 2, 5, 60}).Draw(t, "size")
		priorities := rapid.SliceOfN(rapid.IntRange(0, 2), size, size).Draw(t, "priorities")
		make := func(w *world) *Service {
			cfg.Members = w.members(size, Member{Weight: 1})
			for i, p := range priorities {
				cfg.Members[i].Priority = p
				cfg.Members[i].Weight = 1 + i%3
			}
			return w.service(cfg)
		}
		s, untouched := make(w), make(twin)
		for range rapid.IntRange(1, 40).Draw(t, "picks") {
			k := Key{Hash: rapid.Uint64().Draw(t, "hash"), Has: rapid.Bool().Draw(t, "has")}
			if member := rapid.IntRange(-5, size-1).Draw(t, "sticky"); member >= 0 {
				k.Sticky = s.Members[member].Endpoint
			}
			out := rapid.IntRange(0, size-1).Draw(t, "out")
			switch rapid.IntRange(0, 3).Draw(t, "how") {
			case 0:
				w.eject(s, out)
				twin.eject(untouched, out)
			case 1:
				w.unhealthy(s, out)
				twin.unhealthy(untouched, out)
			case 2:
				s.Members[out].Endpoint.SetHealth(Healthy, w.now)
				untouched.Members[out].Endpoint.SetHealth(Healthy, w.now)
			}
			w.now += rapid.SampledFrom([]int64{0, 1, second / 4}).Draw(t, "passes")
			twin.now = w.now

			verdicts, foretold := w.locals[1].Explain(s, k, w.now)
			chosen, _ := w.locals[1].Pick(s, k, nil, w.now)
			require.Same(t, foretold, chosen)
			for _, v := range verdicts {
				require.True(t, v.Usable || v.Endpoint != chosen)
				require.Equal(t, v.Usable, v.Why == "")
			}
			if k.Sticky != nil {
				k.Sticky = untouched.Members[indexOf(s, k.Sticky)].Endpoint
			}
			other, _ := twin.locals[1].Pick(untouched, k, nil, w.now)
			require.Equal(t, indexOf(s, chosen), indexOf(untouched, other), "nobody was asked there")
		}
	})
}

func indexOf(s *Service, e *Endpoint) int {
	for i, m := range s.Members {
		if m.Endpoint == e {
			return i
		}
	}
	return -1
}

func TestExplainNeedsNoLoop(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{Balance: RoundRobin}, 1, 1)
	l := NewLocal(Options{Loops: 1})
	verdicts, choice := l.Explain(s, Key{}, w.now)
	assert.Len(t, verdicts, 2)
	assert.Same(t, s.Members[0].Endpoint, choice)
	_, again := l.Explain(s, Key{}, w.now)
	assert.Same(t, choice, again)
}
