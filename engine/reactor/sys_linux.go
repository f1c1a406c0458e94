package reactor

import (
	"net/netip"
	"os"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Calls on non-blocking sockets return at once, so they are RawSyscalls: the scheduler need not
// prepare for a thread that blocks, which measured a fifth of the processor time of a proxy. recvfrom
// and sendto go to the socket directly, where read and write pass the file layer first: about 60 ns a
// call.

// vector is the kernel's form of a gather list.
type vector [maxPieces]unix.Iovec

func sysRead(fd int, p []byte) (int, error) {
	for {
		n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd),
			uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), unix.MSG_DONTWAIT, 0, 0)
		if errno != unix.EINTR {
			return sysResult(n, errno)
		}
	}
}

func sysWrite(fd int, p []byte) (int, error) {
	for {
		n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd),
			uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
		if errno != unix.EINTR {
			return sysResult(n, errno)
		}
	}
}

// sysWritev sends at most maxPieces pieces.
func sysWritev(fd int, pieces [][]byte, v *vector) (int, error) {
	k := min(len(pieces), maxPieces)
	for i, p := range pieces[:k] {
		v[i].Base = unsafe.SliceData(p)
		v[i].SetLen(len(p))
	}
	for {
		n, _, errno := unix.RawSyscall(unix.SYS_WRITEV, uintptr(fd), uintptr(unsafe.Pointer(v)), uintptr(k))
		if errno != unix.EINTR {
			clear(v[:k]) // no reference outlives the call
			return sysResult(n, errno)
		}
	}
}

func sysResult(n uintptr, errno unix.Errno) (int, error) {
	switch errno {
	case 0:
		return int(n), nil
	case unix.EAGAIN:
		return 0, ErrWouldBlock
	}
	return 0, errno
}

// sysAccept returns the next connection of a listening socket, non-blocking and close-on-exec. The
// address is invalid for unix sockets.
func sysAccept(fd int) (int, netip.AddrPort, error) {
	var sa unix.RawSockaddrAny
	size := uint32(unix.SizeofSockaddrAny)
	n, _, errno := unix.RawSyscall6(unix.SYS_ACCEPT4, uintptr(fd), uintptr(unsafe.Pointer(&sa)),
		uintptr(unsafe.Pointer(&size)), unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0, 0)
	runtime.KeepAlive(&sa)
	if errno != 0 {
		return -1, netip.AddrPort{}, errno
	}
	return int(n), rawAddrPort(&sa), nil
}

func rawAddrPort(sa *unix.RawSockaddrAny) netip.AddrPort {
	switch sa.Addr.Family {
	case unix.AF_INET:
		in := (*unix.RawSockaddrInet4)(unsafe.Pointer(sa))
		return netip.AddrPortFrom(netip.AddrFrom4(in.Addr), networkOrder(&in.Port))
	case unix.AF_INET6:
		in := (*unix.RawSockaddrInet6)(unsafe.Pointer(sa))
		return netip.AddrPortFrom(netip.AddrFrom16(in.Addr).Unmap(), networkOrder(&in.Port))
	}
	return netip.AddrPort{}
}

func networkOrder(port *uint16) uint16 {
	b := (*[2]byte)(unsafe.Pointer(port))
	return uint16(b[0])<<8 | uint16(b[1])
}

func sysSocket(family int) (int, error) {
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	return fd, os.NewSyscallError("socket", err)
}

// sysUnread is the number of bytes that wait in the socket's receive buffer.
func sysUnread(fd int) int {
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return n
}

// sysLateBind lets the kernel choose the source port at connect, when it knows the destination, so
// that a source address does not halve the number of connections.
func sysLateBind(fd int) error {
	return os.NewSyscallError("setsockopt", unix.SetsockoptInt(fd, unix.SOL_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1))
}

func sysReusePort(fd int) error {
	return os.NewSyscallError("setsockopt", unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1))
}

// sysSteerByCPU makes the kernel give a connection to the listening socket whose number in the group
// is the number of the CPU that received it.
func sysSteerByCPU(fd, sockets int) error {
	const adCPU = 0xfffff000 + 36 // SKF_AD_OFF + SKF_AD_CPU
	code := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: adCPU},
		{Code: unix.BPF_ALU | unix.BPF_MOD | unix.BPF_K, K: uint32(sockets)},
		{Code: unix.BPF_RET | unix.BPF_A},
	}
	prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	return os.NewSyscallError("setsockopt", unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_REUSEPORT_CBPF, &prog))
}

func sysThreadTime() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
