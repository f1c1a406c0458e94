package reactor

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Stage returns an empty slice with room for at least 8 KiB to append to, which Commit then queues.
// Nothing else may be written on the loop in between.
func (c *Conn) Stage() []byte {
	l := c.loop
	l.assertLoop()
	l.begin(c)
	g := &l.gather
	if cap(g.scratch)-len(g.scratch) < scratchMin || g.full() {
		l.flush()
		l.begin(c)
	}
	return g.scratch[len(g.scratch):len(g.scratch):cap(g.scratch)]
}

// Commit queues what was appended to the slice of Stage. If it outgrew that slice it is only
// referenced: like with Write, it must stay unchanged until the flush.
func (c *Conn) Commit(b []byte) {
	if len(b) == 0 {
		return
	}
	g := &c.loop.gather
	if g.conn != c {
		panic("reactor: Commit without Stage")
	}
	if !c.canWrite() {
		return
	}
	if startOf(b) == endOf(g.scratch) && len(b) <= cap(g.scratch)-len(g.scratch) {
		g.stage(len(b))
		return
	}
	g.push(b) // append moved it
}

// Write queues b by reference: it must stay unchanged until the flush. That comes at the end of the
// callback, before the loop reads again, or when another Conn of the loop is written to; small writes
// are copied then and leave with those of the batch of events. If b is part of OnData's bytes, those
// in front of it may be overwritten by then. Writing to a Conn that was closed, or whose sending side
// was, does nothing.
func (c *Conn) Write(b []byte) {
	l := c.loop
	l.assertLoop()
	if len(b) == 0 || !c.canWrite() {
		return
	}
	l.begin(c)
	if l.gather.full() {
		l.flush()
		l.begin(c)
	}
	l.gather.add(b)
}

func (c *Conn) canWrite() bool { return c.phase <= phaseOpen && c.fin == finNone }

// Flush sends now what was written. It fails silently; OnClose comes after the callback.
func (c *Conn) Flush() {
	c.loop.assertLoop()
	c.sendParked()
	if c.loop.gather.conn == c {
		c.loop.flush()
	}
}

// Queued is the number of bytes written that the kernel has not taken yet.
func (c *Conn) Queued() int { return len(c.parked) + c.out.size + c.gathered() }

// Stalled reports whether the kernel has refused bytes that were written.
func (c *Conn) Stalled() bool { return c.out.size > 0 }

func (c *Conn) gathered() int {
	if c.loop.gather.conn == c {
		return c.loop.gather.size
	}
	return 0
}

// OverHigh reports whether what feeds c should pause until OnDrain: the queue has passed Options.High
// and not yet fallen to Options.Low, or bytes that are relayed to c wait in their pipe.
func (c *Conn) OverHigh() bool {
	if !c.over && !c.writable && c.Queued() > c.mark() {
		c.over = true // what is gathered for a socket that takes nothing now is going to be queued
	}
	return c.over || c.relayed != nil && c.relayed.held > 0
}

// mark is the high mark of now. When the process is out of its budget for buffers, those who hold more
// than a block stop being fed first: the largest, of which one cannot know which it is without asking
// all loops.
func (c *Conn) mark() int {
	if c.loop.opt.Memory.Over() {
		return min(BlockSize, c.loop.opt.High)
	}
	return c.loop.opt.High
}

// NotifyEmpty asks for one OnDrain when everything written was taken by the kernel, after the current
// callback if it has been.
func (c *Conn) NotifyEmpty() {
	c.loop.assertLoop()
	c.notify = true
	c.loop.ready.push(c)
}

// SetWriteTimeout sets for how long, in nanoseconds, queued bytes may wait without the peer taking one;
// then the connection is reset and OnClose gets ErrWriteTimeout. 0 means for ever.
func (c *Conn) SetWriteTimeout(ns int64) {
	c.writeTimeout = ns
	if c.out.size > 0 && c.phase == phaseOpen {
		c.feedTimer()
	}
}

