package pool

import "slices"

// Verdict is what a choice thinks of one member.
type Verdict struct {
	Endpoint *Endpoint
	// Usable says that requests like this one may go to the endpoint now.
	Usable bool
	// Why says why not: no_weight; unhealthy, draining, warming_up or slow_start; the name of a gate such as ejected; tried;
	// not_in_subset; or other_tier where requests go to other tiers only. Empty for a usable one.
	Why string
	// Tier and Weight are as they are configured.
	Tier, Weight int
	// Score is what the balancer compares. LeastRequests: tries under way / weight, lower is better. EWMA: milliseconds ×
	// (tries under way per mean weight + 1), lower is better, 0 for an endpoint not measured yet. Hash with a key: the number of
	// table entries from the key's to the first of the endpoint, 0 is its own; -1: not in the tier's table. Otherwise the
	// share of the weights of its tier, as far as they are usable, from 0 to 1.
	Score float64
}

// The reasons of verdicts that are not a gate's.
const (
	whyNoWeight  = "no_weight"
	whyTried     = "tried"
	whySubset    = "not_in_subset"
	whyOtherTier = "other_tier"
)

// leaveOut notes, for Explain, why e may not be chosen. It returns false.
func (c *choice) leaveOut(e *Endpoint, why string) bool {
	if c.why != nil {
		c.why[e] = why
	}
	return false
}

// leaveOutBy is leaveOut for a gate, whose name is not asked for otherwise.
func (c *choice) leaveOutBy(g Gate, e *Endpoint) bool {
	return c.why != nil && c.leaveOut(e, gateName(g))
}

// Explain is a dry run of Pick: its verdicts on all members, in the order of s.Members, and what Pick would choose now;
// nil: nothing. The code is that of Pick, on a copy of the balancing state, so the next Pick with the same arguments
// chooses the same. It allocates and asks every member. Loop only, or anywhere with a Local that has no loop; that one
// knows no loop's position in a round.
func (l *Local) Explain(s *Service, k Key, now int64) (verdicts []Verdict, choice *Endpoint) {
	return l.explain(s, k, nil, now)
}

func (l *Local) explain(s *Service, k Key, tried *Tried, now int64) ([]Verdict, *Endpoint) {
	c := choice{local: l.copyForDryRun(s), service: s, key: k, tried: tried, now: now}
	c.prepare()
	chosen := c.endpoint()
	c.why = map[*Endpoint]string{}
	found := make(map[*Endpoint]Verdict, len(s.usable))
	for g := range s.groups {
		c.judge(g, chosen, found)
	}
	verdicts := make([]Verdict, 0, len(s.Members))
	for _, m := range s.Members {
		v, ok := found[m.Endpoint]
		if !ok {
			v = Verdict{Endpoint: m.Endpoint, Why: whyNoWeight}
		}
		v.Tier, v.Weight = m.Priority, m.Weight
		verdicts = append(verdicts, v)
	}
	return verdicts, chosen
}

// judge finds the verdicts on the members of one group.
func (c *choice) judge(g int, chosen *Endpoint, found map[*Endpoint]Verdict) {
	c.group = &c.service.groups[g]
	scores := c.scores()
	reached := c.reaches(g, chosen)
	for i := range c.group.members {
		v := Verdict{Endpoint: c.group.members[i].endpoint, Score: scores[i]}
		switch {
		case !c.allowed(i):
			v.Why = c.why[v.Endpoint]
		case reached || v.Endpoint == chosen:
			v.Usable = true
		case g < c.service.tiers:
			v.Why = whyOtherTier
		default:
			v.Why = whySubset
		}
		found[v.Endpoint] = v
	}
}

// reaches says whether requests like this one go to a group: it is a tier with a share of them, or none with a share had
// anybody left.
func (c *choice) reaches(g int, chosen *Endpoint) bool {
	if c.service.groups[g].has(chosen) && c.key.Sticky != chosen {
		return true
	}
	switch {
	case g >= c.service.tiers:
		return false
	case c.service.tiers == 1:
		return true
	}
	sp := c.local.spill(c.service, c.now)
	if c.key.Has {
		return sp.tier(c.key.Hash) == g
	}
	return sp.shares[g] > 0
}

func (g *group) has(e *Endpoint) bool {
	for i := range g.members {
		if g.members[i].endpoint == e {
			return true
		}
	}
	return false
}

// scores are what the balancer compares, by member of the group; see Verdict.
func (c *choice) scores() []float64 {
	members := c.group.members
	out := make([]float64, len(members))
	switch {
	case c.service.Balance == Hash && c.key.Has:
		c.distances(out)
		return out
	case c.service.Balance == LeastRequests:
		for i := range members {
			out[i] = float64(max(members[i].endpoint.Active(), 0)) / float64(members[i].weight)
		}
		return out
	case c.service.Balance == EWMA:
		for i := range members {
			_, left := members[i].endpoint.response.at(c.now)
			out[i] = c.group.cost(i, left) / 1e6
		}
		return out
	}
	total := 0.0
	for i := range members {
		if c.allowed(i) {
			out[i] = float64(members[i].weight)
			total += out[i]
		}
	}
	for i := range out {
		out[i] /= max(total, 1)
	}
	return out
}

// distances are the numbers of table entries from the key's to the first of each member.
func (c *choice) distances(out []float64) {
	for i := range out {
		out[i] = -1
	}
	for d := range uint64(tableSize) {
		i := c.group.table.entries[(c.key.Hash%tableSize+d)%tableSize]
		if out[i] < 0 {
			out[i] = float64(d)
		}
	}
}

// copyForDryRun is a Local with the same random numbers and the same positions for s, which may go on without a trace.
func (l *Local) copyForDryRun(s *Service) *Local {
	dry := &Local{id: l.id, loops: l.loops, random: l.random}
	slot := s.State.slot
	if slot < len(l.rotations) {
		dry.rotations = make([]*rotation, slot+1)
		dry.rotations[slot] = l.rotations[slot].clone()
	}
	if slot < len(l.panics) {
		dry.panics = slices.Clone(l.panics[:slot+1])
	}
	if slot < len(l.spills) {
		dry.spills = make([]spill, slot+1)
		dry.spills[slot] = l.spills[slot].clone()
	}
	return dry
}
