package reactor

import (
	"errors"
	"net"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// Dial begins a connection to a, from source if that is valid. The result comes as OnConnect or OnClose
// after the current callback; what is written before is sent once connected. An error that shows at
// once is returned, and then the handler is not called. Give it up with Abort. On the loop.
func (l *Loop) Dial(a Addr, source netip.Addr, h ConnectHandler) (*Conn, error) {
	l.assertLoop()
	if l.ended {
		return nil, dialError(a, ErrLoopStopped)
	}
	fd, err := dialSocket(a, source)
	if err != nil {
		return nil, dialError(a, err)
	}
	err = unix.Connect(fd, a.sockaddr())
	pending := errors.Is(err, unix.EINPROGRESS) || errors.Is(err, unix.EINTR)
	if err != nil && !pending {
		_ = unix.Close(fd)
		return nil, dialError(a, os.NewSyscallError("connect", err))
	}
	c := l.newConn(fd, phaseConnecting)
	c.handler, c.remote, c.accepted = h, a.ip, l.now
	c.dialled = a
	if err := l.register(c); err != nil {
		_ = unix.Close(fd)
		return nil, dialError(a, err)
	}
	l.stats.Dials++
	if !pending {
		c.writable = true
		l.ready.push(c)
	}
	return c, nil
}

func dialSocket(a Addr, source netip.Addr) (int, error) {
	fd, err := sysSocket(a.family())
	if err != nil || a.path != "" {
		return fd, err
	}
	err = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	if err == nil && source.IsValid() {
		err = errors.Join(sysLateBind(fd), os.NewSyscallError("bind", unix.Bind(fd, ipSockaddr(netip.AddrPortFrom(source, 0)))))
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func dialError(a Addr, err error) error {
	return &net.OpError{Op: "dial", Net: a.Network(), Addr: a, Err: err}
}

// onConnectEvent finds out how the attempt ended.
func (c *Conn) onConnectEvent(ev Event) {
	if ev&(Writable|HangUp|Failed) == 0 {
		return
	}
	errno, err := unix.GetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && errno != 0 {
		err = unix.Errno(errno)
	}
	switch {
	case err != nil:
		c.fail(dialError(c.dialled, os.NewSyscallError("connect", err)))
	case ev&Writable != 0:
		c.connected()
	}
}

// connected opens the connection, sends what was written meanwhile and reads what has arrived.
func (c *Conn) connected() {
	c.phase = phaseOpen
	c.writable = true
	if c.out.size > 0 {
		c.feedTimer()
	}
	c.handler.(ConnectHandler).OnConnect(c)
	if c.phase != phaseOpen {
		return
	}
	c.loop.flush()
	c.sendQueue()
	c.tellEmpty()
	if c.fin == finWanted && c.out.size == 0 && c.phase == phaseOpen {
		c.sendFIN()
	}
	c.readAvailable()
}
