package health

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/corelane/corelane/pool"
)

// probe is the checking of one endpoint with one check. Its place in the queue, or the goroutine that it runs on, is
// the only one that it has. The checker's lock guards what changes.
type probe struct {
	// immutable
	target  Target
	attempt func(ctx context.Context) outcome

	// guarded
	due     time.Time
	index   int // in the queue; -1: it runs, or has ended
	cancel  context.CancelFunc
	ended   bool // its endpoint is gone, or checked differently
	decided bool // a first result has come
	passes  int  // in a row
	fails   int
}

// judge counts a result and says what the endpoint is, which was before so far. The first result decides alone: an
// endpoint is used until something is known of it.
func (p *probe) judge(r Result, before pool.Health) pool.Health {
	if r == NotTried {
		return before
	}
	if r == Success {
		p.passes, p.fails = p.passes+1, 0
	} else {
		p.passes, p.fails = 0, p.fails+1
	}
	first := !p.decided
	p.decided = true
	switch {
	case p.passes > 0 && (first || p.passes >= p.target.Check.Rise):
		return pool.Healthy
	case p.fails > 0 && (first || p.fails >= p.target.Check.Fall):
		return pool.Unhealthy
	}
	return before
}

// firstDelay is a random time within the shorter of the interval and maxSpread.
func (p *probe) firstDelay() time.Duration {
	return time.Duration(rand.Float64() * float64(min(p.target.Check.Interval, maxSpread)))
}

// nextDelay is the interval, a little more or less.
func (p *probe) nextDelay() time.Duration {
	return time.Duration((1 - jitter + 2*jitter*rand.Float64()) * float64(p.target.Check.Interval))
}

// queue holds the probes that wait, the one due first at the front (container/heap).
type queue []*probe

// Len implements heap.Interface.
func (q queue) Len() int { return len(q) }

// Less implements heap.Interface.
func (q queue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }

// Swap implements heap.Interface.
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

// Push implements heap.Interface.
func (q *queue) Push(x any) {
	p := x.(*probe)
	p.index = len(*q)
	*q = append(*q, p)
}

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := len(*q) - 1
	p := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	p.index = -1
	return p
}
