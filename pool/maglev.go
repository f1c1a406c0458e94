package pool

import (
	"slices"
	"weak"

	"github.com/cespare/xxhash/v2"
)

// tableSize is the number of entries of a lookup table: a prime, as the paper's, and not less than maxMembers.
const tableSize = 65537

// maglev is the lookup table of one tier of a Hash service: which member a hash belongs to (Eisenbud et al., "Maglev",
// NSDI 2016, §3.4). It is immutable, depends on the members' addresses and weights only, and is shared by generations.
type maglev struct {
	members []weighted
	entries [tableSize]uint16
}

// newMaglev fills a table. Members take turns in proportion to their weights; in its turn a member takes the first free
// entry of a permutation of its own. Each gets at least one. The order of the members must not depend on how they were
// configured. Cost: tableSize turns, each of a few probes and a logarithm of the number of members.
func newMaglev(members []weighted) *maglev {
	t := &maglev{members: members}
	turns := newTurns(members)
	at, skip := make([]uint32, len(members)), make([]uint32, len(members))
	for i := range members {
		id := identityOf(members[i].endpoint)
		at[i] = uint32(xxhash.Sum64String("offset\x00"+id) % tableSize)
		skip[i] = uint32(xxhash.Sum64String("skip\x00"+id)%(tableSize-1)) + 1
	}
	taken := make([]bool, tableSize)
	for range tableSize {
		i := turns.next()
		p := at[i]
		for taken[p] {
			if p += skip[i]; p >= tableSize {
				p -= tableSize
			}
		}
		taken[p], at[i] = true, p
		t.entries[p] = uint16(i)
	}
	return t
}

// turns is a heap of members; the next is the one with the fewest turns for its weight. Members of equal weights come in
// their order again and again, as they would from the heap.
type turns struct {
	members []weighted
	equal   bool
	at      int // equal: who is next
	had     []uint64
	heap    []int
}

// newTurns begins with one turn for everybody, in their order: a sorted heap.
func newTurns(members []weighted) *turns {
	t := &turns{members: members, had: make([]uint64, len(members)), heap: make([]int, len(members))}
	t.equal = !slices.ContainsFunc(members, func(m weighted) bool { return m.weight != members[0].weight })
	for i := range t.heap {
		t.heap[i] = i
	}
	return t
}

func (t *turns) next() int {
	if t.equal {
		i := t.at
		if t.at++; t.at == len(t.members) {
			t.at = 0
		}
		return i
	}
	i := t.heap[0]
	t.had[i]++
	t.sink()
	return i
}

// sink moves the first of the heap, who has had a turn, down to its place.
func (t *turns) sink() {
	for at := 0; ; {
		child := 2*at + 1
		if child >= len(t.heap) {
			return
		}
		if right := child + 1; right < len(t.heap) && t.before(t.heap[right], t.heap[child]) {
			child = right
		}
		if t.before(t.heap[at], t.heap[child]) {
			return
		}
		t.heap[at], t.heap[child] = t.heap[child], t.heap[at]
		at = child
	}
}

func (t *turns) before(i, j int) bool {
	a, b := t.had[i]*t.members[j].weight, t.had[j]*t.members[i].weight
	return a < b || a == b && i < j
}

// table returns a table for the members that a living generation has built already, or builds one. Only the control
// side calls it; two compilations at once may build the same table twice, and no more.
func (st *State) table(members []weighted) *maglev {
	var known []weak.Pointer[maglev]
	if list := st.tables.Load(); list != nil {
		known = *list
	}
	var kept []weak.Pointer[maglev]
	var found *maglev
	for _, p := range known {
		t := p.Value()
		if t == nil {
			continue
		}
		if kept = append(kept, p); slices.Equal(t.members, members) {
			found = t
		}
	}
	if found == nil {
		found = newMaglev(members)
		kept = append(kept, weak.Make(found))
	}
	st.tables.Store(&kept)
	return found
}

// hashed is the member that the key's hash belongs to. If it may not be chosen, the entries that follow are asked, which
// belong to other members as good as at random; after hashProbes of them any member that may be chosen, the same one for
// the same key. Without a key it draws.
func (c *choice) hashed() int {
	if !c.key.Has {
		return c.draw()
	}
	at := c.key.Hash % tableSize
	for range hashProbes {
		if i := int(c.group.table.entries[at]); c.allowed(i) {
			return i
		}
		if at++; at == tableSize {
			at = 0
		}
	}
	return c.amongAllowed(c.key.Hash)
}
