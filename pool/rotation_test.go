package pool

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func (w *world) sequence(loop int, s *Service, n int) string {
	var out []byte
	for range n {
		e, err := w.locals[loop].Pick(s, Key{}, nil, w.now)
		require.NoError(w.t, err)
		for i, m := range s.Members {
			if m.Endpoint == e {
				out = append(out, byte('a'+i))
			}
		}
	}
	return string(out)
}

func TestRoundRobinIsSmooth(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{Balance: RoundRobin}, 5, 1, 1)
	assert.Equal(t, "aabacaa"+"aabacaa", w.sequence(0, s, 14))
}

func TestRoundRobinLoopsStartApart(t *testing.T) {
	w := newWorld(t, 4)
	s := w.service(ServiceConfig{Balance: RoundRobin}, 1, 1, 1, 1)
	for i, want := range []string{"abcda", "bcdab", "cdabc", "dabcd"} {
		assert.Equal(t, want, w.sequence(i, s, 5))
	}
	weighted := w.service(ServiceConfig{Name: "weighted", Balance: RoundRobin}, 2, 1, 1, 1)
	first := map[string]bool{}
	for i := range 4 {
		first[w.sequence(i, weighted, 4)] = true
	}
	assert.Greater(t, len(first), 1)
}

func TestRoundRobinFairness(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		loops := rapid.IntRange(1, 5).Draw(t, "loops")
		w := newWorld(t, loops)
		weights := make([]int, rapid.IntRange(1, 7).Draw(t, "members"))
		total, equal := 0, rapid.Bool().Draw(t, "equal")
		for i := range weights {
			weights[i] = 3
			if !equal {
				weights[i] = rapid.IntRange(1, 9).Draw(t, "weight")
			}
			total += weights[i]
		}
		s := w.service(ServiceConfig{Balance: RoundRobin}, weights...)
		got, n := make([]int, len(weights)), 0
		for loop := range loops {
			picks := rapid.IntRange(0, 300).Draw(t, "picks")
			n += picks
			for i, c := range w.counts(loop, s, nil, picks) {
				got[i] += c
			}
		}
		for i := range weights {
			mean := float64(n) * float64(weights[i]) / float64(total)
			require.LessOrEqual(t, abs(float64(got[i])-mean), float64(loops), "member %d of %v: %v", i, weights, got)
		}
	})
}

// Loops pick in any order, generations change, and a window may end anywhere: no member is more than one request for each
// loop away from its share.
func TestRoundRobinFairnessInEveryWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		loops, members := rapid.IntRange(1, 8).Draw(t, "loops"), rapid.IntRange(1, 12).Draw(t, "members")
		w := newWorld(t, loops)
		weights := make([]int, members)
		for i := range weights {
			weights[i] = 1
		}
		s := w.service(ServiceConfig{Balance: RoundRobin}, weights...)
		got := map[*Endpoint]int{}
		for n, loop := range rapid.SliceOfN(rapid.IntRange(0, loops-1), 1, 300).Draw(t, "picks") {
			if n%50 == 49 {
				s = w.service(ServiceConfig{Balance: RoundRobin}, weights...)
			}
			e, err := w.locals[loop].Pick(s, Key{}, nil, w.now)
			require.NoError(t, err)
			got[e]++
			mean := float64(n+1) / float64(members)
			for _, m := range s.Members {
				require.LessOrEqual(t, abs(float64(got[m.Endpoint])-mean), float64(loops), "after %d picks: %v", n+1, got)
			}
		}
	})
}

func TestRoundRobinOfTiersKeepsTheirPositions(t *testing.T) {
	w := newWorld(t, 1)
	s := w.tiers(ServiceConfig{Balance: RoundRobin}, 4, 3)
	w.eject(s, 0, 1, 2)
	got := w.counts(0, s, nil, 3000)
	assert.InDelta(t, got[4], got[5], 1)
	assert.InDelta(t, got[5], got[6], 1)
	assert.Greater(t, got[4], 300)
}

func abs(x float64) float64 { return max(x, -x) }

func TestRoundRobinSkipsTheEjected(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{Balance: RoundRobin, Passive: ejecting}, 1, 1, 1)
	w.eject(s, 1)
	assert.Equal(t, "acacac", w.sequence(0, s, 6))
	w.now += second
	assert.Equal(t, "abcabc", w.sequence(0, s, 6), "it is back")
}

func TestRoundRobinGoesOnInTheNextGeneration(t *testing.T) {
	for _, weights := range [][]int{{1, 1, 1}, {3, 2, 1}} {
		w, other := newWorld(t, 1), newWorld(t, 1)
		want := other.sequence(0, other.service(ServiceConfig{Balance: RoundRobin}, weights...), 30)
		got := ""
		for len(got) < len(want) {
			got += w.sequence(0, w.service(ServiceConfig{Balance: RoundRobin}, weights...), 1)
		}
		assert.Equal(t, want, got)
	}
}

func TestRoundRobinOfPartsOfOneService(t *testing.T) {
	w := newWorld(t, 1)
	parts := []*Service{
		w.service(ServiceConfig{Balance: RoundRobin}, 1, 1, 1),
		w.service(ServiceConfig{Balance: RoundRobin}, 1, 1),
		w.service(ServiceConfig{Balance: RoundRobin}, 0, 1, 1),
	}
	got := make([]string, len(parts))
	for range 6 {
		for i, s := range parts {
			got[i] += w.sequence(0, s, 1)
		}
	}
	assert.Equal(t, []string{"abcabc", "ababab", "bcbcbc"}, got)
}

func TestRotationsAreBounded(t *testing.T) {
	w := newWorld(t, 1)
	for weight := range 3 * maxRotations {
		w.sequence(0, w.service(ServiceConfig{Balance: RoundRobin}, weight+1, 1), 1)
	}
	n := 0
	for r := w.locals[0].rotations[0]; r != nil; r = r.follow {
		n++
	}
	assert.Equal(t, maxRotations, n)
}

func TestRotationOfAReusedServiceSlotStartsAfresh(t *testing.T) {
	w := newWorld(t, 1)
	old := w.service(ServiceConfig{Name: "old", Balance: RoundRobin}, 1, 1, 1)
	w.sequence(0, old, 2)
	w.registry.Publish(nil)
	w.registry.Reclaim()
	fresh := w.service(ServiceConfig{Name: "fresh", Balance: RoundRobin}, 1, 1, 1)
	require.Equal(t, old.State.Slot(), fresh.State.Slot())
	assert.Equal(t, "abc", w.sequence(0, fresh, 3))
	assert.Nil(t, w.locals[0].rotations[fresh.State.Slot()].follow, "the old position is forgotten")
}
