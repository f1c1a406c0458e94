package filters

import (
	"sync/atomic"
	"time"
)

// DefaultWait is the deadline of a Wait that names none.
const DefaultWait = 5 * time.Second

// The wait word is a generation in the upper bits and one of these below.
const (
	waitIdle uint64 = iota
	waitPending
	waitResumed
	waitExpired
	waitStateMask uint64 = 3
	waitStep      uint64 = 4
)

// waitState is what a loop and the goroutine that resumes share.
type waitState struct {
	// Atomic: generation and state. Whoever moves it out of waitPending decides
	// how the wait ends.
	word atomic.Uint64
	// Written by the winner of a Resume before its Wake, read by the loop after.
	value any
	// Owned by the loop: nobody waits any more, but a Resume had won already and
	// its Wake is still to come.
	dropped bool
	// Owned by the loop: the wait is for a call, and how long it may take.
	called bool
	limit  time.Duration
}

// Handle resumes one suspended exchange, once. It is a small value that may be
// copied to any goroutine and stays safe after the exchange has gone: a second,
// late or foreign Resume is ignored and counted. The zero Handle resumes
// nothing.
type Handle struct {
	ctx  *Context
	word uint64
}

// Wait suspends the exchange: return the verdict Wait after calling it. After
// `timeout` (DefaultWait if not positive) without Resume the answer is 503
// filter_unavailable. Hand copies to the goroutine that will resume, never the
// context or its slices. A filter that gives another verdict after all has given
// the handle up; one that calls Wait again has given up the handle before. Loop
// only.
func (c *Context) Wait(timeout time.Duration) Handle {
	c.dropCall()
	if !c.open(timeout) {
		return Handle{}
	}
	c.host.SetWaitDeadline(int64(c.waiting.limit))
	return Handle{ctx: c, word: c.waiting.word.Load()}
}

// open begins a wait. False: the Wake of a handle that was given up is still on
// its way; the node it travels on is not free, so no other can be granted.
func (c *Context) open(timeout time.Duration) bool {
	old := c.waiting.word.Load()
	if old&waitStateMask == waitResumed {
		return false
	}
	if timeout <= 0 {
		timeout = DefaultWait
	}
	c.waiting.value, c.waiting.limit = nil, timeout
	c.waiting.word.Store((old&^waitStateMask + waitStep) | waitPending)
	return true
}

// Suspended tells whether a Resume has come, or may come, for the filter that
// ran last. Loop only; for the engine.
func (c *Context) Suspended() bool {
	state := c.waiting.word.Load() & waitStateMask
	return !c.waiting.dropped && (state == waitPending || state == waitResumed)
}

// Resume hands the value to the filter's OnResume on the exchange's loop. Any
// goroutine may call it, also before the filter has returned Wait. It reports
// whether this call is the one that counts; even then OnResume is not called
// if the exchange was aborted meanwhile.
func (h Handle) Resume(value any) bool {
	if h.ctx == nil {
		return false
	}
	w := &h.ctx.waiting
	// Claim first, publish after: only the winner may write the value, and the
	// loop reads it only after Wake, which orders the two.
	if !w.word.CompareAndSwap(h.word, h.word&^waitStateMask|waitResumed) {
		h.ctx.host.ResumedTwice()
		return false
	}
	w.value = value
	h.ctx.host.Wake()
	return true
}

// ExpireWait ends a wait that is still pending, at its deadline or because nobody
// needs it any more, and takes its call back; it does nothing when none is. False
// means that a Resume has won and its Wake is on the way: the context must not be
// recycled before SettleWait, and no wait is granted until then. Loop only; for
// the engine.
func (c *Context) ExpireWait() bool {
	c.dropCall()
	word := c.waiting.word.Load()
	// Only a Resume can come between, so a lost race has one meaning.
	if word&waitStateMask == waitPending && c.waiting.word.CompareAndSwap(word, word&^waitStateMask|waitExpired) {
		return true
	}
	c.waiting.dropped = c.waiting.word.Load()&waitStateMask == waitResumed
	return !c.waiting.dropped
}

// SettleWait takes note of a Wake that no filter waits for any more: the context
// may be recycled and wait again. Loop only; for the engine.
func (c *Context) SettleWait() {
	word := c.waiting.word.Load()
	c.waiting.word.Store(word &^ waitStateMask) // waitIdle
	c.waiting.value = nil
	c.waiting.dropped = false
}

// takeResume returns the value of the Resume whose Wake has arrived.
func (c *Context) takeResume() any {
	v := c.waiting.value
	c.SettleWait()
	return v
}
