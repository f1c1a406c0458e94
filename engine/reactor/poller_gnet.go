package reactor

import (
	"errors"
	"os"
	"sync/atomic"
	"time"

	gneterr "github.com/panjf2000/gnet/v2/pkg/errors"
	"github.com/panjf2000/gnet/v2/pkg/netpoll"
	"github.com/panjf2000/gnet/v2/pkg/queue"
	"golang.org/x/sys/unix"
)

// gnetPoller lets gnet's Polling own the loop. Polling knows neither turns nor waits, so a turn is a
// task that the first event of a batch triggers: gnet runs it behind the events of the batch in which
// the trigger is seen. A wait is a timer that triggers the same task.
type gnetPoller struct {
	poller  *netpoll.Poller
	again   [2]int   // pipe: makes gnet poll once more before the next turn
	tokens  []uint64 // by descriptor; gnet's event data has no room for a token
	onEvent func(uint64, Event)
	onTurn  func() time.Duration
	turn    queue.Func
	timer   *time.Timer
	fireAt  int64       // when the timer fires, as Monotonic
	waiting atomic.Bool // the timer is running
	armed   atomic.Bool // a turn is on its way
	stop    atomic.Bool
}

func openGnet() (Poller, error) {
	inner, err := netpoll.OpenPoller()
	if err != nil {
		return nil, err
	}
	p := &gnetPoller{poller: inner, again: [2]int{-1, -1}}
	p.turn = p.runTurn
	if err := p.openPipe(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *gnetPoller) openPipe() error {
	if err := unix.Pipe(p.again[:]); err != nil {
		return os.NewSyscallError("pipe", err)
	}
	for _, fd := range p.again {
		unix.CloseOnExec(fd)
		if err := unix.SetNonblock(fd, true); err != nil {
			return os.NewSyscallError("fcntl", err)
		}
	}
	return p.Add(p.again[0], tokenWake)
}

// Add implements Poller.
func (p *gnetPoller) Add(fd int, token uint64) error {
	for fd >= len(p.tokens) {
		p.tokens = append(p.tokens, make([]uint64, max(64, len(p.tokens)))...)
	}
	// A descriptor is closed at the end of a turn, behind all events of its batch, so the entry that
	// is overwritten here can have no event left.
	p.tokens[fd] = token
	return p.poller.AddReadWrite(&netpoll.PollAttachment{FD: fd}, true)
}

// Run implements Poller.
func (p *gnetPoller) Run(onEvent func(uint64, Event), onTurn func() time.Duration) error {
	p.onEvent, p.onTurn = onEvent, onTurn
	p.timer = time.AfterFunc(time.Hour, p.expire)
	p.timer.Stop()
	defer p.timer.Stop()
	p.Wake() // the first turn
	err := p.poller.Polling(p.handle)
	if errors.Is(err, gneterr.ErrEngineShutdown) {
		return nil
	}
	return err
}

func (p *gnetPoller) handle(fd int, bits netpoll.IOEvent, flags netpoll.IOFlags) error {
	p.Wake() // a turn follows this batch
	token := p.tokens[fd]
	if token == tokenWake {
		p.drainPipe()
		return nil
	}
	p.onEvent(token, gnetEvent(bits, flags))
	return nil
}

func (p *gnetPoller) runTurn(any) error {
	p.armed.Store(false)
	wait := p.onTurn()
	switch {
	case p.stop.Load():
		return gneterr.ErrEngineShutdown
	case wait == 0:
		// A trigger from here would run before gnet polls again and could starve the sockets.
		_, _ = unix.Write(p.again[1], wakeCount) // full is as good: it is readable then
	case wait > 0:
		p.wakeIn(wait)
	}
	return nil
}

// wakeIn leaves a timer alone that fires early enough; the turn it causes asks again.
func (p *gnetPoller) wakeIn(wait time.Duration) {
	at := Monotonic() + int64(wait)
	if p.waiting.Load() && p.fireAt <= at {
		return
	}
	p.fireAt = at
	p.waiting.Store(true)
	p.timer.Reset(wait)
}

func (p *gnetPoller) expire() {
	p.waiting.Store(false)
	p.Wake()
}

func (p *gnetPoller) drainPipe() {
	var buf [64]byte
	for {
		if n, err := unix.Read(p.again[0], buf[:]); n < len(buf) || err != nil {
			return
		}
	}
}

// Wake implements Poller.
func (p *gnetPoller) Wake() {
	if p.armed.CompareAndSwap(false, true) {
		_ = p.poller.Trigger(queue.HighPriority, p.turn, nil) // the task is queued even if the wake-up failed
	}
}

// Stop implements Poller.
func (p *gnetPoller) Stop() {
	p.stop.Store(true)
	p.Wake()
}

// Close implements Poller.
func (p *gnetPoller) Close() error {
	for _, fd := range p.again {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
	return p.poller.Close()
}
