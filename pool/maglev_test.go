package pool

import (
	"slices"
	"strconv"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// members are endpoints of service s at consecutive ports, each with a copy of like.
func (w *world) members(n int, like Member) []Member {
	out := make([]Member, n)
	for i := range out {
		e, err := w.registry.Endpoint("s", "127.0.0.1:"+strconv.Itoa(1000+i), "")
		require.NoError(w.t, err)
		out[i] = like
		out[i].Endpoint = e
	}
	return out
}

func key(text string) Key { return Key{Hash: xxhash.Sum64String(text), Has: true} }

// owners are the endpoints of all table entries of a service with one tier.
func owners(s *Service) []*Endpoint {
	g := &s.groups[0]
	out := make([]*Endpoint, tableSize)
	for i, m := range g.table.entries {
		out[i] = g.members[m].endpoint
	}
	return out
}

// moved is the share of keys that two tables send to different endpoints.
func moved(a, b []*Endpoint) float64 {
	n := 0
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return float64(n) / tableSize
}

func TestFewKeysMoveWhenOneOfManyLeaves(t *testing.T) {
	w := newWorld(t, 1)
	worst := 0.0
	for n := 2; n <= 50; n++ {
		all := w.members(n, Member{Weight: 1})
		before := owners(w.service(ServiceConfig{Balance: Hash, Members: all}))
		left := slices.Delete(slices.Clone(all), n/2, n/2+1)
		share := moved(before, owners(w.service(ServiceConfig{Balance: Hash, Members: left})))
		require.LessOrEqual(t, share, 1/float64(n)+0.03, "%d members", n)
		worst = max(worst, share-1/float64(n))
	}
	t.Logf("at most %.2f %% more than the keys of the one that left", worst*100)
}

func TestKeysAreSpreadByWeight(t *testing.T) {
	w := newWorld(t, 1)
	for _, weights := range [][]int{
		{1}, {5, 5}, {1, 2, 3, 4}, {100, 1, 10}, {7, 7, 7, 7, 7, 7, 7, 8}, {65535, 3, 1, 1}, {1000, 999, 998, 997, 996, 995},
	} {
		s := w.service(ServiceConfig{Balance: Hash}, weights...)
		total, got := 0, map[*Endpoint]int{}
		for _, weight := range weights {
			total += weight
		}
		for _, e := range owners(s) {
			got[e]++
		}
		for i, weight := range weights {
			want := float64(tableSize) * float64(weight) / float64(total)
			require.InDelta(t, want, got[s.Members[i].Endpoint], float64(len(weights)), "%v: %d", weights, i)
		}
	}
}

func TestTheLightestMemberHasAnEntry(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{Balance: Hash}, maxWeight, maxWeight, 1, 0)
	all := owners(s)
	assert.Contains(t, all, s.Members[2].Endpoint)
	assert.NotContains(t, all, s.Members[3].Endpoint, "no weight, no keys")
}

func TestTheTableDoesNotDependOnTheOrderOfMembers(t *testing.T) {
	w := newWorld(t, 1)
	all := w.members(7, Member{Weight: 3})
	all[2].Weight = 5
	want := owners(w.service(ServiceConfig{Balance: Hash, Members: all}))
	slices.Reverse(all)
	assert.Equal(t, want, owners(w.service(ServiceConfig{Balance: Hash, Members: all})))
	elsewhere := newWorld(t, 1) // another process
	there := elsewhere.service(ServiceConfig{Balance: Hash}, 3, 3, 5, 3, 3, 3, 3)
	for i, e := range owners(there) {
		require.Equal(t, want[i].Address(), e.Address())
	}
}

func TestGenerationsShareATable(t *testing.T) {
	w := newWorld(t, 1)
	cfg := ServiceConfig{Balance: Hash}
	first := w.service(cfg, 1, 2, 3)
	other := w.service(cfg, 1, 2)
	next := w.service(ServiceConfig{Balance: Hash, Limits: Limits{MaxConnections: 3}}, 1, 2, 3, 0)
	assert.Same(t, first.groups[0].table, next.groups[0].table)
	assert.NotSame(t, first.groups[0].table, other.groups[0].table)
	assert.NotSame(t, first.groups[0].table, w.service(cfg, 1, 2, 4).groups[0].table, "other weights")
	for i := range 5 {
		w.service(cfg, i+1, 1)
	}
	assert.Same(t, first.groups[0].table, w.service(cfg, 1, 2, 3).groups[0].table, "as long as it is in use")
}

