package reactor

import (
	"errors"
	"os"
)

// Pause stops deliveries. The socket is not read, so the peer is slowed down by its window.
func (c *Conn) Pause() {
	c.loop.assertLoop()
	c.paused = true
}

// Resume ends a pause. What is there is delivered after the current callback, in the same turn; when
// nothing is known to be there this is only a store.
func (c *Conn) Resume() {
	c.loop.assertLoop()
	if !c.paused {
		return
	}
	c.paused = false
	if c.phase == phaseOpen && (c.readable || c.kept.size > 0 || c.eof && !c.eofTold || c.fault != nil) {
		c.loop.ready.push(c)
	}
}

// Paused reports whether deliveries are stopped, by Pause or because not everything was consumed.
func (c *Conn) Paused() bool { return c.paused }

// readAvailable delivers until the socket is exhausted, the handler pauses or the budget is spent.
func (c *Conn) readAvailable() {
	if c.phase == phaseLingering {
		c.discard()
		return
	}
	for c.phase == phaseOpen && !c.paused && !c.stuck() && (c.readable || c.kept.size > 0) {
		if c.overBudget() {
			return
		}
		if c.relay != nil && c.kept.size == 0 {
			c.relay.step()
			continue
		}
		if c.kept.size > 0 && (!c.readable || c.kept.size >= c.readSize) {
			c.deliverKept()
			continue
		}
		c.readOnce()
	}
	if c.phase != phaseOpen || c.paused || c.stuck() {
		return
	}
	switch {
	case c.fault != nil:
		c.fail(c.fault)
	case c.eof && !c.eofTold:
		c.eofTold = true
		c.handler.OnEOF(c)
	}
}

// overBudget puts c off to the next turn when it had its share of this one.
func (c *Conn) overBudget() bool {
	l := c.loop
	if c.turn != l.turn {
		c.turn, c.spent = l.turn, 0
	}
	if c.spent < bytesPerTurn {
		return false
	}
	l.later.push(c)
	return true
}

// readOnce fills the loop's read buffer, behind what was kept, and delivers it.
func (c *Conn) readOnce() {
	l := c.loop
	l.flush() // the gather list may point into the read buffer
	buf := l.readBuf[readHeadroom : readHeadroom+c.readSize]
	have := c.kept.size
	c.kept.move(l, buf)
	n := c.fill(buf[have:])
	if have+n == 0 {
		return
	}
	rest := c.offer(buf[:have+n])
	if len(rest) > 0 && c.phase == phaseOpen {
		c.paused = true
		c.kept.add(l, rest)
	}
}

// fill reads once and notes what the result says of the socket.
func (c *Conn) fill(p []byte) int {
	l := c.loop
	n, err := c.transport.Read(c, p)
	l.stats.Reads++
	switch {
	case err != nil:
		c.readable = false
		if !errors.Is(err, ErrWouldBlock) {
			c.noteFault(os.NewSyscallError("read", err))
		}
		return 0
	case n == 0:
		c.readable = false
		c.eof = true
		return 0
	}
	if n < len(p) && !c.sticky && c.plain {
		// The receive buffer is empty, and what comes next is an edge. With a FIN or an error on its
		// way that would not hold: it may have come in the same edge as these bytes.
		c.readable = false
	}
	l.stats.BytesIn += uint64(n)
	c.bytesIn += uint64(n)
	return n
}

// noteFault keeps the first error, which is the cause.
func (c *Conn) noteFault(err error) {
	if c.fault == nil {
		c.fault = err
	}
}

// offer gives b to the handler and returns what it left.
func (c *Conn) offer(b []byte) (rest []byte) {
	c.spent += len(b)
	consumed := c.handler.OnData(c, b)
	if consumed < 0 || consumed > len(b) {
		panic("reactor: OnData consumed more than it was given")
	}
	return b[consumed:]
}

// deliverKept offers what was kept, without reading.
func (c *Conn) deliverKept() {
	l := c.loop
	if b := c.kept.head; b.next == nil {
		c.offerInPlace(b)
		return
	}
	l.flush()
	buf := l.readBuf[readHeadroom : readHeadroom+c.kept.size]
	c.kept.move(l, buf)
	rest := c.offer(buf)
	if len(rest) > 0 && c.phase == phaseOpen {
		c.paused = true
		c.kept.add(l, rest)
	}
}

// offerInPlace offers the bytes where they lie, which keeps a long pipeline of small requests from
// being copied again for each of them.
func (c *Conn) offerInPlace(b *Block) {
	rest := c.offer(b.mem[b.from:b.to])
	if c.phase != phaseOpen {
		return
	}
	c.loop.flush() // the gather list may point into the block
	c.kept.drop(c.loop, c.kept.size-len(rest))
	c.paused = c.paused || len(rest) > 0
}

// discard reads what a lingering peer still sends, until its FIN.
func (c *Conn) discard() {
	l := c.loop
	for c.readable {
		if c.overBudget() {
			return
		}
		l.flush()
		c.spent += c.fill(l.readBuf)
	}
	if c.eof || c.fault != nil {
		c.doom()
	}
}
