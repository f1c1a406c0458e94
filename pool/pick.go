package pool

import "math/bits"

// Pick chooses an endpoint of s for a try. Members without weight and those that a gate keeps out are never chosen, and
// one that was tried only if no other is left; in a panic health does not count. ErrNoEndpoint: there is none. now is
// monotonic nanoseconds. No allocation, except by the first choices of a service on a loop.
func (l *Local) Pick(s *Service, tried *Tried, now int64) (*Endpoint, error) {
	c := choice{local: l, service: s, tried: tried, now: now}
	if s.Panic > 0 || s.warms {
		c.prepare()
	}
	if tried.Len() > 0 {
		if i := c.someone(); i >= 0 {
			return c.chosen(i), nil
		}
		c.tried = nil
	}
	if i := c.someone(); i >= 0 {
		return c.chosen(i), nil
	}
	l.stats.NoEndpoint++
	return nil, ErrNoEndpoint
}

// choice is one call of Pick. Its methods return indexes into the service's usable members, -1: none.
type choice struct {
	local   *Local
	service *Service
	tried   *Tried
	now     int64
	panic   bool // health and ejections are ignored
	cold    bool // only endpoints that warm up are left
}

func (c *choice) balance() int {
	switch n := len(c.service.usable); {
	case n == 0:
		return -1
	case n == 1:
		if c.allowed(0) {
			return 0
		}
		return -1
	}
	switch c.service.Balance {
	case RoundRobin:
		return c.local.rotation(c.service).next(c)
	case LeastRequests:
		return c.lighter()
	default:
		return c.draw()
	}
}

// allowed says whether member i may be chosen.
func (c *choice) allowed(i int) bool {
	e := c.service.usable[i].endpoint
	if (e.out() || c.service.warms) && c.barred(e) != "" {
		return false
	}
	for _, g := range c.service.gates {
		if !g.Allow(e, c.now) && !c.overrules(g) {
			return false
		}
	}
	return !c.tried.Has(e)
}

// draw chooses by weight. Drawing again when a member is not allowed keeps the proportions of the others; after a few
// times the allowed ones are counted, so that the cost is bounded however few are left.
func (c *choice) draw() int {
	for range redraws {
		if i := c.service.at(c.local.below(c.service.total)); c.allowed(i) {
			return i
		}
	}
	return c.drawAmongAllowed()
}

func (c *choice) drawAmongAllowed() int {
	var total uint64
	for i := range c.service.usable {
		if c.allowed(i) {
			total += c.service.usable[i].weight
		}
	}
	if total == 0 {
		return -1
	}
	rest, last := c.local.below(total), -1
	for i := range c.service.usable {
		if !c.allowed(i) {
			continue
		}
		last = i
		if w := c.service.usable[i].weight; rest >= w {
			rest -= w
		} else {
			break
		}
	}
	return last
}

// lighter draws two different members by weight and takes the one with less load per weight, the first if they are equal.
func (c *choice) lighter() int {
	first := c.draw()
	if first < 0 {
		return -1
	}
	a := &c.service.usable[first]
	for range redraws {
		// A number below the total without a's share, moved past a's share, hits every other member by its weight.
		r := c.local.below(c.service.total - a.weight)
		if r >= a.below {
			r += a.weight
		}
		second := c.service.at(r)
		if !c.allowed(second) {
			continue
		}
		b := &c.service.usable[second]
		if uint64(max(b.endpoint.Active(), 0))*a.weight < uint64(max(a.endpoint.Active(), 0))*b.weight {
			return second
		}
		return first
	}
	return first
}

// at is the member whose share of the weights contains r.
func (s *Service) at(r uint64) int {
	if s.equal {
		return int(r / s.usable[0].weight)
	}
	lo, hi := 0, len(s.usable)
	for hi-lo > 1 {
		if mid := int(uint(lo+hi) >> 1); s.usable[mid].below <= r {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// below is a random number under n. The bias of a multiplication without rejection is n/2⁶⁴, far under what can be seen.
func (l *Local) below(n uint64) uint64 {
	hi, _ := bits.Mul64(l.random.Uint64(), n)
	return hi
}
