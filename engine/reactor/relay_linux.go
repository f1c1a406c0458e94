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

// newPipe makes a pipe, as large as the system lets it be but for tiny ones.
func newPipe() (p pipe, ok bool) {
	if unix.Pipe2(p[:], unix.O_NONBLOCK|unix.O_CLOEXEC) != nil {
		return p, false
	}
	size, err := unix.FcntlInt(uintptr(p[1]), unix.F_SETPIPE_SZ, relaySize)
	if err != nil { // it is not let grow; as it is, it may do
		size, err = unix.FcntlInt(uintptr(p[1]), unix.F_GETPIPE_SZ, 0)
	}
	if err != nil || size < minPipe {
		p.close()
		return p, false
	}
	return p, true
}

func (p pipe) close() {
	_ = unix.Close(p[0])
	_ = unix.Close(p[1])
}
