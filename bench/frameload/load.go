package main

import (
	"context"
	"errors"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/corelane/corelane/bench/epoll"
	"github.com/corelane/corelane/bench/histogram"
	"github.com/corelane/corelane/bench/process"
	"github.com/corelane/corelane/bench/wire"
)

const (
	// reopenPause keeps an address that refuses from being tried in a tight circle.
	reopenPause = 10 * time.Millisecond
	// longestTurn is how long the end of the context goes unseen.
	longestTurn = 100 * time.Millisecond
)

// load is a run; it is the handler of its loop.
type load struct {
	o        options
	request  *wire.Template
	loop     *epoll.Loop
	clients  []*client
	byConn   map[*epoll.Conn]*client
	schedule schedule
	turn     int // the client whose turn it is
	began    time.Time
	lastEnd  time.Duration // when the last answer came
	// full: something is due that had no place, so being late is not the generator's fault.
	full bool

	latency, lag histogram.Histogram
	counts       [failures]int
}

// run sends until the time is over or ctx ends, and waits for the last answers.
func run(ctx context.Context, o options) (*Report, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := process.PinSelf(o.cpu); err != nil {
		return nil, err
	}
	// The kernel may wake a thread 50 µs late to save power; not this one.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	l, err := newLoad(o)
	if err != nil {
		return nil, err
	}
	defer l.loop.Close()
	return l.run(ctx)
}

func newLoad(o options) (*load, error) {
	l := &load{o: o, byConn: map[*epoll.Conn]*client{}, schedule: newSchedule(o.rate, o.requests, o.warmup+o.duration)}
	var err error
	if l.request, err = o.protocol.Request(o.call, o.size); err != nil {
		return nil, err
	}
	if l.loop, err = epoll.New(l); err != nil {
		return nil, err
	}
	for i := range o.connections {
		c := newClient(i, o.streams)
		l.clients = append(l.clients, c)
		if err := l.open(c); err != nil {
			l.loop.Close()
			return nil, err
		}
	}
	return l, nil
}

func (l *load) open(c *client) error {
	conn, err := l.loop.Dial(l.o.address)
	if err != nil {
		return err
	}
	c.conn, c.draining = conn, false
	l.byConn[conn] = c
	return nil
}

func (l *load) now() time.Duration { return time.Since(l.began) }

func (l *load) run(ctx context.Context) (*Report, error) {
	l.began = time.Now()
	end := l.schedule.end
	for ctx.Err() == nil {
		now := l.now()
		l.send(now)
		if l.schedule.over(now) && l.inFlight() == 0 || now >= end+l.o.grace {
			break
		}
		if err := l.loop.Turn(l.wait(now)); err != nil {
			return nil, err
		}
	}
	if l.lastEnd <= l.o.warmup {
		return nil, errors.Join(errors.New("no request was answered"), errors.New(l.report().String()))
	}
	return l.report(), nil
}

func (l *load) report() *Report {
	now := l.now()
	l.counts[failUnanswered] += l.inFlight()
	l.counts[failUnsent] += l.schedule.behind(now)
	took := max(l.lastEnd-l.o.warmup, time.Nanosecond)
	if l.o.requests == 0 {
		took = max(took, min(l.o.duration, now-l.o.warmup))
	}
	return newReport(&l.o, &l.latency, &l.lag, &l.counts, took)
}

func (l *load) inFlight() int {
	sum := 0
	for _, c := range l.clients {
		sum += c.inFlight
	}
	return sum
}

// wait is how long nothing is due.
func (l *load) wait(now time.Duration) time.Duration {
	wait := longestTurn
	if l.schedule.interval > 0 && !l.schedule.over(now) {
		// If it is due already there was no place for it: an answer will wake the loop.
		if until := l.schedule.due() - now; until > 0 {
			wait = min(wait, until)
		}
	} else if until := l.schedule.end - now; until > 0 {
		wait = min(wait, until)
	}
	if l.missing() {
		wait = min(wait, reopenPause)
	}
	return wait
}

