//go:build unix && !linux

package reactor

import (
	"errors"
	"net/netip"
	"os"
	"time"

	"github.com/panjf2000/gnet/v2/pkg/socket"
	"golang.org/x/sys/unix"
)

// vector is not needed where pieces are written one after the other.
type vector struct{}

func sysRead(fd int, p []byte) (int, error) {
	for {
		n, err := unix.Read(fd, p)
		if !errors.Is(err, unix.EINTR) {
			return sysResult(n, err)
		}
	}
}

func sysWrite(fd int, p []byte) (int, error) {
	for {
		n, err := unix.Write(fd, p)
		if !errors.Is(err, unix.EINTR) {
			return sysResult(n, err)
		}
	}
}

func sysWritev(fd int, pieces [][]byte, _ *vector) (int, error) {
	total := 0
	for _, p := range pieces {
		n, err := sysWrite(fd, p)
		total += n
		if err != nil && total > 0 && errors.Is(err, ErrWouldBlock) {
			return total, nil
		}
		if err != nil || n < len(p) {
			return total, err
		}
	}
	return total, nil
}

func sysResult(n int, err error) (int, error) {
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, unix.EAGAIN):
		return 0, ErrWouldBlock
	}
	return 0, err
}

func sysAccept(fd int) (int, netip.AddrPort, error) {
	n, sa, err := unix.Accept(fd)
	if err != nil {
		return -1, netip.AddrPort{}, err
	}
	unix.CloseOnExec(n)
	if err := unix.SetNonblock(n, true); err != nil {
		_ = unix.Close(n)
		return -1, netip.AddrPort{}, err
	}
	return n, addrPortOf(sa), nil
}

func sysSocket(family int) (int, error) {
	fd, err := unix.Socket(family, unix.SOCK_STREAM, 0)
	if err != nil {
		return -1, os.NewSyscallError("socket", err)
	}
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return -1, os.NewSyscallError("fcntl", err)
	}
	return fd, nil
}

// sysUnread cannot tell here and says that there may be something: the caller then reads.
func sysUnread(int) int { return 1 }

func sysLateBind(int) error { return nil }

func sysReusePort(fd int) error { return socket.SetReuseport(fd, 1) }

func sysSteerByCPU(int, int) error {
	return errors.New("accept mode cpu needs Linux")
}

func sysThreadTime() time.Duration { return 0 }
