package pool

// Pick chooses an endpoint of s for a try. Members without weight and those that a gate keeps out are never chosen, and
// one that was tried only if no other is left; in a panic health does not count. ErrNoEndpoint: there is none. now is
// monotonic nanoseconds. No allocation, except by the first choices of a service on a loop.
func (l *Local) Pick(s *Service, k Key, tried *Tried, now int64) (*Endpoint, error) {
	// Member by member: a literal would be built aside and copied, which stalls on its narrow stores.
	var c choice
	c.local, c.service, c.tried, c.now = l, s, tried, now
	c.key.Hash, c.key.Has, c.key.Sticky = k.Hash, k.Has, k.Sticky
	if s.Panic > 0 || s.warms {
		c.prepare()
	}
	if e := c.endpoint(); e != nil {
		if c.panic {
			l.stats.Panicked++
		}
		return e, nil
	}
	l.stats.NoEndpoint++
	return nil, ErrNoEndpoint
}

// choice is one call of Pick. Where its methods return an index it is one into the members of the group, -1: none.
type choice struct {
	local   *Local
	service *Service
	group   *group // the members that are being considered
	key     Key
	tried   *Tried
	now     int64
	panic   bool                 // health and ejections are ignored
	cold    bool                 // only endpoints that warm up are left
	ramped  bool                 // slow start is not looked at
	why     map[*Endpoint]string // for Explain: who was left out and why; otherwise nil
}

// endpoint looks at the one that the client was given before, then at the tier whose turn it is, then elsewhere.
func (c *choice) endpoint() *Endpoint {
	s, first := c.service, 0
	if c.key.Sticky != nil {
		if e := c.pinned(); e != nil {
			return e
		}
	}
	if s.tiers != 1 {
		if s.tiers == 0 {
			return nil
		}
		first = c.local.spill(s, c.now).tier(c.point())
	}
	c.group = &s.groups[first]
	if i := c.balance(); i >= 0 {
		return c.group.members[i].endpoint
	}
	return c.elsewhere(first)
}

// elsewhere looks at the groups that come after one that had nobody, in order; then it gives way and begins again.
func (c *choice) elsewhere(first int) *Endpoint {
	for g := range c.service.groups {
		if g == first {
			continue
		}
		c.group = &c.service.groups[g]
		if i := c.balance(); i >= 0 {
			return c.group.members[i].endpoint
		}
	}
	if c.giveWay() {
		return c.endpoint()
	}
	return nil
}

func (c *choice) balance() int {
	if len(c.group.members) == 1 {
		if c.allowed(0) {
			return 0
		}
		return -1
	}
	switch c.service.Balance {
	case RoundRobin:
		return c.local.rotation(c.service.State, c.group).next(c)
	case LeastRequests, EWMA:
		return c.lighter()
	case Hash:
		return c.hashed()
	default:
		return c.draw()
	}
}

// allowed says whether member i may be chosen.
func (c *choice) allowed(i int) bool {
	e := c.group.members[i].endpoint
	if e.out() || c.service.warms {
		if why := c.barred(e); why != "" {
			return c.leaveOut(e, why)
		}
	}
	if !c.panic && c.service.ejected(e, c.now) {
		return c.leaveOut(e, WhyEjected)
	}
	if c.service.opens(e, c.now) {
		return c.leaveOut(e, whyOpening)
	}
	for _, g := range c.service.gates {
		if !g.Allow(e, c.now) {
			return c.leaveOutBy(g, e)
		}
	}
	return !c.tried.Has(e) || c.leaveOut(e, whyTried)
}

// draw chooses by weight. Drawing again when a member is not allowed keeps the proportions of the others; after a few
// times the allowed ones are counted, so that the cost is bounded however few are left.
func (c *choice) draw() int {
	for range redraws {
		if i := c.group.draw(c.local.random.Uint64()); c.allowed(i) {
			return i
		}
	}
	return c.amongAllowed(c.local.random.Uint64())
}

// amongAllowed is the allowed member whose share of their weights contains the point, a number between 0 and 2⁶⁴.
func (c *choice) amongAllowed(point uint64) int {
	var total uint64
	members := c.group.members
	for i := range members {
		if c.allowed(i) {
			total += members[i].weight
		}
	}
	if total == 0 {
		return -1
	}
	rest, last := scale(point, total), -1
	for i := range members {
		if !c.allowed(i) {
			continue
		}
		last = i
		if w := members[i].weight; rest >= w {
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
	for range redraws {
		second := c.group.drawBut(first, c.local.random.Uint64())
		if !c.allowed(second) {
			continue
		}
		if c.lessLoaded(second, first) {
			return second
		}
		return first
	}
	return first
}

// lessLoaded says whether member i carries less per weight than j: tries under way, with EWMA times how long they take.
func (c *choice) lessLoaded(i, j int) bool {
	a, b := &c.group.members[i], &c.group.members[j]
	if c.service.Balance == EWMA {
		ta, tb := compared(a.endpoint, b.endpoint, c.now)
		return c.group.cost(i, ta) < c.group.cost(j, tb)
	}
	return uint64(max(a.endpoint.Active(), 0))*b.weight < uint64(max(b.endpoint.Active(), 0))*a.weight
}
