package reactor

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/sys/unix"
)

// Addr is where to connect to or to listen: an IP address with a port, or the path of a unix socket. It
// is comparable.
type Addr struct {
	ip   netip.AddrPort
	path string
}

var errUnixPath = errors.New("the path of a unix socket is empty")

// MaxUnixPath is the longest path of a unix socket in bytes: what fits in a socket address, less the
// terminating zero.
const MaxUnixPath = len(unix.RawSockaddrUnix{}.Path) - 1

// ParseAddr reads "1.2.3.4:80", "[::1]:80" or "unix:/path". Names are not resolved: they are an error.
func ParseAddr(s string) (Addr, error) {
	if path, ok := strings.CutPrefix(s, "unix:"); ok {
		switch {
		case path == "":
			return Addr{}, fmt.Errorf("address %q: %w", s, errUnixPath)
		case len(path) > MaxUnixPath:
			return Addr{}, fmt.Errorf("address %q: the path of a unix socket has %d bytes, %d fit", s, len(path), MaxUnixPath)
		}
		return Addr{path: path}, nil
	}
	ip, err := netip.ParseAddrPort(s)
	if err != nil {
		return Addr{}, fmt.Errorf("address %q: want ip:port or unix:/path: %w", s, err)
	}
	return Addr{ip: ip}, nil
}

// String is the form that ParseAddr reads.
func (a Addr) String() string {
	if a.path != "" {
		return "unix:" + a.path
	}
	return a.ip.String()
}

// Network is "tcp" or "unix"; with String it makes Addr a net.Addr.
func (a Addr) Network() string {
	if a.path != "" {
		return "unix"
	}
	return "tcp"
}

// AddrPort is the IP address and port; invalid for a unix socket.
func (a Addr) AddrPort() netip.AddrPort { return a.ip }

func (a Addr) family() int {
	switch {
	case a.path != "":
		return unix.AF_UNIX
	case a.ip.Addr().Unmap().Is4():
		return unix.AF_INET
	}
	return unix.AF_INET6
}

func (a Addr) sockaddr() unix.Sockaddr {
	if a.path != "" {
		return &unix.SockaddrUnix{Name: a.path}
	}
	return ipSockaddr(a.ip)
}

func ipSockaddr(ip netip.AddrPort) unix.Sockaddr {
	addr := ip.Addr().Unmap()
	if addr.Is4() {
		return &unix.SockaddrInet4{Port: int(ip.Port()), Addr: addr.As4()}
	}
	return &unix.SockaddrInet6{Port: int(ip.Port()), Addr: addr.As16(), ZoneId: zoneID(addr.Zone())}
}

// zoneID reads a numeric zone; interface names are not looked up.
func zoneID(zone string) uint32 {
	var id uint32
	for _, c := range []byte(zone) {
		if c < '0' || c > '9' {
			return 0
		}
		id = id*10 + uint32(c-'0')
	}
	return id
}

// addrPortOf is the IP address of a socket address; invalid if it has none.
func addrPortOf(sa unix.Sockaddr) netip.AddrPort {
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(sa.Addr).Unmap(), uint16(sa.Port))
	}
	return netip.AddrPort{}
}
