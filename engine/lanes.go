package engine

import (
	"sync/atomic"

	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/pool"
)

// Lanes is a question to all loops: which upstream connections do you hold? The
// answers come one by one; whoever asked decides how long to wait. It belongs
// to one goroutine.
type Lanes struct {
	answers []atomic.Pointer[[]pool.LaneStats]
}

// AskLanes asks every loop. It may be called from any goroutine and does not
// wait.
func (s *Server) AskLanes() *Lanes {
	q := &Lanes{answers: make([]atomic.Pointer[[]pool.LaneStats], len(s.workers))}
	for i, w := range s.workers {
		w.loop.Post(&reactor.Task{Run: func(*reactor.Loop) {
			lanes := w.local.Snapshot(nil)
			q.answers[i].Store(&lanes)
		}})
	}
	return q
}

// Complete tells whether every loop has answered.
func (q *Lanes) Complete() bool {
	for i := range q.answers {
		if q.answers[i].Load() == nil {
			return false
		}
	}
	return true
}

// Each calls view with the endpoints of every loop that has answered.
func (q *Lanes) Each(view func(loop int, lanes []pool.LaneStats)) {
	for i := range q.answers {
		if lanes := q.answers[i].Load(); lanes != nil {
			view(i, *lanes)
		}
	}
}
