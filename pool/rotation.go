package pool

import "slices"

// rotation is a loop's position in the round of one RoundRobin service.
type rotation struct {
	state   *State
	service *Service // of the generation last used
	follow  *rotation
	at      int     // equal weights: the next member
	current []int64 // otherwise: the members' credit
}

// rotation finds the position of s. Several services may share a State (parts of one service), so positions form a
// short chain; a service of a new generation with the same members goes on where the old one was.
func (l *Local) rotation(s *Service) *rotation {
	slot := s.State.slot
	if slot < len(l.rotations) {
		for r := l.rotations[slot]; r != nil; r = r.follow {
			if r.service == s {
				return r
			}
		}
	}
	return l.findRotation(s)
}

func (l *Local) findRotation(s *Service) *rotation {
	slot := s.State.slot
	for slot >= len(l.rotations) {
		l.rotations = append(l.rotations, nil)
	}
	n := 0
	for at := &l.rotations[slot]; *at != nil; n++ {
		r := *at
		switch {
		case r.state == s.State && slices.Equal(r.service.usable, s.usable):
			r.service = s
			return r
		case r.state != s.State || n >= maxRotations-1:
			*at = r.follow // of a service that had the slot before, or the oldest
		default:
			at = &r.follow
		}
	}
	r := &rotation{state: s.State, service: s, follow: l.rotations[slot]}
	l.rotations[slot] = r
	r.start(l.id, l.loops)
	return r
}

// start moves the position to a place of the loop's own, so that the loops do not all begin with the same member.
func (r *rotation) start(id, loops int) {
	n := len(r.service.usable)
	if r.service.equal {
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
	if !r.service.equal {
		return r.smooth(c.allowed)
	}
	n := len(r.service.usable)
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
	for i := range r.service.usable {
		if !allowed(i) {
			continue
		}
		w := int64(r.service.usable[i].weight)
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
