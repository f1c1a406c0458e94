package pool

// Get lends a connection to e for an exchange of s: the newest idle one; else a reservation to dial; else w is queued
// for at most Limits.Wait, behind those of this loop that wait already; else, with Limits.MaxWaiting queued in the
// process, nothing. w must not be queued. Conn is nil except with Idle. No allocation once e is known to the loop.
func (l *Local) Get(s *Service, e *Endpoint, w *Waiter, now int64) (Conn, Grant) {
	p := l.lane(e)
	if p.waiters.empty() {
		if n := l.freshest(p, now); n != nil {
			return l.lend(n), Idle
		}
		if e.reserve() {
			return nil, Dial
		}
	}
	if !s.State.enter(s.Limits.MaxWaiting) {
		l.stats.Exhausted++
		return nil, Exhausted
	}
	w.service, w.lane, w.deadline = s, p, 0
	if s.Limits.Wait > 0 {
		w.deadline = now + int64(s.Limits.Wait)
	}
	l.enqueue(p, w)
	// Those before w have raised the bit and looked; only the first of a queue must.
	if p.waiters.n == 1 && l.claim(e) {
		l.dequeue(w)
		return nil, Dial
	}
	l.stats.Waited++
	l.expectWaiter(w.deadline)
	return nil, Queued
}

// freshest is the newest idle connection that may still be used; older than that are closed on the way.
func (l *Local) freshest(p *lane, now int64) *Node {
	for n := p.idle.front(); n != nil; n = p.idle.front() {
		if n.expires == 0 || n.expires > now || p.spare(n, p.idle.n+p.busy, now) {
			return n
		}
		l.close(n, n.because)
	}
	return nil
}

// Cancel takes a queued waiter out; its owner is not called. A waiter that is not queued is left alone.
func (l *Local) Cancel(w *Waiter) {
	if w.queued {
		l.stats.Cancelled++
		l.dequeue(w)
	}
}

// Reserve takes a connection of e's limit without an exchange, to open one ahead of need: dial, then Attach and, when
// it is open, Put; or DialFailed. False: the limit is reached.
func (l *Local) Reserve(e *Endpoint) bool { return e.reserve() }

// Attach makes c the owner of the reservation that Get, OnGrant or Reserve gave. Call it when the dial has begun. From
// then on Remove must be called when c closes.
func (l *Local) Attach(c Conn, _ *Service, e *Endpoint, now int64) {
	n := c.Pooled()
	p := l.lane(e)
	*n = Node{conn: c, lane: p, state: busy, born: now, uses: 1}
	p.busy++
	l.busy++
	l.stats.Dialed++
}

// DialFailed gives the reservation back: the dial failed before there was anything to attach, or is not wanted any more.
func (l *Local) DialFailed(e *Endpoint) {
	l.stats.DialFailed++
	l.release(l.lane(e))
}

// Start tells that a try of s on e begins.
func (l *Local) Start(s *Service, e *Endpoint) {
	if s.counts() {
		e.active.Add(1)
	}
}

// Done tells how the try ended, once for each Start. now is monotonic nanoseconds.
func (l *Local) Done(s *Service, e *Endpoint, o Outcome, now int64) { l.DoneAfter(s, e, o, 0, now) }

// DoneAfter is Done for a caller that knows how long the try took, in nanoseconds, to
// the response head or to its failure. EWMA goes by it, and gates may want to know. 0: not measured.
func (l *Local) DoneAfter(s *Service, e *Endpoint, o Outcome, elapsed, now int64) {
	if s.counts() {
		e.active.Add(-1)
	}
	if s.Balance == EWMA {
		e.response.learn(o, elapsed, now)
	}
	if s.passive != nil && s.passive.report(e, o, now) && l.ejected != nil {
		l.ejected(e)
	}
	for _, g := range s.gates {
		g.Report(e, o, elapsed, now)
	}
}

// counts says whether the balancer wants to know the tries under way.
func (s *Service) counts() bool { return s.Balance == LeastRequests || s.Balance == EWMA }
