package pool

import "time"

// maxRow is the number of ejections in a row from which they do not last longer.
const maxRow = 10

// Passive ejects an endpoint for a while after a number of failed tries in a row.
type Passive struct {
	// ConsecutiveFailures is the number of failures in a row, counted over all loops, that ejects; 0: off.
	ConsecutiveFailures int
	// Eject is the duration of a first ejection. The second in a row lasts twice as long and so on, up to ten times; each
	// Eject that passes quietly after an ejection makes the next one shorter again.
	Eject time.Duration
	// MaxEjected is the largest share of the members with a weight that may be out at once, in percent from 0 to 100,
	// rounded down to whole endpoints. The only endpoint of a service is never ejected.
	MaxEjected int
}

// ejector is a service's passive ejection. It has no state of its own: all is in the endpoints and the service's State.
type ejector struct {
	failures int64
	eject    int64
	most     int // endpoints that may be out at once
	state    *State
	members  []weighted
}

func newEjector(p Passive, state *State, members []weighted) *ejector {
	g := &ejector{failures: int64(p.ConsecutiveFailures), eject: int64(p.Eject), state: state, members: members}
	if len(members) > 1 {
		g.most = len(members) * p.MaxEjected / 100
	}
	return g
}

// ejected says whether passive ejection of the service keeps e out.
func (s *Service) ejected(e *Endpoint, now int64) bool { return s.passive != nil && e.Ejected(now) }

// report tells how a try on e ended, and says whether e was put out for it. The counter is written on success only if it is
// not zero, so that a healthy endpoint's cache line stays shared. It goes on counting through an ejection: an endpoint whose
// first try afterwards fails is put out again.
func (g *ejector) report(e *Endpoint, o Outcome, now int64) (ejects bool) {
	switch {
	case o == Success:
		if e.failures.Load() != 0 {
			e.failures.Store(0)
		}
	case o.Failed():
		return e.failures.Add(1) >= g.failures && g.tryEject(e, now)
	}
	return false
}

// tryEject puts e out unless it is out or too many are. One loop decides at a time, so the share is exact; a loop that
// comes second leaves it to the next failure rather than wait. True: e is out.
func (g *ejector) tryEject(e *Endpoint, now int64) (lasts bool) {
	if g.most == 0 || !g.state.ejecting.CompareAndSwap(false, true) {
		return false
	}
	if lasts = e.EjectedUntil() <= now && g.out(now) < g.most; lasts {
		row := min(g.row(e, now)+1, maxRow)
		e.row.Store(row)
		e.ejectedUntil.Store(now + g.eject*row)
		e.ejections.Add(1)
		g.state.ejections.Add(1)
	}
	g.state.ejecting.Store(false)
	return lasts && g.eject > 0
}

// row is the number of ejections in a row that still count: one less for each eject interval since the last one ended.
func (g *ejector) row(e *Endpoint, now int64) int64 {
	row := e.row.Load()
	if row == 0 || g.eject == 0 {
		return 0
	}
	return max(row-(now-e.EjectedUntil())/g.eject, 0)
}

// out counts the ejected members.
func (g *ejector) out(now int64) int {
	n := 0
	for i := range g.members {
		if g.members[i].endpoint.Ejected(now) {
			n++
		}
	}
	return n
}
