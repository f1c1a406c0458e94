package reactor

import (
	"fmt"
	"net/netip"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Ways to spread connections over loops, as in ListenOptions.Accept.
const (
	AcceptHandoff = "handoff" // the kernel chooses, and an overloaded loop hands a fresh connection on
	AcceptHash    = "hash"    // the kernel chooses
	AcceptCPU     = "cpu"     // the CPU that received the connection chooses; Linux
)

// ListenOptions say where and how to listen.
type ListenOptions struct {
	// Address is as for ParseAddr; port 0 takes a free one.
	Address string
	// Loops is the number of loops that will accept, at least 1.
	Loops int
	// Backlog of each socket; 0 means 4096. The kernel caps it.
	Backlog int
	// Accept is AcceptHandoff by default. Unix sockets have one acceptor and always hand off.
	Accept string
}

// Listener is an address that clients connect to, with a socket for each loop.
type Listener struct {
	addr    Addr
	address string
	handoff bool
	sockets []int       // by loop; -1: that loop has none
	file    os.FileInfo // of a unix socket; nil: there is none of ours
	own     Limit       // of this listener alone
	service atomic.Pointer[service]
	stopped atomic.Bool
}

// service is what Serve was told.
type service struct {
	loops    []*Loop
	limit    *Limit
	onAccept func(c *Conn) Handler
}

// Listen binds the address. A TCP address that another socket listens on is an error even if that one
// allows sharing; so is a unix socket whose server answers, while a file that nobody listens on is
// removed. Clients can connect from now on and wait in the backlog.
func Listen(o ListenOptions) (*Listener, error) {
	addr, err := ParseAddr(o.Address)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	switch o.Accept {
	case "", AcceptHandoff, AcceptHash, AcceptCPU:
	default:
		return nil, fmt.Errorf("listen on %s: accept mode %q is unknown", o.Address, o.Accept)
	}
	if o.Backlog <= 0 {
		o.Backlog = defaultListen
	}
	o.Loops = max(o.Loops, 1)
	ln := &Listener{addr: addr, handoff: o.Accept == "" || o.Accept == AcceptHandoff || addr.path != ""}
	if addr.path != "" {
		err = ln.bindUnix(o)
	} else {
		err = ln.bindTCP(o)
	}
	if err != nil {
		ln.closeSockets()
		return nil, fmt.Errorf("listen on %s: %w", o.Address, err)
	}
	return ln, nil
}

// bindTCP binds once without SO_REUSEPORT, which fails if anybody else listens, and then for each loop
// with it.
func (ln *Listener) bindTCP(o ListenOptions) error {
	probe, err := tcpSocket(ln.addr, false)
	if err != nil {
		return err
	}
	if ln.addr.ip.Port() == 0 {
		ln.addr.ip = netip.AddrPortFrom(ln.addr.ip.Addr(), portOf(probe))
	}
	_ = unix.Close(probe)
	ln.address = ln.addr.String()
	for range o.Loops {
		fd, err := tcpSocket(ln.addr, true)
		if err != nil {
			return err
		}
		ln.sockets = append(ln.sockets, fd)
		if err := unix.Listen(fd, o.Backlog); err != nil {
			return os.NewSyscallError("listen", err)
		}
	}
	if o.Accept == AcceptCPU {
		return sysSteerByCPU(ln.sockets[0], o.Loops)
	}
	return nil
}

func tcpSocket(a Addr, share bool) (int, error) {
	fd, err := sysSocket(a.family())
	if err != nil {
		return -1, err
	}
	err = setupTCP(fd, a, share)
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func setupTCP(fd int, a Addr, share bool) error {
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	// Accepted sockets inherit it, which saves a call for each.
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	if a.ip.Addr() == netip.IPv6Unspecified() {
		// [::] means every address of the machine, whatever the system's default is.
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 0); err != nil {
			return os.NewSyscallError("setsockopt", err)
		}
	}
	if share {
		if err := sysReusePort(fd); err != nil {
			return err
		}
	}
	return os.NewSyscallError("bind", unix.Bind(fd, a.sockaddr()))
}

func portOf(fd int) uint16 {
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return 0
	}
	return addrPortOf(sa).Port()
}

// Address is where the listener can be reached, with the real port. Any goroutine.
func (ln *Listener) Address() string { return ln.address }

// Limit bounds the connections of this listener, besides the limit that Serve gets. Any goroutine.
func (ln *Listener) Limit() *Limit { return &ln.own }

// Serve makes the loops accept. onAccept runs on the loop that will own the connection and returns its
// handler; nil closes it. limit may be nil. It is called once, before or after the loops run.
func (ln *Listener) Serve(loops []*Loop, limit *Limit, onAccept func(c *Conn) Handler) {
	s := &service{loops: loops, limit: limit, onAccept: onAccept}
	ln.service.Store(s)
	for i, fd := range ln.sockets {
		if i >= len(loops) {
			_ = unix.Close(fd)
			continue
		}
		a := &acceptor{listener: ln, service: s, loop: loops[i], fd: fd}
		a.timer.Init(a, 0)
		if !loops[i].Post(&Task{Run: a.start}) {
			ln.removeFile()
			_ = unix.Close(fd)
		}
	}
}

// StopAccepting makes each loop take what waits in its backlog and then close its socket. Connections
// stay. Any goroutine, after Serve has returned; before it, the sockets are closed at once.
func (ln *Listener) StopAccepting() {
	if !ln.stopped.CompareAndSwap(false, true) {
		return
	}
	s := ln.service.Load()
	if s == nil {
		ln.closeSockets()
		return
	}
	for _, l := range s.loops {
		l.Post(&Task{Run: func(l *Loop) {
			for _, a := range l.acceptors {
				if a.listener == ln {
					a.stopping, a.ready, a.held = true, true, false
				}
			}
		}})
	}
}

func (ln *Listener) closeSockets() {
	ln.removeFile()
	for _, fd := range ln.sockets {
		_ = unix.Close(fd)
	}
}
