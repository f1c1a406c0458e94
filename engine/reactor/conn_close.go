package reactor

import "golang.org/x/sys/unix"

// Closed reports whether Close, Linger or Abort was called or the connection failed.
func (c *Conn) Closed() bool { return c.phase > phaseOpen }

// CloseWrite sends a FIN after what was written. Reading goes on.
func (c *Conn) CloseWrite() {
	c.loop.assertLoop()
	if !c.canWrite() {
		return
	}
	c.Flush()
	c.sendParked()
	c.fin = finWanted
	if c.out.size == 0 && c.phase == phaseOpen && c.fault == nil {
		c.sendFIN()
	}
}

// Close closes the connection after what was written was sent, for which the write timeout applies, or
// 30 s if there is none. The handler hears nothing more. Unread input makes the kernel send a reset,
// which can overtake what was written: see Linger. A connection that is not established is given up.
func (c *Conn) Close() {
	c.Linger(0)
}

// Linger is Close for a peer that may still be sending: after what was written it sends a FIN, then
// discards what arrives until the peer's FIN, for total nanoseconds at most (RFC 9112 section 9.6).
// If bytes that RelayTo sends here wait in a pipe, the connection is reset: a FIN would say that all
// has come.
func (c *Conn) Linger(total int64) {
	c.loop.assertLoop()
	if c.phase > phaseOpen {
		return
	}
	if c.relayed != nil && c.relayed.held > 0 {
		c.Abort()
		return
	}
	c.sendParked()
	c.loop.flush() // also what points into the blocks that are given back below
	if c.phase == phaseConnecting || c.fault != nil {
		c.doom()
		return
	}
	c.lingerFor = total
	c.phase = phaseFinishing
	c.kept.clear(c.loop)
	if c.out.size == 0 {
		c.finish()
		return
	}
	c.feedTimer()
}

// finish goes on after the queue of a closed connection is empty.
func (c *Conn) finish() {
	if c.lingerFor <= 0 || c.eof {
		c.doom()
		return
	}
	if c.fin != finSent {
		c.sendFIN()
	}
	if c.phase != phaseFinishing {
		return // it broke
	}
	c.phase = phaseLingering
	c.loop.Arm(&c.timer, c.loop.now+c.lingerFor)
	if c.readable {
		c.loop.ready.push(c)
	}
}

// Abort closes the connection with a reset and drops what was written. The handler hears nothing more.
func (c *Conn) Abort() {
	c.loop.assertLoop()
	if c.phase == phaseDoomed {
		return
	}
	c.resetOnClose()
	c.doom()
}

// resetOnClose makes close(2) send a reset instead of a FIN.
func (c *Conn) resetOnClose() {
	if c.phase == phaseDoomed {
		return
	}
	// Best effort: a socket that refuses is closed all the same.
	_ = unix.SetsockoptLinger(c.fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
}

// fail closes the connection for a reason that its handler has to hear.
func (c *Conn) fail(err error) {
	tell := c.phase <= phaseOpen
	c.doom()
	if tell {
		c.handler.OnClose(c, err)
	}
}

// doom ends the connection; its descriptor is closed with the turn.
func (c *Conn) doom() {
	if c.phase == phaseDoomed {
		return
	}
	l := c.loop
	c.phase = phaseDoomed
	c.parked = nil
	c.endRelays()
	l.gather.drop(c)
	l.doomed = append(l.doomed, c)
	l.Forget(&c.timer)
}

// connAlarm keeps the timer's callback out of Conn's methods.
type connAlarm Conn

// OnTimer implements Alarm: the write timeout, or the end of lingering.
func (a *connAlarm) OnTimer(_ uint8, _ int64) {
	c := (*Conn)(a)
	l := c.loop
	l.current = c
	if c.phase != phaseLingering {
		c.resetOnClose()
	}
	c.fail(ErrWriteTimeout)
	l.current = nil
}

// closeDoomed closes descriptors at the end of the turn, when no event of the batch can name them.
func (l *Loop) closeDoomed() {
	for i, c := range l.doomed {
		l.doomed[i] = nil
		c.kept.clear(l)
		c.out.clear(l)
		l.slots.give(c.slot)
		_ = unix.Close(c.fd)
		if c.listener != nil {
			l.live.Add(-1)
			c.leaveLimits()
		}
	}
	l.doomed = l.doomed[:0]
}

// leaveLimits gives back the places of an accepted connection.
func (c *Conn) leaveLimits() {
	c.listener.own.release()
	c.limit.release()
}
