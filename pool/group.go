package pool

import (
	"cmp"
	"math/bits"
	"slices"
)

// group is a set of members that one draw chooses among: those of one tier, or what a subset left out of it.
type group struct {
	priority int
	members  []weighted
	total    uint64  // sum of their weights
	equal    bool    // their weights are all the same
	table    *maglev // of a Hash service
}

// newGroups puts the members with a weight into groups: first one for each tier, the preferred one first, then, in the
// same order, what subsets left out, for the day when no other member may be chosen.
func newGroups(cfg *ServiceConfig) (groups []group, tiers int) {
	byPriority := map[int][]weighted{}
	var priorities []int
	for _, m := range cfg.Members {
		if m.Weight == 0 {
			continue
		}
		if byPriority[m.Priority] == nil {
			priorities = append(priorities, m.Priority)
		}
		byPriority[m.Priority] = append(byPriority[m.Priority], weighted{endpoint: m.Endpoint, weight: uint64(m.Weight)})
	}
	slices.Sort(priorities)
	var rest []group
	for _, p := range priorities {
		members := byPriority[p]
		if cfg.Balance != Hash && cfg.Balance != Sticky && len(members) > subsetSize {
			chosen, left := subset(cfg.Node, members)
			members, rest = chosen, append(rest, newGroup(p, left))
		}
		if cfg.Balance == Hash {
			slices.SortFunc(members, func(a, b weighted) int { return compareIdentity(a.endpoint, b.endpoint) })
		}
		groups = append(groups, newGroup(p, members))
	}
	return append(groups, rest...), len(groups)
}

func newGroup(priority int, members []weighted) group {
	g := group{priority: priority, members: members, equal: true}
	for i := range members {
		m := &members[i]
		m.below = g.total
		g.total += m.weight
		g.equal = g.equal && m.weight == members[0].weight
	}
	return g
}

// compareIdentity orders endpoints by what names them on every node.
func compareIdentity(a, b *Endpoint) int {
	return cmp.Or(cmp.Compare(a.addr.String(), b.addr.String()), cmp.Compare(a.identity, b.identity))
}

// draw is the member whose share of the weights contains the point, a number between 0 and 2⁶⁴.
func (g *group) draw(point uint64) int {
	if g.equal {
		return int(scale(point, uint64(len(g.members))))
	}
	return g.at(scale(point, g.total))
}

// drawBut is draw without member i.
func (g *group) drawBut(i int, point uint64) int {
	if g.equal {
		at := int(scale(point, uint64(len(g.members)-1)))
		if at >= i {
			at++
		}
		return at
	}
	// A number below the total without i's share, moved past i's share, hits every other member by its weight.
	m := &g.members[i]
	r := scale(point, g.total-m.weight)
	if r >= m.below {
		r += m.weight
	}
	return g.at(r)
}

// at is the member whose share of the weights contains r. The halving has no branch that could be predicted wrongly.
func (g *group) at(r uint64) int {
	lo := 0
	for n := len(g.members); n > 1; {
		half := n >> 1
		_, under := bits.Sub64(r, g.members[lo+half].below, 0)
		lo += half & (int(under) - 1)
		n -= half
	}
	return lo
}

// scale maps a point, a number between 0 and 2⁶⁴, to a number under n. The bias of a multiplication without rejection is
// n/2⁶⁴, far under what can be seen.
func scale(point, n uint64) uint64 {
	hi, _ := bits.Mul64(point, n)
	return hi
}
