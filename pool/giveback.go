package pool

// Put gives c back after an exchange of s that ended cleanly. It goes to the first waiter of this loop; or is closed for
// another loop that waits, which also gets every fourth where both wait; or becomes the newest idle one. It is closed if
// it is too old, its endpoint is retired or out of use, or the limit was lowered. A connection that is not lent is left alone.
func (l *Local) Put(c Conn, s *Service, now int64) {
	n := c.Pooled()
	if n.state != busy {
		return
	}
	p := n.lane
	if reason := l.unfit(n, s, now); reason != ReasonRemoved {
		l.close(n, reason)
		return
	}
	if l.othersWait(p.endpoint) && (p.waiters.empty() || p.othersFirst()) {
		l.yield(n)
		return
	}
	n.expire(s.Limits, now)
	l.pushIdle(p, n)
	if !p.waiters.empty() {
		l.settle(p)
		return
	}
	l.expectIdle(n.expires)
	l.offer(p)
}

// unfit says why a connection must not be used again; ReasonRemoved: it may.
func (l *Local) unfit(n *Node, s *Service, now int64) CloseReason {
	e := n.lane.endpoint
	switch {
	case e.Retired():
		return ReasonRetired
	case s.Limits.MaxAge > 0 && now-n.born >= int64(s.Limits.MaxAge):
		return ReasonAge
	case e.over():
		return ReasonLimit
	case n.lane.waiters.empty() && l.closesIdle(s, e, now): // those who wait end on it, rather than on a new one
		return ReasonUnhealthy
	}
	return ReasonRemoved
}

// Remove tells that c is closed or about to be, lent or idle. Its slot is released once, however often Remove is called,
// and somebody who waits, here or on another loop, gets it.
func (l *Local) Remove(c Conn) {
	if n := c.Pooled(); n.state != unattached {
		l.detach(n, ReasonRemoved)
		l.release(n.lane)
	}
}

// CloseIdle closes this loop's idle connections to e, which became unhealthy, drains or was ejected. Lent ones are not
// touched; they are closed when they come back, if e is out of use then.
func (l *Local) CloseIdle(e *Endpoint) {
	if p := l.known(e); p != nil {
		l.closeIdle(p, ReasonUnhealthy)
	}
}

// CloseRetired is for the moment when the loop takes up a generation: it closes the idle connections of retired
// endpoints and applies changed limits to what waits or lies idle here.
func (l *Local) CloseRetired(_ int64) {
	for slot := range l.lanes {
		for p := l.lanes[slot]; p != nil; p = p.next {
			l.review(p)
		}
		l.dropLanes(slot)
	}
}

func (l *Local) review(p *lane) {
	if p.endpoint.Retired() {
		l.closeIdle(p, ReasonRetired)
	}
	for p.endpoint.over() && !p.idle.empty() {
		l.close(p.idle.back(), ReasonLimit)
	}
	if !p.waiters.empty() {
		l.settle(p)
	} else {
		l.offer(p)
	}
}

// closeIdle closes the idle connections of a lane. Each close may run code of owners, so the list is looked at afresh.
func (l *Local) closeIdle(p *lane, reason CloseReason) {
	for count := p.idle.n; count > 0 && !p.idle.empty(); count-- {
		l.close(p.idle.back(), reason)
	}
}

// close closes a connection that the pool does not want, and releases its slot.
func (l *Local) close(n *Node, reason CloseReason) {
	p := n.lane
	l.shut(n, reason)
	l.release(p)
}

// yield closes a connection for a loop that waits. Should that loop have been served meanwhile, an own waiter profits.
func (l *Local) yield(n *Node) {
	p := n.lane
	l.shut(n, ReasonYield)
	p.endpoint.conns.Add(-1)
	if !l.wakeOther(p.endpoint) && !p.waiters.empty() {
		l.settle(p)
	}
}

// shut takes a connection out of the books and has its owner close it. The slot is released afterwards, so that the
// next connection is not dialled before this one is given up. The node is not touched again: it may be in use anew.
func (l *Local) shut(n *Node, reason CloseReason) {
	l.detach(n, reason)
	n.conn.CloseIdle(reason)
}

// detach takes a connection out of the books, except for its slot.
func (l *Local) detach(n *Node, reason CloseReason) {
	if n.state == idle {
		l.takeIdle(n)
	} else {
		n.link.unlink()
		n.lane.busy--
		l.busy--
	}
	n.state = unattached
	l.stats.Closed[reason]++
}
