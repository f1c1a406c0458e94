package route

import "slices"

// place is where routes stand that cover the same paths: one exact path of one
// host, or one end of one trie node. Its routes are candidates in order of
// rank. A place never changes and is never empty.
type place[T any] struct {
	host   uint32 // of an exact path
	path   string // exact; empty in a trie
	routes []*entry[T]
	// single backs routes of the common place, which has one, so that a lookup
	// finds it in memory that it has already loaded.
	single [1]*entry[T]
}

func newPlace[T any](host uint32, path string, routes ...*entry[T]) *place[T] {
	p := &place[T]{host: host, path: path, routes: routes}
	if len(routes) == 1 {
		p.single[0] = routes[0]
		p.routes = p.single[:]
	}
	return p
}

// with returns the place with one more route.
func (p *place[T]) with(e *entry[T]) *place[T] {
	if p == nil {
		return newPlace(0, "", e)
	}
	at, _ := slices.BinarySearchFunc(p.routes, e, func(have, want *entry[T]) int {
		if have.outranks(want) {
			return -1
		}
		return 1
	})
	routes := make([]*entry[T], 0, len(p.routes)+1)
	routes = append(routes, p.routes[:at]...)
	routes = append(routes, e)
	routes = append(routes, p.routes[at:]...)
	return newPlace(p.host, p.path, routes...)
}

// without returns the place without the route, or nil if it was the last one.
func (p *place[T]) without(e *entry[T]) *place[T] {
	routes := make([]*entry[T], 0, len(p.routes))
	for _, have := range p.routes {
		if have != e {
			routes = append(routes, have)
		}
	}
	if len(routes) == 0 {
		return nil
	}
	return newPlace(p.host, p.path, routes...)
}

// choose sets the match to the first candidate whose predicates hold.
func (p *place[T]) choose(r *Request, m *Match[T], rec Recorder) {
	for i, e := range p.routes {
		why, condition := e.judge(r)
		if rec != nil {
			rec.Candidate(&e.spec, why, condition)
		}
		if why != Matched {
			continue
		}
		m.Outcome, m.Payload, m.Spec, m.names = Found, e.payload, &e.spec, e.names
		if rec != nil {
			p.reportOutranked(i+1, rec)
		}
		return
	}
	p.collectAllowed(r, m)
}

func (p *place[T]) reportOutranked(from int, rec Recorder) {
	for _, e := range p.routes[from:] {
		rec.Candidate(&e.spec, Outranked, "")
	}
}

// collectAllowed tells 405 from 404. It runs only when no candidate matched,
// so one with a method that failed is asked again for all the rest.
func (p *place[T]) collectAllowed(r *Request, m *Match[T]) {
	for _, e := range p.routes {
		if why, _ := e.judge(r); why != Method {
			continue
		}
		if why, _ := e.judgeConditions(r); why == Matched {
			m.Outcome = MethodNotAllowed
			m.allowed.addAll(&e.methods)
		}
	}
}
