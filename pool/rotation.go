package pool

import "slices"

// rotation is a loop's position in the round of one group of a RoundRobin service.
type rotation struct {
	state   *State
	group   *group // of the generation last used
	follow  *rotation
	at      int     // equal weights: the next member
	current []int64 // otherwise: the members' credit
}

// rotation finds the position in g. Several groups share a State (tiers and parts of one service), so positions form a
// short chain; a group of a new generation with the same members goes on where the old one was.
func (l *Local) rotation(st *State, g *group) *rotation {
	if st.slot < len(l.rotations) {
		for r := l.rotations[st.slot]; r != nil; r = r.follow {
			if r.group == g {
				return r
			}
		}
	}
	return l.findRotation(st, g)
}

func (l *Local) findRotation(st *State, g *group) *rotation {
	slot := st.slot
	for slot >= len(l.rotations) {
		l.rotations = append(l.rotations, nil)
	}
	n := 0
	for at := &l.rotations[slot]; *at != nil; n++ {
		r := *at
		switch {
		case r.state == st && slices.Equal(r.group.members, g.members):
			r.group = g
			return r
		case r.state != st || n >= maxRotations-1:
			*at = r.follow // of a service that had the slot before, or the oldest
		default:
			at = &r.follow
		}
	}
	r := &rotation{state: st, group: g, follow: l.rotations[slot]}
	l.rotations[slot] = r
	r.start(l.id, l.loops)
	return r
}

// start moves the position to a place of the loop's own, so that the loops do not all begin with the same member.
func (r *rotation) start(id, loops int) {
	n := len(r.group.members)
	if r.group.equal {
		r.at = id * n / loops % n
		return
	}
	r.current = make([]int64, n)
	for range min(id*n/loops, maxOffsetWork/n) {
		r.smooth(func(int) bool { return true })
	}
}

// next is the member whose turn it is, among those allowed; -1: none.
func (r *rotation) next(c *choice) int {
	if !r.group.equal {
		return r.smooth(c.allowed)
	}
	n := len(r.group.members)
	for range n {
		at := r.at
		if r.at++; r.at == n {
			r.at = 0
		}
		if c.allowed(at) {
			return at
		}
	}
	return -1 // and the position is where it was
}

// smooth is nginx's smooth weighted round robin: everyone gains its weight, the richest is chosen and pays for all.
// Members that are not allowed neither gain nor pay.
func (r *rotation) smooth(allowed func(i int) bool) int {
	best, total := -1, int64(0)
	for i := range r.group.members {
		if !allowed(i) {
			continue
		}
		w := int64(r.group.members[i].weight)
		total += w
		r.current[i] += w
		if best < 0 || r.current[i] > r.current[best] {
			best = i
		}
	}
	if best >= 0 {
		r.current[best] -= total
	}
	return best
}

// clone copies a chain of positions.
func (r *rotation) clone() *rotation {
	if r == nil {
		return nil
	}
	out := *r
	out.current, out.follow = slices.Clone(r.current), r.follow.clone()
	return &out
}
