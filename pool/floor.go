package pool

// SetFloor tells how many connections this loop keeps to e, its share of Limits.MinIdle; 0: none. While it has no more,
// lent ones included, they do not idle out. limits are those of the service. Opening them is up to the caller: Open,
// Reserve, Attach, Put.
func (l *Local) SetFloor(e *Endpoint, share int, limits Limits) {
	p := l.known(e)
	if p == nil {
		if share == 0 {
			return
		}
		p = l.addLane(e)
	}
	p.floor, p.limits = share, limits
}

// Open is the number of this loop's connections to e, lent ones and those being dialled included.
func (l *Local) Open(e *Endpoint) int {
	if p := l.known(e); p != nil {
		return p.idle.n + p.busy
	}
	return 0
}

// LoopShare is the part of a process's number that falls to one loop: the first loops take what is left over.
func LoopShare(total, loops, id int) int {
	share := total / loops
	if id < total%loops {
		share++
	}
	return share
}

// spare gives an idle connection whose time is up another term if it belongs to the floor; open is the number of those
// that the loop would have with it. Its age is not forgiven.
func (p *lane) spare(n *Node, open int, now int64) bool {
	if n.because != ReasonIdle || open > p.floor {
		return false
	}
	n.expire(p.limits, now)
	return n.expires == 0 || n.expires > now
}

// Floor is this loop's share of Limits.MinIdle, as SetFloor was told.
func (l *Local) Floor(e *Endpoint) int {
	if p := l.known(e); p != nil {
		return p.floor
	}
	return 0
}
