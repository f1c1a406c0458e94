package reactor

import (
	"errors"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// epollPoller waits twice. The first wait is at most rawWait and is a RawSyscall: the Go scheduler does
// not notice it, so a loop with work costs no hand-over of its processor. Only when it came back empty
// does the second one, a Syscall, give the processor away until there is work. A signal ends either, so
// the collector need not wait for them.
type epollPoller struct {
	fd     int
	wakeFD int
	busy   time.Duration
	stop   atomic.Bool
	events [maxEvents]unix.EpollEvent
}

const epollInterest = unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET&(1<<32-1)

func openEpoll(busy time.Duration) (Poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	p := &epollPoller{fd: fd, wakeFD: -1, busy: busy}
	p.wakeFD, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil, errors.Join(os.NewSyscallError("eventfd", err), p.Close())
	}
	if err := p.Add(p.wakeFD, tokenWake); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// Add implements Poller.
func (p *epollPoller) Add(fd int, token uint64) error {
	// Fd and Pad are the two halves of the 64 bits that the kernel hands back untouched.
	ev := unix.EpollEvent{Events: epollInterest, Fd: int32(uint32(token)), Pad: int32(uint32(token >> 32))}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(p.fd, unix.EPOLL_CTL_ADD, fd, &ev))
}

// Run implements Poller.
func (p *epollPoller) Run(onEvent func(uint64, Event), onTurn func() time.Duration) error {
	wait := time.Duration(0)
	for {
		n, err := p.wait(wait)
		if err != nil {
			return err
		}
		for i := range p.events[:n] {
			ev := &p.events[i]
			token := uint64(uint32(ev.Fd)) | uint64(uint32(ev.Pad))<<32
			if token == tokenWake {
				// Never read: each write is an edge of its own, and the turn looks at the mailbox anyway.
				continue
			}
			onEvent(token, epollEvent(ev.Events))
		}
		wait = onTurn()
		if p.stop.Load() {
			return nil
		}
	}
}

// wait returns the number of events; a signal counts as none, so that it leads to a turn.
func (p *epollPoller) wait(d time.Duration) (int, error) {
	if d == 0 {
		return p.poll(0)
	}
	n, d, err := p.spin(d)
	if n != 0 || err != nil || d == 0 {
		return n, err
	}
	short := d > 0 && d <= rawWait
	first := rawWait
	if short {
		first = d
	}
	n, err = p.poll(millis(first))
	switch {
	case n != 0 || err != nil:
		return n, ignoreEINTR(err)
	case short:
		return 0, nil
	case d < 0:
		return p.block(-1)
	}
	return p.block(millis(d - rawWait))
}

// millis rounds up, for a timer must not fire early.
func millis(d time.Duration) int { return int((d + time.Millisecond - 1) / time.Millisecond) }

// spin polls without waiting for as long as the owner of the machine asked for, and returns what is left
// of the wait.
func (p *epollPoller) spin(d time.Duration) (n int, left time.Duration, err error) {
	if p.busy <= 0 {
		return 0, d, nil
	}
	limit := p.busy
	if d >= 0 {
		limit = min(limit, d)
	}
	begin := Monotonic()
	spent := time.Duration(0)
	for spent < limit {
		if n, err := p.poll(0); n != 0 || err != nil {
			return n, 0, ignoreEINTR(err)
		}
		spent = time.Duration(Monotonic() - begin)
	}
	if d < 0 {
		return 0, d, nil
	}
	return 0, max(d-spent, 0), nil
}

// poll keeps the processor; EINTR is returned so that the caller goes to its turn.
func (p *epollPoller) poll(ms int) (int, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd),
		uintptr(unsafe.Pointer(&p.events[0])), maxEvents, uintptr(ms), 0, 0)
	if errno != 0 {
		if errno == unix.EINTR && ms == 0 {
			return 0, nil
		}
		return 0, os.NewSyscallError("epoll_pwait", errno)
	}
	return int(n), nil
}

func (p *epollPoller) block(ms int) (int, error) {
	n, _, errno := unix.Syscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd),
		uintptr(unsafe.Pointer(&p.events[0])), maxEvents, uintptr(ms), 0, 0)
	if errno != 0 {
		return 0, ignoreEINTR(os.NewSyscallError("epoll_pwait", errno))
	}
	return int(n), nil
}

func ignoreEINTR(err error) error {
	if errors.Is(err, unix.EINTR) {
		return nil
	}
	return err
}

// Wake implements Poller.
func (p *epollPoller) Wake() {
	_, _ = unix.Write(p.wakeFD, wakeCount) // fails only when the counter is full, and then it is readable
}

// Stop implements Poller.
func (p *epollPoller) Stop() {
	p.stop.Store(true)
	p.Wake()
}

// Close implements Poller.
func (p *epollPoller) Close() error {
	var err error
	if p.wakeFD >= 0 {
		err = unix.Close(p.wakeFD)
	}
	return errors.Join(err, unix.Close(p.fd))
}

func epollEvent(bits uint32) Event {
	var ev Event
	if bits&(unix.EPOLLIN|unix.EPOLLPRI) != 0 {
		ev |= Readable
	}
	if bits&unix.EPOLLOUT != 0 {
		ev |= Writable
	}
	if bits&(unix.EPOLLRDHUP|unix.EPOLLHUP) != 0 {
		ev |= HangUp
	}
	if bits&unix.EPOLLHUP != 0 {
		ev |= Gone
	}
	if bits&unix.EPOLLERR != 0 {
		ev |= Failed
	}
	return ev
}
