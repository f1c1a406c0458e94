package engine

import (
	"github.com/corelane/corelane/engine/reactor"
)

// This file is what the control side reads of a server besides counters.

// LoopInfo is the state of one loop, readable without asking it.
type LoopInfo struct {
	ID, CPU     int
	Connections int64
	Generation  uint64
	// SinceTurn is the time since its last turn began, in nanoseconds, and
	// Waiting says that it has nothing to do.
	SinceTurn int64
	Waiting   bool
}

// Loops returns the state of every loop.
func (s *Server) Loops() []LoopInfo {
	out := make([]LoopInfo, len(s.workers))
	now := reactor.Monotonic()
	for i, w := range s.workers {
		out[i] = LoopInfo{
			ID: i, CPU: s.cpuOf(i), Connections: w.loop.Live(), Generation: w.passed.Load(),
			SinceTurn: now - w.loop.LastTurn(), Waiting: w.loop.Waiting(),
		}
	}
	return out
}

// Rings returns the access logs of the loops, for the one writer.
func (s *Server) Rings() []*Ring {
	out := make([]*Ring, len(s.workers))
	for i, w := range s.workers {
		out[i] = w.ring
	}
	return out
}

// TakeEvents returns what happened since the last call and the number of events
// lost so far.
func (s *Server) TakeEvents() (events []Event, lost uint64) {
	return s.events.take(), s.events.lost.Load()
}

// SeriesName returns the route id of a slot of Stats.Routes, "other" for the
// shared one and "" for one that is not taken.
func (s *Server) SeriesName(slot int) string { return s.series.Name(slot) }

// Memory returns the bytes of buffers in use and the budget; 0 is no limit.
func (s *Server) Memory() (used, limit int64) { return s.memory.Used(), s.memory.Limit() }

// ResumedTwice counts calls of Handle.Resume that came second or late.
func (s *Server) ResumedTwice() uint64 { return s.resumedTwice.Load() }

// Options returns what the server was made with.
func (s *Server) Options() Options { return s.options }
