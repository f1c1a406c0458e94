package route

import "slices"

// place is where routes stand that cover the same paths: one exact path of one
// host, or one end of one trie node. Its routes are candidates in order of
// rank. A place is never empty. One that bears the number of the running edit may
// be changed in place, any other one never.
type place[T any] struct {
	edit   uint64
	host   uint32 // of an exact path
	path   string // exact; empty in a trie
	routes []*entry[T]
	// single backs routes of the common place, which has one, so that a lookup
	// finds it in memory that it has already loaded.
	single [1]*entry[T]
}

func newPlace[T any](edit uint64, host uint32, path string, routes ...*entry[T]) *place[T] {
	p := &place[T]{edit: edit, host: host, path: path}
	p.set(routes)
	return p
}

func (p *place[T]) set(routes []*entry[T]) {
	p.routes, p.single[0] = routes, nil
	if len(routes) == 1 {
		p.single[0] = routes[0]
		p.routes = p.single[:]
	}
}

// own returns a place that the edit may change. Copying the list for each of the
// many routes that one edit may bring to a place would cost their square.
func (p *place[T]) own(edit uint64) *place[T] {
	if p.edit == edit {
		return p
	}
	return newPlace(edit, p.host, p.path, slices.Clone(p.routes)...)
}

// with returns the place with one more route, for the edit.
func (p *place[T]) with(edit uint64, e *entry[T]) *place[T] {
	if p == nil {
		return newPlace(edit, 0, "", e)
	}
	at, _ := slices.BinarySearchFunc(p.routes, e, func(have, want *entry[T]) int {
		if have.outranks(want) {
			return -1
		}
		return 1
	})
	p = p.own(edit)
	p.set(slices.Insert(p.routes, at, e))
	return p
}

// without returns the place without the route, for the edit, or nil if it was the
// last one.
func (p *place[T]) without(edit uint64, e *entry[T]) *place[T] {
	if len(p.routes) == 1 {
		return nil
	}
	p = p.own(edit)
	at := slices.Index(p.routes, e)
	p.set(slices.Delete(p.routes, at, at+1))
	return p
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
