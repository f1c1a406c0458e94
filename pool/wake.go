package pool

import "math/bits"

// Wake is called when another loop posted e: a connection may have become free, or that loop wants one of those that lie
// idle here. The waiters of this loop come first; what they do not need is passed on.
func (l *Local) Wake(e *Endpoint, _ int64) {
	l.stats.Woken++
	p := l.known(e)
	if p != nil && !p.waiters.empty() {
		l.settle(p)
		if !p.waiters.empty() {
			return
		}
	}
	if e.room() {
		// Whoever this loop was woken for has left or needed only a part; the wake-up must not end here.
		l.wakeOther(e)
	}
	if p != nil {
		l.offer(p)
	}
}

// release lowers the endpoint's count by one connection and lets somebody who waits know.
func (l *Local) release(p *lane) {
	p.endpoint.conns.Add(-1)
	own := !p.waiters.empty()
	if own && !(l.othersWait(p.endpoint) && p.othersFirst()) {
		l.settle(p)
		return
	}
	if !l.wakeOther(p.endpoint) && own {
		l.settle(p)
	}
}

// settle serves the waiters of p with idle connections and free reservations. Owners may call back into the pool, so a
// nested call only leaves a note for the outermost one: the stack stays flat and the lists are never changed under a walk.
func (l *Local) settle(p *lane) {
	if !p.unsettled.listed() {
		l.unsettled.pushBack(&p.unsettled, p)
	}
	if l.settling {
		return
	}
	l.settleAll()
}

func (l *Local) settleAll() {
	l.settling = true
	defer l.settled()
	for p := l.unsettled.front(); p != nil; p = l.unsettled.front() {
		l.serve(p)
		p.unsettled.unlink()
	}
}

func (l *Local) settled() {
	l.settling = false
	if !l.unsettled.empty() {
		l.rearm() // an owner panicked: the timer goes on with the rest
	}
}

// serve grants what there is to the waiters of p in their order. Afterwards there is no waiter, or nothing to grant and
// the loop's bit is up.
func (l *Local) serve(p *lane) {
	for w := p.waiters.front(); w != nil; w = p.waiters.front() {
		var c Conn
		if n := p.idle.front(); n != nil {
			c = l.lend(n)
		} else if !p.endpoint.reserve() && !l.claim(p.endpoint) {
			return
		}
		l.dequeue(w)
		l.stats.Granted++
		w.owner.OnGrant(w, c, nil)
	}
}

// claim raises this loop's bit and then tries to reserve. The order matters: a loop that releases after the attempt
// sees the bit. If it fails, the loops that may hold idle connections are asked for one.
func (l *Local) claim(e *Endpoint) bool {
	e.wanted.Or(l.bit)
	if e.reserve() {
		return true
	}
	if e.spare.Load()&^l.mine == 0 {
		return false
	}
	for asked := e.spare.And(l.mine) &^ l.mine; asked != 0; asked &= asked - 1 {
		l.postBit(bits.TrailingZeros64(asked), e)
	}
	return false
}

// lower takes this loop's bit back. A bit that other loops share stays: it costs them one vain wake-up.
func (l *Local) lower(e *Endpoint) {
	if e.wanted.Load()&l.mine != 0 {
		e.wanted.And(^l.mine)
	}
}

// othersWait says whether another loop has waiters for e.
func (l *Local) othersWait(e *Endpoint) bool { return e.wanted.Load()&^l.mine != 0 }

// wakeOther takes down the bit of one waiting loop, going round, and posts to it. The bit is taken, not only read, so
// that each release wakes another loop. False: no loop waits.
func (l *Local) wakeOther(e *Endpoint) bool {
	for {
		waiting := e.wanted.Load() &^ l.mine
		if waiting == 0 {
			return false
		}
		start := (l.id + 1) % maskBits
		at := (start + bits.TrailingZeros64(bits.RotateLeft64(waiting, -start))) % maskBits
		if e.wanted.And(^(uint64(1)<<at))&(1<<at) != 0 {
			l.postBit(at, e)
			return true
		}
	}
}

// postBit posts e to the loops that share a bit.
func (l *Local) postBit(bit int, e *Endpoint) {
	for id := bit; id < l.loops; id += maskBits {
		l.stats.Posted++
		l.post(id, e)
	}
}

// offer deals with idle connections that no waiter of this loop needs: they are given up, oldest first, while other
// loops wait, and otherwise advertised. The word of the waiting is read again after the advertisement, as a loop that
// begins to wait reads them in the opposite order.
func (l *Local) offer(p *lane) {
	e := p.endpoint
	if e.limit.Load() == 0 {
		return
	}
	for !p.idle.empty() {
		if l.othersWait(e) {
			l.yield(p.idle.back())
		} else if !e.advertise(l.bit) {
			return
		}
	}
}

// Share tells other loops that this one has a connection to e that its exchanges share, and says whether one of them
// waits for a connection now: then it should be given up. A loop that begins to wait afterwards has Wake called here, once;
// call Share again then, and whenever an exchange has ended.
func (l *Local) Share(e *Endpoint) bool {
	if e.limit.Load() == 0 {
		return false
	}
	e.advertise(l.bit)
	return l.othersWait(e)
}
