package frame

import (
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"syscall"
)

// door is a listener as netpoll wants it. It is not netpoll's own for two reasons:
// that one closes its descriptor twice, the second time perhaps somebody else's;
// and netpoll closes a listener together with connections that look idle to it,
// which those with running handlers do, so that it must stop listening before.
type door struct {
	l    net.Listener
	file *os.File // has the descriptor
	fd   int
	shut atomic.Bool
	// left is closed when netpoll polls the descriptor no more. Only then may it be
	// closed: its number may be somebody else's next.
	left chan struct{}
}

func newDoor(l net.Listener) (*door, error) {
	filer, ok := l.(interface{ File() (*os.File, error) })
	if !ok {
		return nil, fmt.Errorf("frame: cannot serve on a listener of type %T", l)
	}
	file, err := filer.File()
	if err != nil {
		return nil, err
	}
	d := &door{l: l, file: file, fd: int(file.Fd()), left: make(chan struct{})}
	if err := syscall.SetNonblock(d.fd, true); err != nil {
		_ = file.Close()
		return nil, err
	}
	return d, nil
}

// Fd returns the descriptor.
func (d *door) Fd() int { return d.fd }

// Addr returns the address.
func (d *door) Addr() net.Addr { return d.l.Addr() }

// Close closes the listener. Shut comes first.
func (d *door) Close() error {
	_ = d.file.Close()
	return d.l.Close()
}

// Accept returns the next connection; neither one nor an error means that there is
// none now.
func (d *door) Accept() (net.Conn, error) {
	syscall.ForkLock.RLock()
	fd, from, err := syscall.Accept(d.fd)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	switch {
	case err == syscall.EAGAIN, err == syscall.EINTR, err == syscall.ECONNABORTED, err != nil && d.shut.Load():
		return nil, nil
	case err != nil:
		return nil, err // as it is: netpoll waits when descriptors are short
	}
	g := &guest{fd: fd, local: d.Addr(), remote: addrOf(from)}
	if _, tcp := g.local.(*net.TCPAddr); tcp {
		_ = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
	}
	return g, nil
}

// close makes the kernel refuse connections, while the descriptor stays.
func (d *door) close() {
	if !d.shut.Swap(true) {
		_ = syscall.Shutdown(d.fd, syscall.SHUT_RD)
	}
}

// guest is an accepted connection, of which netpoll wants to know three things.
type guest struct {
	net.Conn
	fd            int
	local, remote net.Addr
}

// Fd returns the descriptor.
func (g *guest) Fd() int { return g.fd }

// LocalAddr returns the address of the listener.
func (g *guest) LocalAddr() net.Addr { return g.local }

// RemoteAddr returns the address of the client.
func (g *guest) RemoteAddr() net.Addr { return g.remote }

func addrOf(from syscall.Sockaddr) net.Addr {
	switch a := from.(type) {
	case *syscall.SockaddrInet4:
		return &net.TCPAddr{IP: a.Addr[:], Port: a.Port}
	case *syscall.SockaddrInet6:
		return &net.TCPAddr{IP: a.Addr[:], Port: a.Port}
	case *syscall.SockaddrUnix:
		return &net.UnixAddr{Net: "unix", Name: a.Name}
	}
	return &net.UnixAddr{Net: "unix"}
}
