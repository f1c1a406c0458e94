package engine

import (
	"sync/atomic"

	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/engine/sketch"
)

// noteUnknownPath counts a request without a route, and what it asked for as it
// was looked up; the query is no part of it.
func (x *Exchange) noteUnknownPath() {
	x.w.stats.UnknownPaths++
	x.w.unknown.Hit(x.query.Host(), x.query.Path(), x.w.loop.Wall(), x.Client)
}

// UnknownPaths is a question to all loops: which paths without a route were
// asked for most? The answers come one by one; whoever asked decides how long to
// wait. It belongs to one goroutine.
type UnknownPaths struct {
	answers []atomic.Pointer[sketch.Copy]
}

// AskUnknownPaths asks every loop. It may be called from any goroutine and does
// not wait.
func (s *Server) AskUnknownPaths() *UnknownPaths {
	q := &UnknownPaths{answers: make([]atomic.Pointer[sketch.Copy], len(s.workers))}
	for i, w := range s.workers {
		w.loop.Post(&reactor.Task{Run: func(*reactor.Loop) { q.answers[i].Store(w.unknown.Copy()) }})
	}
	return q
}

// Complete tells whether every loop has answered.
func (q *UnknownPaths) Complete() bool {
	for i := range q.answers {
		if q.answers[i].Load() == nil {
			return false
		}
	}
	return true
}

// Merge adds up the answers and names the loops that have not answered.
func (q *UnknownPaths) Merge() (sum *sketch.Copy, missing []int) {
	var copies []*sketch.Copy
	for i := range q.answers {
		if c := q.answers[i].Load(); c != nil {
			copies = append(copies, c)
		} else {
			missing = append(missing, i)
		}
	}
	return sketch.Merge(copies), missing
}
