package reactor

import (
	"errors"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Options configure a Loop. The zero value of a field is a sensible default unless said otherwise.
type Options struct {
	// ID tells loops apart in logs and metrics.
	ID int
	// CPU is the processor that the thread is pinned to; -1 means not pinned.
	CPU int
	// Poller is PollerEpoll (default) or PollerGnet.
	Poller string
	// High and Low are the marks of a connection's write queue in bytes, 256 KiB and 64 KiB by default.
	High, Low int
	// Memory is the budget that the loops share; nil means one of its own without a limit.
	Memory *Memory
	// BusyPoll is how long the loop polls without waiting before it waits. Epoll only.
	BusyPoll time.Duration
	// OnPanic is told of a callback's panic, on the loop. It must neither block nor panic.
	OnPanic func(loop int, v any, stack []byte)
	// OnTurn runs at the end of each turn.
	OnTurn func(l *Loop, now int64)
	// OnTick runs about once a second while something happens on the loop, and once after that.
	OnTick func(l *Loop, now int64)
	// OnStop runs after the last turn, before the loop closes its connections.
	OnStop func(l *Loop, now int64)
}

// Loop is one thread with everything that it serves.
type Loop struct {
	// immutable after NewLoop
	opt    Options
	poller Poller
	spare  int // descriptor given up when there are no others, see acceptor; -1: none

	// owned by the loop
	thread    int
	turn      uint64
	inTurn    bool
	ended     bool
	now       int64
	wallShift int64
	tickAt    int64 // when the next tick is due
	tickSeen  uint64
	watching  bool // the arena has memory to give back
	stats     Stats
	slots     slots
	acceptors []*acceptor
	wheel     wheel
	arena     arena
	tasks     tasks
	deferred  deferredQueue
	ran       int      // deferred calls of this turn
	ready     connList // to be served before the turn ends
	later     connList // over their budget: to be served in the next turn
	doomed    []*Conn  // to be closed at the end of the turn
	gather    gather
	pipes     []pipe // of relays that have ended
	pipeCount int
	lot       lot
	readBuf   []byte
	pieces    [][]byte
	vector    vector
	current   *Conn // whose callback is running

	// atomic
	mail     mailbox
	live     atomic.Int64
	turnAt   atomic.Int64 // start of the turn; negative while the loop waits for an event
	draining atomic.Bool
	stopped  atomic.Bool
	callers  atomic.Int32 // goroutines that may be about to wake the poller
}

// NewLoop makes a loop; Run makes it live. Until then tasks may be posted and listeners served.
func NewLoop(o Options) (*Loop, error) {
	if o.High <= 0 {
		o.High = defaultHigh
	}
	if o.Low <= 0 || o.Low > o.High {
		o.Low = min(defaultLow, o.High/2)
	}
	if o.Memory == nil {
		o.Memory = NewMemory(0)
	}
	p, err := openPoller(o.Poller, o.BusyPoll)
	if err != nil {
		return nil, err
	}
	l := &Loop{
		opt: o, poller: p,
		now:     Monotonic(),
		readBuf: make([]byte, readHeadroom+ReadBuffer),
		pieces:  make([][]byte, 0, maxPieces),
	}
	l.lot = newLot()
	l.gather.scratch = make([]byte, 0, scratchSize)
	l.wallShift = wallOffset()
	l.wheel.current = l.now >> tickShift
	l.tickAt = l.now + tickEvery
	l.turnAt.Store(-l.now)
	l.spare = openSpare()
	return l, nil
}

func openSpare() int {
	fd, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	return fd
}

// Run locks the goroutine to its thread, pins that to Options.CPU and works until Stop. Then it closes
// all connections and listeners, runs the tasks that were left, and gives its memory back. It is called
// once, on a goroutine of its own: a pinned thread is not unlocked again and ends with the goroutine.
func (l *Loop) Run() error {
	runtime.LockOSThread()
	if l.opt.CPU >= 0 {
		if err := pinThread(l.opt.CPU); err != nil {
			return errors.Join(err, l.shutdown())
		}
	} else {
		defer runtime.UnlockOSThread()
	}
	l.thread = threadID()
	err := l.poller.Run(l.onEvent, l.onTurn)
	return errors.Join(err, l.shutdown())
}

// Stop ends Run after the current turn. Any goroutine, any number of times.
func (l *Loop) Stop() {
	l.callers.Add(1)
	defer l.callers.Add(-1)
	if l.stopped.CompareAndSwap(false, true) {
		l.poller.Stop()
	}
}

// shutdown leaves nothing behind.
func (l *Loop) shutdown() error {
	l.stopped.Store(true)
	l.ended = true
	l.beginTurn()
	l.lot.open = false
	if l.opt.OnStop != nil {
		l.call(l.opt.OnStop)
	}
	for len(l.acceptors) > 0 {
		l.acceptors[0].close()
	}
	for _, c := range l.slots.conns() {
		l.expel(c)
	}
	l.tasks.append(l.mail.close())
	for l.tasks.head != nil {
		l.runTasks(tasksPerTurn)
	}
	l.settle()
	l.closeDoomed()
	l.closePipes()
	if l.spare >= 0 {
		_ = unix.Close(l.spare)
	}
	l.arena.free()
	for l.callers.Load() != 0 {
		runtime.Gosched() // its wake descriptor must not be closed, and given to another, under a caller
	}
	return l.poller.Close()
}

// ID is Options.ID. Any goroutine.
func (l *Loop) ID() int { return l.opt.ID }

// Now is the start of the turn in monotonic nanoseconds since the process started. On the loop.
func (l *Loop) Now() int64 {
	l.assertLoop()
	return l.now
}

// Wall is Now as unix time in nanoseconds. It follows a change of the system's clock within a second
// or, on an idle loop, at its next tick. On the loop.
func (l *Loop) Wall() int64 {
	l.assertLoop()
	return l.now + l.wallShift
}

// Live is the number of accepted connections that the loop has or is about to get. Any goroutine.
func (l *Loop) Live() int64 { return l.live.Load() }

// LastTurn is when the last turn began, in the scale of Monotonic. Any goroutine.
func (l *Loop) LastTurn() int64 {
	at := l.turnAt.Load()
	return max(at, -at)
}

// Waiting reports whether the loop has nothing to do: then an old LastTurn is no sign of trouble. Any
// goroutine.
func (l *Loop) Waiting() bool { return l.turnAt.Load() < 0 }

// SetDraining says whether other loops should spare this one when they hand connections off. Any
// goroutine.
func (l *Loop) SetDraining(on bool) { l.draining.Store(on) }

// Stats are the loop's counters. On the loop.
func (l *Loop) Stats() *Stats {
	l.assertLoop()
	return &l.stats
}

// Memory is the budget of Options. Any goroutine.
func (l *Loop) Memory() *Memory { return l.opt.Memory }

// CPUTime is the processor time that the loop's thread has used; 0 where the system does not tell. On
// the loop.
func (l *Loop) CPUTime() time.Duration {
	l.assertLoop()
	return sysThreadTime()
}
