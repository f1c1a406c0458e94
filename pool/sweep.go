package pool

// sweeper is a Local as the owner of its timer.
type sweeper Local

// OnTimer closes the idle connections and ends the waiting whose time is up. One timer serves both: it stands at the
// earliest moment at which something may be due, and is not moved when that something goes away.
func (w *sweeper) OnTimer(_ uint8, now int64) {
	l := (*Local)(w)
	if l.nextWait != 0 && l.nextWait <= now {
		l.collectExpired(now)
	}
	if l.nextIdle != 0 && l.nextIdle <= now {
		l.collectDoomed(now)
	}
	l.rearm() // before the owners are called: if one panics, the timer goes on with the rest
	l.endWaiting()
	l.closeDoomed()
	l.settleAll()
	l.rearm()
}

// expectIdle makes sure that the timer fires for an idle connection that expires at t.
func (l *Local) expectIdle(t int64) {
	if t != 0 && (l.nextIdle == 0 || t < l.nextIdle) {
		l.nextIdle = t
		l.rearm()
	}
}

// expectWaiter makes sure that the timer fires for a waiter whose deadline is t.
func (l *Local) expectWaiter(t int64) {
	if t != 0 && (l.nextWait == 0 || t < l.nextWait) {
		l.nextWait = t
		l.rearm()
	}
}

// rearm sets the timer to the next moment at which something is due, or to the next turn if a panic left work behind.
func (l *Local) rearm() {
	next := earlier(l.nextIdle, l.nextWait)
	if !l.expired.empty() || !l.doomed.empty() || !l.settling && !l.unsettled.empty() {
		next = overdue
	}
	if next != 0 {
		l.timers.Arm(&l.timer, next)
	}
}

// collectExpired moves the waiters whose deadline has come to the expired list and finds the next deadline. All are
// looked at, since services, and generations of one, may differ in how long they wait.
func (l *Local) collectExpired(now int64) {
	l.nextWait = 0
	for at := l.queues.head; at != nil; {
		p := at.item
		at = at.next
		for k := p.waiters.head; k != nil; {
			w := k.item
			k = k.next
			if w.deadline != 0 && w.deadline <= now {
				w.link.unlink()
				l.expired.pushBack(&w.link, w)
			} else {
				l.nextWait = earlier(l.nextWait, w.deadline)
			}
		}
	}
}

func (l *Local) endWaiting() {
	for w := l.expired.front(); w != nil; w = l.expired.front() {
		l.dequeue(w)
		l.stats.Expired++
		w.owner.OnGrant(w, nil, ErrPoolExhausted)
	}
}

// collectDoomed moves the idle connections whose time is up to the doomed list and finds the next moment.
func (l *Local) collectDoomed(now int64) {
	l.nextIdle = 0
	for at := l.holding.head; at != nil; {
		p := at.item
		at = at.next
		open := p.idle.n + p.busy
		for k := p.idle.head; k != nil; {
			n := k.item
			k = k.next
			if n.expires != 0 && n.expires <= now && !p.spare(n, open, now) {
				l.doom(n)
				open--
			} else {
				l.nextIdle = earlier(l.nextIdle, n.expires)
			}
		}
	}
	if l.nextIdle != 0 {
		l.nextIdle = max(l.nextIdle, now+sweepGap)
	}
}

// doom takes an idle connection out of reach of Get until it is closed.
func (l *Local) doom(n *Node) {
	l.takeIdle(n)
	n.state = closing
	n.lane.busy++
	l.busy++
	l.doomed.pushBack(&n.link, n)
}

func (l *Local) closeDoomed() {
	for n := l.doomed.front(); n != nil; n = l.doomed.front() {
		l.close(n, n.because)
	}
}
