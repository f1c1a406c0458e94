package health

import (
	"container/heap"
	"context"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/pool"
)

// Target is an endpoint of the published generation.
type Target struct {
	Endpoint *pool.Endpoint
	// Check is how it is probed; nil: not.
	Check *pool.Check
	// Source is the local address of probes; invalid: the system chooses.
	Source netip.Addr
}

// Change tells that checks have found an endpoint in another state.
type Change struct {
	Endpoint *pool.Endpoint
	From, To pool.Health
	Reason   string
}

// Options are what a Checker works with.
type Options struct {
	// OnChange is told of every change, after the endpoint was. It runs on the goroutine of the probe; nil: nobody wants to
	// know.
	OnChange func(Change)
}

// Checker probes endpoints. Any goroutine but a loop's may call its methods.
type Checker struct {
	// immutable
	onChange   func(Change)
	now        func() int64 // monotonic nanoseconds, as the pool counts them
	newAttempt func(Target) func(context.Context) outcome
	parallel   int
	wake       chan struct{} // at most one waits; it stands for all

	mu      sync.Mutex // guards what follows
	records map[*pool.Endpoint]*record
	queue   queue
	running int

	done    sync.WaitGroup // probes that run
	results [Results]atomic.Uint64
}

// New makes a checker that knows no endpoint.
func New(o Options) *Checker {
	if o.OnChange == nil {
		o.OnChange = func(Change) {}
	}
	return &Checker{
		onChange: o.OnChange, now: reactor.Monotonic, newAttempt: newAttempt, parallel: MaxParallel,
		wake: make(chan struct{}, 1), records: make(map[*pool.Endpoint]*record),
	}
}

// Update makes the targets, all endpoints of a generation, the ones that are followed. What is checked as before goes on
// undisturbed; a check that changed begins anew, and its first result decides; an endpoint that is not checked any more
// is unknown.
func (c *Checker) Update(targets []Target) {
	c.mu.Lock()
	stays := make(map[*pool.Endpoint]bool, len(targets))
	for _, t := range targets {
		stays[t.Endpoint] = true
		c.follow(t)
	}
	for e, r := range c.records {
		if !stays[e] {
			c.end(r)
			delete(c.records, e)
		}
	}
	c.mu.Unlock()
	c.awake()
}

func (c *Checker) follow(t Target) {
	r := c.records[t.Endpoint]
	if r == nil {
		r = &record{endpoint: t.Endpoint}
		c.records[t.Endpoint] = r
		t.Endpoint.SetHealth(pool.Unknown, c.now()) // it may have been here before
	}
	switch {
	case t.Check == nil:
		if r.probe != nil {
			c.end(r)
			c.set(r, pool.Unknown, "not checked any more")
		}
	case r.probe == nil || *r.probe.target.Check != *t.Check || r.probe.target.Source != t.Source:
		c.end(r)
		r.probe = &probe{target: t, attempt: c.newAttempt(t)}
		r.probe.due = time.Now().Add(r.probe.firstDelay())
		heap.Push(&c.queue, r.probe)
	}
}

// end stops the probe of a record, which may run: its result does not count.
func (c *Checker) end(r *record) {
	p := r.probe
	if p == nil {
		return
	}
	r.probe, p.ended = nil, true
	if p.index >= 0 {
		heap.Remove(&c.queue, p.index)
	} else {
		p.cancel()
	}
}

// set tells the endpoint what it is and says whether that is new.
func (c *Checker) set(r *record, h pool.Health, reason string) (before pool.Health, changed bool) {
	before = r.endpoint.SetHealth(h, c.now())
	if before == h {
		return before, false
	}
	r.note(Transition{At: time.Now(), State: h.String(), Reason: reason})
	return before, true
}

// Run probes until ctx ends, and returns when no probe runs any more. It is to be called once.
func (c *Checker) Run(ctx context.Context) {
	defer c.done.Wait()
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		next.Reset(c.begin(ctx))
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		case <-c.wake:
		}
	}
}

// begin starts the probes that are due, as many as may run, and returns the time until there is more to do.
func (c *Checker) begin(ctx context.Context) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	for len(c.queue) > 0 && c.running < c.parallel {
		p := c.queue[0]
		if wait := p.due.Sub(now); wait > 0 {
			return wait
		}
		heap.Pop(&c.queue)
		c.running++
		own, cancel := context.WithTimeout(ctx, p.target.Check.Timeout)
		p.cancel = cancel
		c.done.Go(func() {
			defer cancel()
			c.finish(ctx, p, now, p.attempt(own))
		})
	}
	return noneDue
}

// finish judges a probe and puts it into the queue again.
func (c *Checker) finish(ctx context.Context, p *probe, began time.Time, o outcome) {
	defer c.awake()
	change, changed := c.conclude(ctx, p, began, o)
	if changed {
		c.onChange(change)
	}
}

func (c *Checker) conclude(ctx context.Context, p *probe, began time.Time, o outcome) (Change, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
	if p.ended || ctx.Err() != nil {
		return Change{}, false
	}
	c.results[o.result].Add(1)
	now := time.Now()
	r := c.records[p.target.Endpoint]
	r.last = Probe{At: began, Result: o.result, Reason: o.reason, Latency: now.Sub(began)}
	p.due = began.Add(p.nextDelay())
	heap.Push(&c.queue, p)
	h := p.judge(o.result, r.endpoint.Health())
	before, changed := c.set(r, h, o.reason)
	return Change{Endpoint: r.endpoint, From: before, To: h, Reason: o.reason}, changed
}

// awake makes Run look again.
func (c *Checker) awake() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Note adds to the history of an endpoint what others than checks have done to it, such as an ejection. Endpoints that
// are not in the generation have none.
func (c *Checker) Note(e *pool.Endpoint, state, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.records[e]; r != nil {
		r.note(Transition{At: time.Now(), State: state, Reason: reason})
	}
}

// Report returns what is known of an endpoint; nothing if it is not in the generation.
func (c *Checker) Report(e *pool.Endpoint) Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.records[e]; r != nil {
		return r.report()
	}
	return Report{}
}

// Count is the number of probes that have ended with a result.
func (c *Checker) Count(r Result) uint64 { return c.results[r].Load() }
