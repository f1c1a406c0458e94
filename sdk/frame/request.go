package frame

import (
	"context"
	"sync"
	"time"
)

// Request is a request that a handler is asked to answer. It belongs to the
// handler until that returns.
type Request struct {
	// ID is the number of the request on its connection.
	ID uint64
	// Call is what the client wants.
	Call     Call
	Metadata Metadata
	// Body is what the client sends. In a request of several frames it may still be
	// under way; it need not be read.
	Body Body
	// Deadline is when the client stops waiting; zero: it has not said. The context
	// ends then.
	Deadline time.Time
	// OneWay: the client wants no response; what the handler answers is dropped.
	OneWay bool
	// Peer is the address of the client.
	Peer string

	few [8]Field // room for the usual metadata
}

// TraceParent is the trace that the request belongs to (W3C Trace Context), empty
// if there is none.
func (r *Request) TraceParent() string { return r.Metadata.Get("traceparent") }

// requestContext ends when the client cancels, goes away, or stops waiting, and
// when the handler has returned. It costs nothing while nobody asks for Done.
type requestContext struct {
	deadline time.Time

	mu    sync.Mutex
	done  chan struct{}
	timer *time.Timer
	err   error
}

var _ context.Context = (*requestContext)(nil)

// Deadline is when the client stops waiting.
func (c *requestContext) Deadline() (time.Time, bool) { return c.deadline, !c.deadline.IsZero() }

// Value has none.
func (c *requestContext) Value(any) any { return nil }

// Done is closed when the context ends.
func (c *requestContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done != nil {
		return c.done
	}
	c.done = make(chan struct{})
	switch {
	case c.err != nil:
		close(c.done)
	case !c.deadline.IsZero():
		c.timer = time.AfterFunc(time.Until(c.deadline), func() { c.end(context.DeadlineExceeded) })
	}
	return c.done
}

// Err is nil until the context has ended.
func (c *requestContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil && c.done == nil && !c.deadline.IsZero() && !time.Now().Before(c.deadline) {
		c.err = context.DeadlineExceeded
	}
	return c.err
}

func (c *requestContext) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
	}
	if c.err != nil {
		return
	}
	c.err = err
	if c.done != nil {
		close(c.done)
	}
}