func (l *load) missing() bool {
	for _, c := range l.clients {
		if c.conn == nil {
			return true
		}
	}
	return false
}

// send gives what is due to the connections, one after the other, as long as
// any has a place.
func (l *load) send(now time.Duration) {
	l.reopen(now)
	for without := 0; without < len(l.clients) && l.schedule.ready(now); {
		c := l.clients[l.turn]
		l.turn = (l.turn + 1) % len(l.clients)
		without++
		if l.sendOne(c, now) {
			without = 0
		}
	}
	l.full = l.schedule.ready(now)
	for _, c := range l.clients {
		if c.conn != nil && len(c.conn.Out) > 0 {
			c.conn.Flush()
		}
	}
}

// reopen opens what was lost, and replaces what drains as soon as it is empty.
func (l *load) reopen(now time.Duration) {
	for _, c := range l.clients {
		if c.conn != nil && c.draining && c.inFlight == 0 {
			l.forget(c)
		}
		if c.conn != nil || now < c.retryAt || l.schedule.over(now) {
			continue
		}
		if err := l.open(c); err != nil {
			l.counts[failConnect]++
			c.retryAt = now + reopenPause
		}
	}
}

func (l *load) forget(c *client) {
	delete(l.byConn, c.conn)
	c.conn.Close()
	c.conn = nil
}

// sendOne appends the next request to what c sends; false: c has no place, or
// nothing is due.
func (l *load) sendOne(c *client, now time.Duration) bool {
	if c.conn == nil || c.draining || c.inFlight >= l.o.streams {
		return false
	}
	due, ok := l.schedule.take(now)
	if !ok {
		return false
	}
	if !l.full {
		l.lag.Record(now - due)
	}
	s := c.begin(due)
	c.conn.Out = l.request.Append(c.conn.Out, s.id, &s.nonce)
	return true
}

// Data takes every answer that is whole and fills the places that it leaves.
func (l *load) Data(conn *epoll.Conn, b []byte) (taken int, err error) {
	c, now := l.byConn[conn], l.now()
	var m wire.Message
	for {
		n, err := l.o.protocol.Next(b[taken:], &m)
		if err != nil {
			l.counts[failProtocol]++
			return taken, err
		}
		if n == 0 {
			break
		}
		taken += n
		l.handle(c, &m, now)
	}
	for l.sendOne(c, now) {
		// All that is due leaves with one write.
	}
	return taken, nil
}

func (l *load) handle(c *client, m *wire.Message, now time.Duration) {
	switch m.Kind {
	case wire.Heartbeat:
		c.conn.Out = l.o.protocol.AppendHeartbeatReply(c.conn.Out, m.ID)
	case wire.GoAway:
		c.draining = true
	case wire.Cancel:
		if s := c.find(m.ID); s != nil {
			c.end(s)
			l.counts[failCancelled]++
		}
	case wire.Response:
		s := c.find(m.ID)
		if s == nil {
			l.counts[failUnknown]++
			return
		}
		if s.take(m); m.Last {
			l.finish(c, s, now)
		}
	default: // nothing else is for a client
	}
}

func (l *load) finish(c *client, s *slot, now time.Duration) {
	c.end(s)
	if s.got != l.o.answer {
		s.fail(failLength)
	}
	l.lastEnd = now
	switch {
	case s.isBad:
		l.counts[s.bad]++
	case s.due >= l.o.warmup:
		l.latency.Record(now - s.due)
	}
}

// Closed counts what was in flight; the connection is opened again.
func (l *load) Closed(conn *epoll.Conn, _ error) {
	c := l.byConn[conn]
	delete(l.byConn, conn)
	l.counts[failClosed] += c.inFlight
	c.conn, c.inFlight = nil, 0
	c.retryAt = l.now() + reopenPause
	clear(c.slots)
}
