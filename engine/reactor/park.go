package reactor

// Small writes of one batch of events are parked and leave together when the batch has been worked
// off. Peers are then woken once for several messages instead of once for each, which measured 5 to 6 %
// of the processor time of a proxy with 64 connections on one machine; see docs/benchmarks.md. A
// connection that writes more than a little, or twice, is not parked.

// lot holds what is parked.
type lot struct {
	open  bool // a batch of events is being worked off
	buf   []byte
	conns []*Conn
	one   [1][]byte
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
	if !l.lot.open || g.n == 0 || g.size > parkLimit || !c.mayPark() {
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

// mayPark reports whether nothing else of c is on its way.
func (c *Conn) mayPark() bool {
	return c.phase == phaseOpen && c.writable && c.fault == nil && c.fin == finNone &&
		c.out.size == 0 && len(c.parked) == 0
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
	c.parked = nil
	c.send(one[:])
	one[0] = nil
}
