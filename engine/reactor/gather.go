package reactor

import "unsafe"

// gather collects what one callback writes to one connection, so that it leaves in one system call.
// Staged bytes lie in scratch; larger ones are referenced where they are.
type gather struct {
	conn    *Conn
	scratch []byte
	list    [maxPieces][]byte
	n       int
	size    int
}

// begin makes the list collect for c.
func (l *Loop) begin(c *Conn) {
	if l.gather.conn != c {
		l.park()
		l.gather.conn = c
	}
}

// add queues p, copying it if that saves a piece.
func (g *gather) add(p []byte) {
	if len(p) <= smallWrite && (g.n == 0 || g.endsStaged()) && cap(g.scratch)-len(g.scratch) >= len(p) {
		copy(g.scratch[len(g.scratch):cap(g.scratch)], p)
		g.stage(len(p))
		return
	}
	g.push(p)
}

// stage queues the n bytes behind the used scratch.
func (g *gather) stage(n int) {
	joins := g.n > 0 && g.endsStaged()
	from := len(g.scratch)
	g.scratch = g.scratch[:from+n]
	if joins {
		last := &g.list[g.n-1]
		*last = g.scratch[from-len(*last):]
		g.size += n
		return
	}
	g.push(g.scratch[from:])
}

// push appends a piece; the caller has made sure that there is room.
func (g *gather) push(p []byte) {
	g.list[g.n] = p
	g.n++
	g.size += len(p)
}

// endsStaged reports whether the last piece is staged bytes, which more can join.
func (g *gather) endsStaged() bool {
	return len(g.scratch) > 0 && endOf(g.list[g.n-1]) == endOf(g.scratch)
}

func (g *gather) full() bool { return g.n == maxPieces }

func (g *gather) reset() {
	clear(g.list[:g.n])
	g.conn, g.n, g.size = nil, 0, 0
	g.scratch = g.scratch[:0]
}

// drop forgets what was gathered for c.
func (g *gather) drop(c *Conn) {
	if g.conn == c {
		g.reset()
	}
}

// startOf and endOf are the addresses of p's first byte and of the one behind its last, for comparison.
func startOf(p []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(p))) }

func endOf(p []byte) uintptr { return startOf(p) + uintptr(len(p)) }

// Flush sends now what was written to the current connection: nothing that was written is referenced any
// more. It calls no handler. On the loop.
func (l *Loop) Flush() {
	l.assertLoop()
	l.flush()
}

// flush sends what was gathered. It calls no handler.
func (l *Loop) flush() {
	g := &l.gather
	if g.conn == nil {
		return
	}
	if g.n > 0 {
		g.conn.sendParked()
		g.conn.send(l.prepended(g))
	}
	g.reset()
}

// prepended turns the list into one piece, if it is a head in the scratch and a body in the read
// buffer: what stands before the body there has been delivered and is dead, so the head is copied in
// front of the body and a plain write does.
func (l *Loop) prepended(g *gather) [][]byte {
	list := g.list[:g.n]
	if g.n != 2 {
		return list
	}
	head, body := list[0], list[1]
	at := int(startOf(body) - startOf(l.readBuf))
	if at < len(head) || at >= len(l.readBuf) || len(head) > readHeadroom || endOf(head) != endOf(g.scratch) {
		return list
	}
	copy(l.readBuf[at-len(head):], head)
	list[0] = l.readBuf[at-len(head) : at+len(body)]
	return list[:1]
}