// feedTimer starts the write timeout afresh.
func (c *Conn) feedTimer() {
	limit := c.writeTimeout
	if limit == 0 && c.phase == phaseFinishing {
		limit = closeTimeout
	}
	if limit > 0 {
		c.loop.Arm(&c.timer, c.loop.now+limit)
	} else {
		c.loop.Disarm(&c.timer)
	}
}

// send gives pieces to the socket and queues a copy of what it does not take.
func (c *Conn) send(pieces [][]byte) {
	if c.fault != nil || c.phase > phaseOpen || c.fin == finSent {
		return
	}
	if !c.writable || c.out.size > 0 {
		c.enqueue(pieces, 0)
		return
	}
	size := 0
	for _, p := range pieces {
		size += len(p)
	}
	n, ok := c.push(pieces)
	if ok && n < size {
		c.writable = false // the kernel says so when it has room again
		c.enqueue(pieces, n)
	}
}

// push makes one system call. It returns false if the connection broke.
func (c *Conn) push(pieces [][]byte) (n int, ok bool) {
	l := c.loop
	var err error
	if len(pieces) == 1 {
		n, err = c.transport.Write(c, pieces[0])
	} else {
		n, err = c.transport.Writev(c, pieces)
	}
	l.stats.Writes++
	if err != nil && !errors.Is(err, ErrWouldBlock) {
		c.broken(os.NewSyscallError("write", err))
		return 0, false
	}
	l.stats.BytesOut += uint64(n)
	c.bytesOut += uint64(n)
	return n, true
}

// enqueue copies pieces, without their first skip bytes, into the write queue.
func (c *Conn) enqueue(pieces [][]byte, skip int) {
	idle := c.out.size == 0
	for _, p := range pieces {
		k := min(skip, len(p))
		skip -= k
		c.out.add(c.loop, p[k:])
	}
	if c.out.size > c.mark() {
		c.over = true
	}
	if idle && c.phase == phaseOpen {
		c.feedTimer()
	}
}

// sendQueue sends what is queued, as far as the socket takes it, and tells the handler how far it got.
func (c *Conn) sendQueue() {
	if c.out.size == 0 || c.phase == phaseDoomed {
		return
	}
	l := c.loop
	for c.out.size > 0 && c.writable {
		pieces, size := c.out.pieces(l.pieces[:0])
		n, ok := c.push(pieces)
		if !ok {
			return
		}
		if n > 0 {
			c.out.drop(l, n)
			c.feedTimer()
		}
		c.writable = n == size
	}
	if c.out.size == 0 {
		c.drained()
	}
	c.tellDrain()
}

// drained does what waited for the queue to be empty.
func (c *Conn) drained() {
	c.loop.Disarm(&c.timer)
	if c.fin == finWanted {
		c.sendFIN()
	}
	if c.phase == phaseFinishing {
		c.finish()
	}
}

// tellDrain calls OnDrain if the queue has fallen to Low.
func (c *Conn) tellDrain() {
	low := c.over && c.out.size <= c.loop.opt.Low
	empty := c.notify && c.out.size == 0
	if low {
		c.over = false
	}
	if empty {
		c.notify = false
	}
	if (low || empty) && c.phase == phaseOpen {
		c.handler.OnDrain(c)
	}
}

// tellEmpty keeps the promise of NotifyEmpty for a queue that was empty all along.
func (c *Conn) tellEmpty() {
	if c.notify {
		c.sendParked()
	}
	if c.notify && c.out.size == 0 && c.phase == phaseOpen {
		c.notify = false
		c.handler.OnDrain(c)
	}
}

// sendFIN closes the sending side.
func (c *Conn) sendFIN() {
	c.fin = finSent
	if err := unix.Shutdown(c.fd, unix.SHUT_WR); err != nil {
		c.broken(os.NewSyscallError("shutdown", err))
	}
}
