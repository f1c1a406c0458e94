package pool

// lane is what one loop holds of one endpoint.
type lane struct {
	endpoint  *Endpoint
	idle      list[Node]   // newest first
	waiters   list[Waiter] // first come first
	busy      int          // connections lent
	releases  uint8        // releases while own and other loops' waiters stood, to take turns
	next      *lane        // another endpoint that had or has the same slot
	held      link[lane]   // in Local.holding while idle is not empty
	queue     link[lane]   // in Local.queues while waiters is not empty
	unsettled link[lane]   // in Local.unsettled while waiters may be served
	floor     int          // connections that do not idle out
	limits    Limits       // those of the floor's service
}

// unused says that nothing would be lost with the lane.
func (p *lane) unused() bool {
	return p.busy == 0 && !p.held.listed() && !p.queue.listed() && !p.unsettled.listed()
}

// othersFirst counts a release for which both this loop and another have waiters, and says whose turn it is.
func (p *lane) othersFirst() bool {
	p.releases++
	return p.releases%othersTurn == 0
}

// lane finds or makes the lane of e.
func (l *Local) lane(e *Endpoint) *lane {
	if p := l.known(e); p != nil {
		return p
	}
	return l.addLane(e)
}

// known finds the lane of e; nil: this loop has none. Slots are reused, and an exchange of an old generation may still
// come with an endpoint that lost its slot, so the lanes of one slot form a chain in which only the endpoint itself matches.
func (l *Local) known(e *Endpoint) *lane {
	if e.slot >= len(l.lanes) {
		return nil
	}
	p := l.lanes[e.slot]
	for p != nil && p.endpoint != e {
		p = p.next
	}
	return p
}

func (l *Local) addLane(e *Endpoint) *lane {
	for e.slot >= len(l.lanes) {
		l.lanes = append(l.lanes, nil)
	}
	l.dropLanes(e.slot)
	p := &lane{endpoint: e, next: l.lanes[e.slot]}
	l.lanes[e.slot] = p
	return p
}

// dropLanes forgets the unused lanes of retired endpoints in a slot.
func (l *Local) dropLanes(slot int) {
	for at := &l.lanes[slot]; *at != nil; {
		if p := *at; p.unused() && p.floor == 0 && p.endpoint.Retired() {
			*at = p.next
		} else {
			at = &p.next
		}
	}
}

// pushIdle makes a busy connection the first to be lent again.
func (l *Local) pushIdle(p *lane, n *Node) {
	p.busy--
	l.busy--
	l.idle++
	n.state = idle
	p.idle.pushFront(&n.link, n)
	if !p.held.listed() {
		l.holding.pushBack(&p.held, p)
	}
}

// takeIdle takes a connection out of the idle list; the caller decides what becomes of it.
func (l *Local) takeIdle(n *Node) {
	n.link.unlink()
	l.idle--
	if n.lane.idle.empty() {
		n.lane.held.unlink()
	}
}

// lend takes an idle connection out for an exchange.
func (l *Local) lend(n *Node) Conn {
	l.takeIdle(n)
	n.state = busy
	n.uses++
	n.lane.busy++
	l.busy++
	l.stats.Reused++
	return n.conn
}

// enqueue puts w at the end of the lane's queue.
func (l *Local) enqueue(p *lane, w *Waiter) {
	w.queued = true
	p.waiters.pushBack(&w.link, w)
	l.waiting++
	if !p.queue.listed() {
		l.queues.pushBack(&p.queue, p)
	}
}

// dequeue takes w out of whatever list it waits in and lowers what announced it.
func (l *Local) dequeue(w *Waiter) {
	w.link.unlink()
	w.queued = false
	w.service.State.leave()
	l.waiting--
	if p := w.lane; p.waiters.empty() && p.queue.listed() {
		p.queue.unlink()
		l.lower(p.endpoint)
	}
}
