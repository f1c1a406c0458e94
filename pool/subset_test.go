package pool

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// used are the members that a service may choose without need.
func used(s *Service) map[*Endpoint]bool {
	out := map[*Endpoint]bool{}
	for t := range s.tiers {
		for _, m := range s.groups[t].members {
			out[m.endpoint] = true
		}
	}
	return out
}

func common(a, b map[*Endpoint]bool) int {
	n := 0
	for e := range a {
		if b[e] {
			n++
		}
	}
	return n
}

func TestANodeUsesASubsetOfManyMembers(t *testing.T) {
	for _, balance := range everyBalance {
		w := newWorld(t, 1)
		cfg := ServiceConfig{Balance: balance, Node: "a", Members: w.members(subsetSize, Member{Weight: 2})}
		assert.Len(t, used(w.service(cfg)), subsetSize, balance)
		cfg.Members = w.members(300, Member{Weight: 2})
		want := subsetSize
		if balance == Hash || balance == Sticky {
			want = 300 // all nodes must agree
		}
		s := w.service(cfg)
		require.Len(t, used(s), want, balance)
		chosen := 0
		for i, n := range w.counts(0, s, nil, 20*300) {
			if n > 0 {
				chosen++
				assert.True(t, used(s)[s.Members[i].Endpoint])
			}
		}
		assert.Equal(t, want, chosen, balance)
	}
}

func TestSubsetsAreStableAndDifferByNode(t *testing.T) {
	w := newWorld(t, 1)
	all := w.members(200, Member{Weight: 1})
	on := func(node string, members []Member) map[*Endpoint]bool {
		return used(w.service(ServiceConfig{Node: node, Members: members}))
	}
	a, b := on("a", all), on("b", all)
	assert.Equal(t, a, on("a", all))
	assert.Less(t, common(a, b), 30, "a quarter by chance")
	var left []Member
	gone := 0
	for _, m := range all {
		if gone < 10 && a[m.Endpoint] {
			gone++
			continue
		}
		left = append(left, m)
	}
	assert.Equal(t, 40, common(a, on("a", left)), "only those that left are replaced")
}

func TestEveryMemberIsUsedBySomeNode(t *testing.T) {
	w := newWorld(t, 1)
	all, seen := w.members(200, Member{Weight: 1}), map[*Endpoint]int{}
	for node := range 60 {
		for e := range used(w.service(ServiceConfig{Node: string(rune('A' + node)), Members: all})) {
			seen[e]++
		}
	}
	assert.Len(t, seen, 200)
}

func TestTheOthersHelpWhenTheSubsetIsOut(t *testing.T) {
	for _, balance := range []Balance{WeightedRandom, RoundRobin, LeastRequests, EWMA} {
		w := newWorld(t, 1)
		s := w.service(ServiceConfig{Balance: balance, Passive: ejecting, Members: w.members(52, Member{Weight: 1})})
		mine := used(s)
		for i, m := range s.Members {
			if mine[m.Endpoint] {
				w.eject(s, i)
			}
		}
		n := 0
		for _, c := range w.counts(0, s, nil, 100) {
			if c > 0 {
				n++
			}
		}
		assert.Equal(t, 2, n, balance)
	}
}

func TestEachTierHasItsSubset(t *testing.T) {
	w := newWorld(t, 1)
	s := w.tiers(ServiceConfig{}, 60, 3, 70)
	require.Equal(t, 3, s.tiers)
	require.Len(t, s.groups, 5)
	for g, want := range []int{50, 3, 50, 10, 20} {
		assert.Len(t, s.groups[g].members, want, g)
	}
}
