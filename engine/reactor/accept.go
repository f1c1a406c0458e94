package reactor

import (
	"errors"
	"net/netip"
	"slices"

	"golang.org/x/sys/unix"
)

// acceptor is one loop's socket of a listener.
type acceptor struct {
	listener *Listener
	service  *service
	loop     *Loop
	fd       int
	slot     uint32
	ready    bool // connections may be waiting
	held     bool // accepting rests until the timer fires
	stopping bool // closes once the backlog is empty
	backoff  int64
	timer    Timer
}

// start runs on the loop.
func (a *acceptor) start(l *Loop) {
	if l.ended {
		_ = unix.Close(a.fd)
		return
	}
	number, token := l.slots.take()
	if err := l.poller.Add(a.fd, token); err != nil {
		l.slots.give(number)
		_ = unix.Close(a.fd)
		panic(err) // it is reported like a panic of a task: the address would be deaf
	}
	a.slot = number
	l.slots.all[number].acceptor = a
	l.acceptors = append(l.acceptors, a)
	a.ready = true
}

// runAcceptors gives each listener its share of the turn.
func (l *Loop) runAcceptors() {
	for i := len(l.acceptors) - 1; i >= 0; i-- { // backwards: one may remove itself
		if a := l.acceptors[i]; a.ready && !a.held {
			a.accept()
		}
	}
}

func (a *acceptor) accept() {
	if a.loop.opt.Memory.Over() && !a.stopping {
		a.rest() // the backlog waits until there is memory for it
		return
	}
	for range acceptsPerTurn {
		fd, remote, err := sysAccept(a.fd)
		switch {
		case err == nil:
			a.backoff = 0
			a.loop.stats.Accepts++
			a.place(fd, remote)
		case errors.Is(err, unix.EAGAIN):
			a.ready = false
			if a.stopping {
				a.close()
			}
			return
		case errors.Is(err, unix.EINTR) || errors.Is(err, unix.ECONNABORTED):
			// the next one may be fine
		default:
			a.exhausted(err)
			return
		}
	}
}

// exhausted is for a process or a machine without descriptors or memory. Trying again at once would
// spin, since the connection stays in the backlog; so accepting rests, longer each time. One client is
// turned away with the spare descriptor, so that it need not wait for its own timeout.
func (a *acceptor) exhausted(err error) {
	l := a.loop
	l.stats.AcceptErrors++
	if l.spare >= 0 && (errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE)) {
		_ = unix.Close(l.spare)
		if fd, _, err := sysAccept(a.fd); err == nil {
			_ = unix.Close(fd)
		}
		l.spare = openSpare()
	}
	if a.stopping {
		a.close()
		return
	}
	a.rest()
}

// rest stops accepting for a while, longer each time.
func (a *acceptor) rest() {
	a.backoff = min(max(2*a.backoff, backoffFirst), backoffLimit)
	a.held = true
	a.loop.Arm(&a.timer, a.loop.now+a.backoff)
}

// OnTimer implements Alarm: the rest is over.
func (a *acceptor) OnTimer(uint8, int64) {
	a.held = false
	if a.loop.spare < 0 {
		a.loop.spare = openSpare()
	}
}

// place finds the loop that serves a fresh connection.
func (a *acceptor) place(fd int, remote netip.AddrPort) {
	l := a.loop
	if !a.listener.own.acquire() {
		_ = unix.Close(fd)
		return
	}
	if !a.service.limit.acquire() {
		a.listener.own.release()
		l.stats.Refused++
		_ = unix.Close(fd)
		return
	}
	h := &arrival{acceptor: a, fd: fd, remote: remote, at: l.now}
	if target := a.target(); target != l {
		h.task.Run = h.handedOff
		target.live.Add(1) // now, so that the next decision knows
		if target.Post(&h.task) {
			l.stats.HandoffsOut++
			return
		}
		target.live.Add(-1)
	}
	l.live.Add(1)
	h.adopt(l)
	l.settle()
}

// target is this loop, unless with the new connection it would have clearly more than others: over 1.25
// times the mean of what the loops have, and at least two more than the least loaded.
func (a *acceptor) target() *Loop {
	own := a.loop
	if !a.listener.handoff || len(a.service.loops) < 2 {
		return own
	}
	var least *Loop
	total, leastLive := int64(0), int64(0)
	for _, l := range a.service.loops {
		n := l.Live()
		total += n
		if l == own || l.draining.Load() || l.stopped.Load() {
			continue
		}
		if least == nil || n < leastLive {
			least, leastLive = l, n
		}
	}
	mine := own.Live() + 1
	overloaded := 4*mine*int64(len(a.service.loops)) > 5*total
	if least != nil && overloaded && mine-leastLive >= 2 {
		return least
	}
	return own
}

// close ends the acceptor.
func (a *acceptor) close() {
	l := a.loop
	l.acceptors = slices.DeleteFunc(l.acceptors, func(b *acceptor) bool { return a == b })
	l.Forget(&a.timer)
	l.slots.give(a.slot)
	a.listener.removeFile()
	_ = unix.Close(a.fd) // with the turn or behind its events: nothing of the batch is left to come
}

// arrival is a connection on its way to the loop that will own it.
type arrival struct {
	acceptor *acceptor
	fd       int
	remote   netip.AddrPort
	at       int64
	task     Task
}

func (h *arrival) handedOff(l *Loop) {
	l.stats.HandoffsIn++
	h.adopt(l)
}

// adopt makes a Conn of it. The loop's gauge counts it already.
func (h *arrival) adopt(l *Loop) {
	defer l.rescue()
	c := l.newConn(h.fd, phaseOpen)
	c.listener, c.limit = h.acceptor.listener, h.acceptor.service.limit
	c.remote, c.accepted = h.remote, h.at
	if l.ended || l.register(c) != nil {
		l.stats.AcceptErrors++
		_ = unix.Close(h.fd)
		l.live.Add(-1)
		c.leaveLimits()
		return
	}
	c.handler = closedHandler{} // a panic of onAccept must find somebody to tell
	l.current = c
	h.acceptor.service.serve(c)
	l.current = nil
}

func (s *service) serve(c *Conn) {
	h := s.onAccept(c)
	if h == nil {
		c.Close()
		return
	}
	c.handler = h
}

// closedHandler hears of connections that never got a handler.
type closedHandler struct{}

func (closedHandler) OnData(_ *Conn, b []byte) int { return len(b) }
func (closedHandler) OnEOF(*Conn)                  {}
func (closedHandler) OnDrain(*Conn)                {}
func (closedHandler) OnClose(*Conn, error)         {}
