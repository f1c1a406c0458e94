package reactor

import "golang.org/x/sys/unix"

// sysSplice moves at most n bytes between a socket and a pipe.
func sysSplice(from, to, n int) (int, error) {
	const flags = unix.SPLICE_F_MOVE | unix.SPLICE_F_NONBLOCK
	for {
		moved, _, errno := unix.RawSyscall6(unix.SYS_SPLICE, uintptr(from), 0, uintptr(to), 0, uintptr(n), flags)
		if errno != unix.EINTR {
			return sysResult(moved, errno)
		}
	}
}

// newPipe makes a pipe, as large as the system lets it be.
func newPipe() (p pipe, ok bool) {
	if unix.Pipe2(p[:], unix.O_NONBLOCK|unix.O_CLOEXEC) != nil {
		return p, false
	}
	_, _ = unix.FcntlInt(uintptr(p[1]), unix.F_SETPIPE_SZ, relaySize) // a smaller one does too
	return p, true
}

func (p pipe) close() {
	_ = unix.Close(p[0])
	_ = unix.Close(p[1])
}
