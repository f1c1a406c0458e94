package engine

import (
	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/pool"
)

// CloseIdle makes every loop close its idle connections to e, which is not to be
// used for now. Any goroutine; it does not wait. A task for each loop is
// allocated, also when a loop calls because of an ejection: between two of one
// endpoint lies at least the time of the first.
func (s *Server) CloseIdle(e *pool.Endpoint) {
	for _, w := range s.workers {
		w.loop.Post(&reactor.Task{Run: func(*reactor.Loop) {
			w.local.CloseIdle(e)
			w.retireLinks(e)
		}})
	}
}

// onEjected runs on a loop: passive ejection has put e out.
func (s *Server) onEjected(loop int, e *pool.Endpoint, now int64) {
	s.CloseIdle(e)
	s.events.push(Event{
		Kind: EventEjected, Loop: loop, Name: e.Address(), Endpoint: e, Nanos: e.EjectedUntil() - now,
	})
}
