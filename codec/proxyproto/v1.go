package proxyproto

import (
	"bytes"
	"net/netip"
	"unsafe"
)

// parseV1 reads the line of version 1 (§2.1), such as
// "PROXY TCP4 192.0.2.1 198.51.100.2 56324 443\r\n".
func parseV1(b []byte) (Header, int, error) {
	window := b[:min(len(b), MaxV1)]
	end := bytes.IndexAny(window, "\r\n")
	switch {
	case end < 0 && len(window) == MaxV1:
		return Header{}, 0, ErrTooLong
	case end < 0:
		return Header{}, 0, nil
	case window[end] == '\n':
		return Header{}, 0, ErrLine
	case end+1 == MaxV1:
		return Header{}, 0, ErrTooLong
	case end+1 == len(window):
		return Header{}, 0, nil
	case window[end+1] != '\n':
		return Header{}, 0, ErrLine
	}
	h, err := parseLine(window[len(prefixV1):end])
	if err != nil {
		return Header{}, 0, err
	}
	return h, end + 2, nil
}

// parseLine reads what stands between "PROXY " and the CRLF.
func parseLine(line []byte) (Header, error) {
	family, rest, more := bytes.Cut(line, []byte(" "))
	four := string(family) == "TCP4"
	switch {
	case string(family) == "UNKNOWN":
		return Header{Version: 1}, nil // whatever follows is to be ignored
	case !four && string(family) != "TCP6":
		return Header{}, ErrFamily
	case !more:
		return Header{}, ErrLine
	}
	var words [4][]byte
	for i := range words {
		words[i], rest, more = bytes.Cut(rest, []byte(" "))
		if more != (i < len(words)-1) {
			return Header{}, ErrLine
		}
	}
	source, ok1 := parseEnd(words[0], words[2], four)
	destination, ok2 := parseEnd(words[1], words[3], four)
	if !ok1 || !ok2 {
		return Header{}, ErrAddress
	}
	return Header{Version: 1, Source: source, Destination: destination}, nil
}

// parseEnd reads one end of a connection.
func parseEnd(address, port []byte, four bool) (netip.AddrPort, bool) {
	number, ok := parsePort(port)
	if !ok || bytes.IndexByte(address, '%') >= 0 {
		return netip.AddrPort{}, false
	}
	// ParseAddr keeps its argument only for IPv6 zones, which are refused, and
	// in its error, which is dropped.
	a, err := netip.ParseAddr(unsafe.String(unsafe.SliceData(address), len(address)))
	if err != nil || a.Is4() != four {
		return netip.AddrPort{}, false
	}
	return netip.AddrPortFrom(a.Unmap(), number), true
}

// parsePort reads a decimal number up to 65535 without leading zeros.
func parsePort(b []byte) (uint16, bool) {
	if len(b) == 0 || len(b) > 5 || b[0] == '0' && len(b) > 1 {
		return 0, false
	}
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return uint16(n), n <= 0xffff
}
