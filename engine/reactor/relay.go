package reactor

import (
	"errors"
	"os"
)

const (
	// relaySize is what is moved at once at most, in bytes, and the capacity of a
	// pipe. Half of it passes 15 % fewer bytes per CPU second, twice of it no more.
	relaySize = 512 << 10
	// minPipe is the least capacity of a pipe that is worth having, the system's
	// default. A user with many pipes gets them of two pages (pipe(7)).
	minPipe = 64 << 10
	// relayShare is the part of a relayed byte that counts against the budget of a
	// turn: it is not copied.
	relayShare = 4
	// A flow that brings less than scantRelay bytes at a time, so often in a row, is
	// copied again, with one system call less each time. Messages of 32 KiB there and
	// back cost a quarter more relayed than copied; of 64 KiB the same.
	scantRelay = 64 << 10
	maxScant   = 8
	maxPipes   = 256 // of one loop: two descriptors each
	keptPipes  = 16
)

// RelayHandler is the Handler of a connection whose bytes may be relayed.
type RelayHandler interface {
	Handler
	// OnRelayed says that n bytes of c went on to the other connection, without
	// OnData.
	OnRelayed(c *Conn, n int)
}

// relay moves what one connection receives into another without copying it: into
// a pipe and out of that (splice(2)). The pipe holds what the destination does not
// take; the source is not read meanwhile.
type relay struct {
	from, to *Conn
	pipe     pipe
	held     int // bytes in the pipe
	counted  int // of them, in the budget for buffers
	scant    int // times in a row that little came
	waits    bool
}

// pipe is a pair of descriptors, for reading and for writing.
type pipe [2]int

// RelayTo has the bytes that c receives from now on go to another connection of
// the same loop, behind what was written to it, as if they were read and written.
// c's handler must be a RelayHandler. It says whether that is so: not with a
// transport in between, nor without a pipe. It ends by itself when little comes.
func (c *Conn) RelayTo(to *Conn) bool {
	l := c.loop
	l.assertLoop()
	_, hears := c.handler.(RelayHandler)
	if !hears || c.relay != nil || to.relayed != nil || !c.plain || !to.plain || c.phase != phaseOpen || to.phase != phaseOpen || c.eof {
		return false
	}
	p, ok := l.takePipe()
	if !ok {
		return false
	}
	r := &relay{from: c, to: to, pipe: p}
	c.relay, to.relayed = r, r
	return true
}

// Relaying reports whether RelayTo is in force.
func (c *Conn) Relaying() bool { return c.relay != nil }

// stuck says that bytes of c wait for the other connection.
func (c *Conn) stuck() bool { return c.relay != nil && c.relay.waits }

// step moves once. It returns false if the destination takes nothing now.
func (r *relay) step() bool {
	c, to, l := r.from, r.to, r.from.loop
	l.flush() // what was written goes first
	to.sendParked()
	if to.out.size > 0 || !to.writable || to.phase != phaseOpen || to.fin != finNone {
		r.waits = true
		return false
	}
	n, err := sysSplice(c.fd, r.pipe[1], l.relayPiece())
	l.stats.Reads++
	switch {
	case err != nil:
		c.readable = false
		if !errors.Is(err, ErrWouldBlock) {
			c.noteFault(os.NewSyscallError("splice", err))
		}
		return true
	case n == 0:
		c.readable, c.eof = false, true
		r.end()
		return true
	}
	r.held = n
	c.spent += n / relayShare
	c.bytesIn += uint64(n)
	l.stats.BytesIn += uint64(n)
	if r.scant++; n >= scantRelay {
		r.scant = 0
	}
	return r.push()
}

// push moves what the pipe holds. It returns false if not all of it went.
func (r *relay) push() bool {
	to, l, moved := r.to, r.from.loop, 0
	for r.held > 0 && to.writable && to.fault == nil {
		n, err := sysSplice(r.pipe[0], to.fd, r.held)
		l.stats.Writes++
		switch {
		case errors.Is(err, ErrWouldBlock):
			to.writable = false
		case err != nil:
			to.broken(os.NewSyscallError("splice", err))
		}
		r.held -= n
		moved += n
	}
	to.bytesOut += uint64(moved)
	l.stats.BytesOut += uint64(moved)
	l.stats.Relayed += uint64(moved)
	r.count(r.held)
	waited := r.waits
	r.waits = r.held > 0
	switch {
	case !r.waits:
		l.Disarm(&to.timer)
	case to.fault == nil && (moved > 0 || !waited):
		to.feedTimer()
	}
	if moved > 0 {
		r.from.handler.(RelayHandler).OnRelayed(r.from, moved)
	}
	if r.held == 0 && r.scant >= maxScant && r.from.relay == r {
		r.end()
	}
	return r.held == 0
}

// count has the budget for buffers know of bytes that lie in the pipe.
func (r *relay) count(n int) {
	if n != r.counted {
		r.from.loop.opt.Memory.Add(int64(n - r.counted))
		r.counted = n
	}
}

// goOn is called when the destination has room again.
func (r *relay) goOn() {
	if r.held > 0 && !r.push() {
		return
	}
	r.waits = false
	if c := r.from; c.phase == phaseOpen && !c.paused {
		c.loop.ready.push(c)
	}
}

// end gives the pipe back. What it holds is lost.
func (r *relay) end() {
	r.count(0)
	r.from.relay, r.to.relayed = nil, nil
	r.from.loop.givePipe(r.pipe, r.held == 0)
}

// endRelays is for a connection that ends.
func (c *Conn) endRelays() {
	if c.relay != nil {
		c.relay.end()
	}
	if r := c.relayed; r != nil {
		r.end()
		if from := r.from; from.phase == phaseOpen && !from.paused {
			from.loop.ready.push(from)
		}
	}
}

// relayPiece is the most that is moved at once: what a slow destination leaves in
// the pipe. A low mark for queues holds here too.
func (l *Loop) relayPiece() int {
	if l.opt.Memory.Over() {
		return BlockSize
	}
	return min(relaySize, max(2*l.opt.High, minPipe))
}

// takePipe returns an empty pipe, if the loop may have one more.
func (l *Loop) takePipe() (p pipe, ok bool) {
	if n := len(l.pipes); n > 0 {
		p = l.pipes[n-1]
		l.pipes = l.pipes[:n-1]
		return p, true
	}
	if l.pipeCount >= maxPipes {
		return p, false
	}
	if p, ok = newPipe(); ok {
		l.pipeCount++
	}
	return p, ok
}

// givePipe keeps an empty pipe for the next, and closes others.
func (l *Loop) givePipe(p pipe, empty bool) {
	if empty && len(l.pipes) < keptPipes {
		l.pipes = append(l.pipes, p)
		return
	}
	l.pipeCount--
	p.close()
}

// closePipes ends the pipes that nobody uses.
func (l *Loop) closePipes() {
	for _, p := range l.pipes {
		p.close()
	}
	l.pipes = nil
}
