package reactor

import "time"

// Deferred is work that runs after the current callback, in the same turn. It is embedded in what it
// works for.
type Deferred struct {
	// Run is called on the loop.
	Run func(now int64)

	queued bool
	next   *Deferred
}

type deferredQueue struct {
	head, tail *Deferred
}

// Defer has d run after the current callback, before the next event. Adding it twice is a no-op until
// it begins to run. On the loop.
func (l *Loop) Defer(d *Deferred) {
	l.assertLoop()
	if d.queued {
		return
	}
	d.queued = true
	d.next = nil
	q := &l.deferred
	if q.tail == nil {
		q.head = d
	} else {
		q.tail.next = d
	}
	q.tail = d
}

func (q *deferredQueue) pop() *Deferred {
	d := q.head
	if d == nil {
		return nil
	}
	q.head = d.next
	if q.head == nil {
		q.tail = nil
	}
	d.next = nil
	d.queued = false
	return d
}

// beginTurn reads the clock, once for everything that the turn does.
func (l *Loop) beginTurn() {
	l.inTurn = true
	l.lot.open = true
	l.turn++
	l.ran = 0
	l.now = Monotonic()
	l.turnAt.Store(l.now)
	l.stats.Turns++
}

// onEvent is the poller's callback.
func (l *Loop) onEvent(token uint64, ev Event) {
	if !l.inTurn {
		l.beginTurn()
	}
	s := l.slots.find(token)
	if s == nil {
		l.stats.StaleEvents++
		return
	}
	l.stats.Events++
	if s.acceptor != nil {
		s.acceptor.ready = true // served with the turn, within its budget
		return
	}
	l.serveEvent(s.conn, ev)
	l.settle()
}

// onTurn ends a turn and says how long the poller may wait.
func (l *Loop) onTurn() time.Duration {
	if !l.inTurn {
		l.beginTurn()
	}
	l.lot.open = false
	l.unpark()
	l.later.moveTo(&l.ready)
	l.settle()
	l.runTimers()
	l.tasks.append(l.mail.take())
	l.runTasks(tasksPerTurn)
	l.runAcceptors()
	if l.opt.OnTurn != nil {
		l.call(l.opt.OnTurn)
	}
	if l.now >= l.tickAt {
		l.tick()
	}
	l.closeDoomed()
	return l.endTurn()
}

// endTurn measures the turn and finds the next thing that will happen by itself.
func (l *Loop) endTurn() time.Duration {
	l.inTurn = false
	end := Monotonic()
	l.stats.LongestTurn = max(l.stats.LongestTurn, end-l.now)
	if l.hasWork() {
		return 0
	}
	wait := l.wheel.wait(end)
	if l.watching || l.stats.Events+l.stats.Tasks+l.stats.Timers != l.tickSeen {
		if untilTick := max(l.tickAt-end, 0); wait < 0 || untilTick < wait {
			wait = untilTick
		}
	}
	if wait != 0 {
		l.turnAt.Store(-l.now)
	}
	return time.Duration(wait)
}

// hasWork reports whether something was put off for want of budget.
func (l *Loop) hasWork() bool {
	if l.later.head != nil || l.ready.head != nil || l.deferred.head != nil || l.tasks.head != nil {
		return true
	}
	for _, a := range l.acceptors {
		if a.ready && !a.held {
			return true
		}
	}
	return false
}

// tick is the loop's second hand. One more comes after the last activity, so that its counters are
// handed over, and then the loop sleeps.
func (l *Loop) tick() {
	l.tickAt = l.now + tickEvery
	l.tickSeen = l.stats.Events + l.stats.Tasks + l.stats.Timers
	l.wallShift = wallOffset()
	l.watching = l.arena.decay()
	if l.opt.OnTick != nil {
		l.call(l.opt.OnTick)
	}
}

// settle brings what a callback left behind to its end: gathered writes, deferred calls, connections
// that were resumed.
func (l *Loop) settle() {
	for l.settleSome() {
	}
}

// settleSome returns true if a panic cut it short.
func (l *Loop) settleSome() (again bool) {
	defer l.rescue()
	again = true
	for {
		l.park()
		if d := l.popDeferred(); d != nil {
			d.Run(l.now)
			continue
		}
		c := l.ready.pop()
		if c == nil {
			return false
		}
		l.current = c
		c.serve()
		l.current = nil
	}
}

func (l *Loop) popDeferred() *Deferred {
	if l.ran >= deferredPerTurn {
		return nil // something defers itself without end: others get their turn first
	}
	d := l.deferred.pop()
	if d != nil {
		l.ran++
	}
	return d
}

// serveEvent gives an event to its connection.
func (l *Loop) serveEvent(c *Conn, ev Event) {
	defer l.rescue()
	l.current = c
	c.onEvent(ev)
	l.current = nil
}

// call runs one of the loop's own callbacks.
func (l *Loop) call(fn func(*Loop, int64)) {
	l.guarded(fn)
	l.settle()
}

func (l *Loop) guarded(fn func(*Loop, int64)) {
	defer l.rescue()
	fn(l, l.now)
}

// runTimers fires what is due.
func (l *Loop) runTimers() {
	l.wheel.advance(l.now)
	for t := l.wheel.due(l.now); t != nil; t = l.wheel.due(l.now) {
		l.stats.Timers++
		l.fire(t)
		l.settle()
	}
}

func (l *Loop) fire(t *Timer) {
	defer l.rescue()
	t.owner.OnTimer(t.kind, l.now)
}

// runTasks works off at most n tasks.
func (l *Loop) runTasks(n int) {
	for range n {
		t := l.tasks.pop()
		if t == nil {
			return
		}
		l.stats.Tasks++
		l.runTask(t)
		l.settle()
	}
}

func (l *Loop) runTask(t *Task) {
	defer l.rescue()
	t.Run(l)
}