func TestTurnsOfEqualWeightsAreThoseOfTheHeap(t *testing.T) {
	members := make([]weighted, 7)
	for i := range members {
		members[i].weight = 3
	}
	short, heap := newTurns(members), newTurns(members)
	require.True(t, short.equal)
	heap.equal = false
	for range 50 {
		require.Equal(t, heap.next(), short.next())
	}
}

func TestATableOfTheMostMembersIsBuilt(t *testing.T) {
	members := make([]weighted, maxMembers)
	for i := range members {
		members[i] = weighted{endpoint: &Endpoint{identity: strconv.Itoa(i)}, weight: uint64(1 + i%3*1000)}
	}
	seen := make([]bool, maxMembers)
	for _, i := range newMaglev(members).entries {
		seen[i] = true
	}
	assert.NotContains(t, seen, false)
}

func TestEqualKeysGoToOneEndpoint(t *testing.T) {
	w := newWorld(t, 3)
	s := w.service(ServiceConfig{Balance: Hash}, 1, 1, 1, 1, 1)
	used := map[*Endpoint]bool{}
	for i := range 100 {
		k := key(strconv.Itoa(i))
		first, err := w.locals[0].Pick(s, k, nil, w.now)
		require.NoError(t, err)
		used[first] = true
		for _, l := range w.locals {
			again, _ := l.Pick(s, k, nil, w.now)
			require.Same(t, first, again)
		}
	}
	assert.Len(t, used, 5)
	assert.Greater(t, slices.Min(w.counts(0, s, nil, 5000)), 800, "without a key it draws")
}

func TestAHashedEndpointThatIsOutIsReplaced(t *testing.T) {
	w := newWorld(t, 1)
	s := w.service(ServiceConfig{Balance: Hash, Passive: ejecting}, 1, 1, 1, 1, 1, 1)
	pick := func(i int, tried *Tried) *Endpoint {
		e, err := w.locals[0].Pick(s, key(strconv.Itoa(i)), tried, w.now)
		require.NoError(t, err)
		return e
	}
	before, out := make([]*Endpoint, 600), s.Members[2].Endpoint
	for i := range before {
		before[i] = pick(i, nil)
	}
	w.eject(s, 2)
	heirs, heir := map[*Endpoint]int{}, make([]*Endpoint, len(before))
	for i, was := range before {
		is := pick(i, nil)
		heir[i] = is
		require.NotSame(t, out, is)
		if was != out {
			require.Same(t, was, is, "the keys of others stay")
			continue
		}
		heirs[is]++
		var tried Tried
		tried.Add(is)
		require.NotContains(t, []*Endpoint{is, out}, pick(i, &tried), "a retry goes on to yet another one")
	}
	assert.Len(t, heirs, 5, "its keys are spread over all others: %v", heirs)
	w.eject(s, 4)
	for i, is := range heir {
		if is != s.Members[4].Endpoint {
			require.Same(t, is, pick(i, nil), "another one that goes takes only its own")
		}
	}
	w.now += second
	for i, was := range before {
		require.Same(t, was, pick(i, nil), "its keys come back")
	}
}

func TestOneOfManyIsFoundByItsKeys(t *testing.T) {
	w := newWorld(t, 1)
	weights := make([]int, 2000)
	for i := range weights {
		weights[i] = 1
	}
	s := w.service(ServiceConfig{Balance: Hash, Passive: ejecting}, weights...)
	for i := range s.Members {
		if i != 777 && i != 778 {
			w.eject(s, i)
		}
	}
	used := map[*Endpoint]bool{}
	for i := range 50 {
		k := key(strconv.Itoa(i))
		e, err := w.locals[0].Pick(s, k, nil, w.now)
		require.NoError(t, err)
		again, _ := w.locals[0].Pick(s, k, nil, w.now)
		require.Same(t, e, again)
		used[e] = true
	}
	assert.Len(t, used, 2)
}
