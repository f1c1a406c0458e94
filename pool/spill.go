package pool

import (
	"math"
	"slices"
	"time"
)

const (
	// spillAge is the time for which a loop divides a service's requests in the same way, in nanoseconds. Counting the
	// usable members at each choice would make its cost grow with their number, and telling loops of each change would
	// need a word that every gate writes. Nothing rests on it being fresh: a member that is out is not chosen, and a tier
	// without a usable member is left at once.
	spillAge = int64(10 * time.Millisecond)
	// overprovision is the factor by which a tier may lose members before others take over, as in Envoy.
	overprovision = 1.4
	// spillNoise is a share that is left of rounding.
	spillNoise = 1e-9
)

// spill is how a loop divides the requests of a service with several tiers.
type spill struct {
	service *Service
	expires int64
	shares  []float64 // by tier; their sum is 1
}

// spill finds the division of s, counting anew when it is due. There is one for each service slot: parts of one service
// that take turns count anew each time.
func (l *Local) spill(s *Service, now int64) *spill {
	slot := s.State.slot
	for slot >= len(l.spills) {
		l.spills = append(l.spills, spill{})
	}
	sp := &l.spills[slot]
	if sp.service != s || now >= sp.expires || now < sp.expires-spillAge {
		sp.service, sp.expires = s, now+spillAge
		sp.count(l, now)
	}
	return sp
}

// count takes the health of each tier, its usable share × overprovision but at most 1, and lets the first tier have as
// many requests as its health allows, the next as many of the rest, and so on. Where all of them together are not
// healthy enough for every request, their parts grow in proportion. If none is, the first tier has all. A member in slow
// start counts whole: what it leaves to others is decided by the choice.
func (sp *spill) count(l *Local, now int64) {
	c := choice{local: l, service: sp.service, now: now, ramped: true, panic: l.panicking(sp.service, now)}
	sp.shares = sp.shares[:0]
	total := 0.0
	for t := range sp.service.tiers {
		c.group = &sp.service.groups[t]
		usable := 0
		for i := range c.group.members {
			if c.allowed(i) {
				usable++
			}
		}
		health := min(1, overprovision*float64(usable)/float64(len(c.group.members)))
		sp.shares = append(sp.shares, health)
		total += health
	}
	if total == 0 {
		sp.shares[0], total = 1, 1
	}
	left := 1.0
	for t, health := range sp.shares {
		share := min(left, health/min(total, 1))
		sp.shares[t] = share
		if left -= share; left < spillNoise {
			left = 0
		}
	}
}

// tier is the one that a point between 0 and 2⁶⁴ falls into.
func (sp *spill) tier(point uint64) int {
	at, last := float64(point)/math.MaxUint64, 0
	for t, share := range sp.shares {
		if share == 0 {
			continue
		}
		if last = t; at < share {
			break
		}
		at -= share
	}
	return last
}

func (sp *spill) clone() spill {
	return spill{service: sp.service, expires: sp.expires, shares: slices.Clone(sp.shares)}
}
