// style: mutex allowed: collectors are goroutines of the control side; no loop takes the lock
// style: time.Now allowed: the control side waits for loops here

package engine

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/corelane/corelane/engine/reactor"
)

// collectPoll is how often a collector looks whether the loops have answered.
const collectPoll = 200 * time.Microsecond

// handOverTask carries an empty block to a loop and a filled one back.
type handOverTask struct {
	task   reactor.Task
	block  *Stats
	filled atomic.Pointer[Stats]
}

// Collector keeps the totals of all loops. Any goroutine of the control side
// may call it.
type Collector struct {
	server *Server

	mu     sync.Mutex
	totals []*Stats
	spare  []*Stats
	late   []*handOverTask // by loop: a hand-over that missed its deadline
}

// NewCollector makes a collector; a server has one, since taking the counters
// empties them.
func NewCollector(s *Server) *Collector {
	c := &Collector{server: s, totals: make([]*Stats, len(s.workers)), late: make([]*handOverTask, len(s.workers))}
	for i := range c.totals {
		c.totals[i] = new(Stats)
	}
	return c
}

// Collect asks every loop for its counters, waits at most for the deadline and
// calls view with the totals by loop and the loops that did not answer. The
// totals must not be used after view returns.
func (c *Collector) Collect(deadline time.Duration, view func(totals []*Stats, missing []int)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked := make([]*handOverTask, len(c.server.workers))
	for i, w := range c.server.workers {
		if asked[i] = c.late[i]; asked[i] == nil {
			asked[i] = c.ask(w)
		}
		c.late[i] = nil
	}
	var missing []int
	end := time.Now().Add(deadline)
	for i, t := range asked {
		filled := t.filled.Load()
		for ; filled == nil && time.Now().Before(end); filled = t.filled.Load() {
			time.Sleep(collectPoll)
		}
		if filled == nil {
			missing = append(missing, i)
			c.late[i] = t
			continue
		}
		c.totals[i].Merge(filled)
		filled.clear()
		c.spare = append(c.spare, filled)
	}
	view(c.totals, missing)
}

// ask posts a hand-over to a loop.
func (c *Collector) ask(w *worker) *handOverTask {
	t := &handOverTask{block: new(Stats)}
	if n := len(c.spare); n > 0 {
		t.block, c.spare = c.spare[n-1], c.spare[:n-1]
	}
	t.task.Run = func(*reactor.Loop) { t.filled.Store(w.handOver(t.block)) }
	w.loop.Post(&t.task)
	return t
}

// clear zeroes the counters and keeps the room for routes.
func (s *Stats) clear() {
	routes := s.Routes
	clear(routes)
	*s = Stats{Routes: routes}
}
