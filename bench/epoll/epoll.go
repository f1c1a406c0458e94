// Package epoll is the event loop of the benchmark's own peers: one thread,
// non-blocking sockets, one read an event, and one write for all that a
// callback has to say. It is a yardstick for connections over the loopback, not
// a server: it does not limit how many there are, only what one may pile up.
package epoll

import (
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	readSize   = 256 << 10
	eventBatch = 128
	// maxUnsent bounds what waits for a peer that does not read, in bytes.
	maxUnsent = 64 << 20
	backlog   = 1024
	// dialTimeout bounds Dial, which waits for nothing else.
	dialTimeout = 5 * time.Second
)

// Handler is told what happens to connections, on the loop's thread.
type Handler interface {
	// Data has arrived. It returns how much of b it took; the rest comes again
	// with what follows. An error closes the connection. What it appends to c.Out
	// is sent when it returns.
	Data(c *Conn, b []byte) (n int, err error)
	// Closed says that the connection has ended by the peer or by an error; it is
	// not told of a Close.
	Closed(c *Conn, err error)
}

// Loop owns its connections; all its methods belong to one goroutine, which
// should be locked to its thread.
type Loop struct {
	fd       int
	listener int
	handler  Handler
	conns    map[int32]*Conn
	buffer   []byte
	events   [eventBatch]unix.EpollEvent
}

// Conn is one connection. Out is what will be sent next; append to it.
type Conn struct {
	Out []byte

	loop   *Loop
	fd     int
	in     []byte
	armed  bool // waits for the socket to take more
	closed bool
}

// New returns a loop without connections.
func New(h Handler) (*Loop, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	return &Loop{fd: fd, listener: -1, handler: h, conns: map[int32]*Conn{}, buffer: make([]byte, readSize)}, nil
}

// Listen accepts connections on an IPv4 address and returns it with the port
// that was chosen for port 0. A loop has at most one listener.
func (l *Loop) Listen(address string) (string, error) {
	to, err := resolve(address)
	if err != nil {
		return "", err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", os.NewSyscallError("socket", err)
	}
	l.listener = fd
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return "", os.NewSyscallError("setsockopt", err)
	}
	if err := unix.Bind(fd, to); err != nil {
		return "", fmt.Errorf("listen on %s: %w", address, err)
	}
	if err := unix.Listen(fd, backlog); err != nil {
		return "", os.NewSyscallError("listen", err)
	}
	bound, err := unix.Getsockname(fd)
	if err != nil {
		return "", os.NewSyscallError("getsockname", err)
	}
	to.Port = bound.(*unix.SockaddrInet4).Port
	return (&net.TCPAddr{IP: to.Addr[:], Port: to.Port}).String(), l.watch(fd)
}

// Dial connects to an IPv4 address and waits for it up to 5 s.
func (l *Loop) Dial(address string) (*Conn, error) {
	to, err := resolve(address)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	limit := unix.NsecToTimeval(dialTimeout.Nanoseconds())
	err = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &limit)
	if err == nil {
		err = unix.Connect(fd, to)
	}
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("connect to %s: %w", address, err)
	}
	return l.add(fd)
}

func resolve(address string) (*unix.SockaddrInet4, error) {
	a, err := net.ResolveTCPAddr("tcp4", address)
	if err != nil {
		return nil, err
	}
	to := &unix.SockaddrInet4{Port: a.Port}
	copy(to.Addr[:], a.IP.To4())
	return to, nil
}

func (l *Loop) add(fd int) (*Conn, error) {
	c := &Conn{loop: l, fd: fd}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	if err := l.watch(fd); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	l.conns[int32(fd)] = c
	return c, nil
}

func (l *Loop) watch(fd int) error {
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(l.fd, unix.EPOLL_CTL_ADD, fd, &event))
}

// Turn waits for events, at most for a time, and handles them. Below 0 the wait
// is without end; it is exact to about 50 µs, which epoll_wait is not.
func (l *Loop) Turn(wait time.Duration) error {
	milliseconds := 0
	if wait < 0 {
		milliseconds = -1
	} else if wait > 0 {
		limit := unix.NsecToTimespec(wait.Nanoseconds())
		ready := [1]unix.PollFd{{Fd: int32(l.fd), Events: unix.POLLIN}}
		if n, err := unix.Ppoll(ready[:], &limit, nil); n == 0 || err != nil {
			return unlessInterrupted("ppoll", err)
		}
	}
	n, err := unix.EpollWait(l.fd, l.events[:], milliseconds)
	if err != nil {
		return unlessInterrupted("epoll_wait", err)
	}
	for _, event := range l.events[:n] {
		if int(event.Fd) == l.listener {
			l.accept()
			continue
		}
		c := l.conns[event.Fd]
		if c == nil {
			continue // closed by the event of another
		}
		if event.Events&unix.EPOLLOUT != 0 {
			c.Flush()
		}
		if event.Events&^unix.EPOLLOUT != 0 && !c.closed {
			c.read()
		}
	}
	return nil
}

func unlessInterrupted(call string, err error) error {
	if err == unix.EINTR {
		return nil
	}
	return os.NewSyscallError(call, err)
}

func (l *Loop) accept() {
	for {
		fd, _, err := unix.Accept4(l.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err != nil {
			return // taken up again with the next event
		}
		_, _ = l.add(fd)
	}
}

// Close closes the loop with everything it has.
func (l *Loop) Close() {
	for _, c := range l.conns {
		c.Close()
	}
	if l.listener >= 0 {
		_ = unix.Close(l.listener)
	}
	_ = unix.Close(l.fd)
}
