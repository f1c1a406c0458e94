package reactor

// Small writes of one batch of events are parked and leave together when the batch has been worked
// off. Peers are then woken once for several messages instead of once for each, which measured 5 to 6 %
// of the processor time of a proxy with 64 connections on one machine; see docs/benchmarks.md. A
// connection that writes more than a little, or twice, is not parked, unless it gathers: one that carries
// many exchanges is written to in turn with others all the time, and each turn would be a system call.

// lot holds what is parked.
type lot struct {
	open  bool // a batch of events is being worked off
	buf   []byte
	conns []*Conn
	one   [1][]byte
	bays  [][]byte // for connections that gather, empty
}

func newLot() lot {
	return lot{buf: make([]byte, 0, maxParked*parkLimit), conns: make([]*Conn, 0, maxParked)}
}

// park puts what was gathered aside, or sends it if it is not worth that.
func (l *Loop) park() {
	g := &l.gather
	c := g.conn
	if c == nil {
		return
	}
	if c.gathers {
		l.parkMore(c)
		return
	}
	if !l.lot.open || g.n == 0 || g.size > parkLimit || !c.mayPark() || len(c.parked) > 0 {
		l.flush()
		return
	}
	p := &l.lot
	from := len(p.buf)
	for _, piece := range g.list[:g.n] {
		p.buf = append(p.buf, piece...)
	}
	c.parked = p.buf[from:]
	p.conns = append(p.conns, c)
	g.reset()
	if len(p.conns) == maxParked {
		l.unpark()
	}
}

// parkMore puts what was gathered for a connection behind what is parked for it already.
func (l *Loop) parkMore(c *Conn) {
	p, g := &l.lot, &l.gather
	if len(c.parked)+g.size > bayLimit {
		c.sendParked()
	}
	if !p.open || g.n == 0 || !c.mayPark() || g.size > bayLimit {
		l.flush()
		return
	}
	if c.parked == nil {
		c.parked = p.bay()
		p.conns = append(p.conns, c)
	}
	for _, piece := range g.list[:g.n] {
		c.parked = append(c.parked, piece...)
	}
	g.reset()
	if len(p.conns) == maxParked {
		l.unpark()
	}
}

// bay returns an empty buffer for a connection that gathers.
func (p *lot) bay() []byte {
	n := len(p.bays)
	if n == 0 {
		return make([]byte, 0, bayLimit)
	}
	b := p.bays[n-1]
	p.bays = p.bays[:n-1]
	return b
}

// SetGathers says that c carries many exchanges: what is written to it in turn with other connections
// leaves in one system call when the batch of events is over.
func (c *Conn) SetGathers() { c.gathers = true }

// mayPark reports whether nothing of c waits for the socket.
func (c *Conn) mayPark() bool {
	return c.phase == phaseOpen && c.writable && c.fault == nil && c.fin == finNone && c.out.size == 0
}

// unpark sends everything that is parked.
func (l *Loop) unpark() {
	p := &l.lot
	for i, c := range p.conns {
		c.sendParked()
		p.conns[i] = nil
	}
	p.conns = p.conns[:0]
	p.buf = p.buf[:0]
}

// sendParked sends what is parked for c, which must happen before anything else is written.
func (c *Conn) sendParked() {
	if len(c.parked) == 0 {
		return
	}
	one := &c.loop.lot.one
	one[0] = c.parked
	bay := c.parked[:0]
	c.parked = nil
	c.send(one[:])
	one[0] = nil
	if c.gathers && len(c.loop.lot.bays) < maxParked {
		c.loop.lot.bays = append(c.loop.lot.bays, bay)
	}
}
