package epoll

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

var errUnsent = errors.New("the peer does not read")

// read takes one piece; level-triggered events tell of what is left.
func (c *Conn) read() {
	n, err := unix.Read(c.fd, c.loop.buffer)
	switch {
	case err == unix.EAGAIN || err == unix.EINTR:
		return
	case err != nil:
		c.fail(os.NewSyscallError("read", err))
		return
	case n == 0:
		c.fail(io.EOF)
		return
	}
	b := c.loop.buffer[:n]
	if len(c.in) > 0 {
		c.in = append(c.in, b...)
		b = c.in
	}
	taken, err := c.loop.handler.Data(c, b)
	if c.closed {
		return
	}
	c.in = append(c.in[:0], b[taken:]...)
	c.Flush()
	if err != nil {
		c.fail(err)
	}
}

// Flush sends Out, as much as the socket takes; the loop sends the rest.
func (c *Conn) Flush() {
	for len(c.Out) > 0 {
		n, err := unix.Write(c.fd, c.Out)
		if err == unix.EINTR {
			continue
		}
		if err != nil && err != unix.EAGAIN {
			c.fail(os.NewSyscallError("write", err))
			return
		}
		sent := max(n, 0)
		c.Out = c.Out[:copy(c.Out, c.Out[sent:])]
		if err == unix.EAGAIN {
			break
		}
	}
	if len(c.Out) > maxUnsent {
		c.fail(errUnsent)
		return
	}
	c.arm(len(c.Out) > 0)
}

// arm asks for an event when the socket takes more, or no longer.
func (c *Conn) arm(on bool) {
	if c.armed == on || c.closed {
		return
	}
	c.armed = on
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(c.fd)}
	if on {
		event.Events |= unix.EPOLLOUT
	}
	if err := unix.EpollCtl(c.loop.fd, unix.EPOLL_CTL_MOD, c.fd, &event); err != nil {
		c.fail(os.NewSyscallError("epoll_ctl", err))
	}
}

func (c *Conn) fail(err error) {
	if c.closed {
		return
	}
	c.Close()
	c.loop.handler.Closed(c, err)
}

// Close ends the connection at once. A second call does nothing.
func (c *Conn) Close() {
	if c.closed {
		return
	}
	c.closed = true
	delete(c.loop.conns, int32(c.fd))
	_ = unix.Close(c.fd)
	c.Out, c.in = nil, nil
}

// Open says whether neither side has closed the connection, as far as is known.
func (c *Conn) Open() bool { return !c.closed }
