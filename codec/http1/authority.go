package http1

import "bytes"

// ValidAuthority says that b is host [ ":" port ] without user information, not
// empty. Other protocols carry the same value. Any goroutine may call it.
func ValidAuthority(b []byte) bool { return len(b) > 0 && validAuthority(b) }

// validAuthority says that b is host [ ":" port ] without user information
// (RFC 3986 §3.2.2, §3.2.3). An empty port is allowed, an empty host is not.
func validAuthority(b []byte) bool {
	host, port := b, []byte(nil)
	if b[0] == '[' {
		end := bytes.IndexByte(b, ']')
		if end < 0 || !validIPv6(b[1:end]) {
			return false
		}
		if port = b[end+1:]; len(port) == 0 {
			return true
		}
		return port[0] == ':' && validPort(port[1:])
	}
	if i := bytes.IndexByte(b, ':'); i >= 0 {
		host, port = b[:i], b[i+1:]
	}
	return validName(host) && validPort(port)
}

func validPort(b []byte) bool {
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
		if n = n*10 + int(c-'0'); n > maxPort {
			return false
		}
	}
	return true
}

// validName says that b is a registered name or an IPv4 address: unreserved
// characters, sub-delims and percent escapes.
func validName(b []byte) bool {
	for _, c := range b {
		if !nameBytes[c] {
			return false
		}
	}
	return len(b) > 0 && validEscapes(b)
}

var nameBytes = buildNameBytes()

func buildNameBytes() [256]bool {
	var table [256]bool
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=%"
	for _, c := range []byte(allowed) {
		table[c] = true
	}
	return table
}

// validIPv6 says that b is an IPv6 address (RFC 3986 §3.2.2): eight groups of
// up to four hexadecimal digits, or fewer with one "::", of which the last two
// may be written as an IPv4 address. Zones are not allowed.
func validIPv6(b []byte) bool {
	const groups = 8
	seen, short := 0, false
	if bytes.HasPrefix(b, []byte("::")) {
		short, b = true, b[2:]
	}
	for len(b) > 0 {
		if bytes.IndexByte(b, ':') < 0 && bytes.IndexByte(b, '.') > 0 {
			seen += 2
			return validIPv4(b) && (seen == groups || short && seen < groups)
		}
		n := 0
		for n < len(b) && isHex(b[n]) {
			n++
		}
		if n == 0 || n > 4 {
			return false
		}
		seen++
		if b = b[n:]; len(b) == 0 {
			break
		}
		if b[0] != ':' || len(b) == 1 {
			return false
		}
		if b = b[1:]; b[0] == ':' {
			if short {
				return false
			}
			short, b = true, b[1:]
		}
	}
	return seen == groups || short && seen < groups
}

// validIPv4 says that b is four numbers up to 255 without leading zeros.
func validIPv4(b []byte) bool {
	parts := 0
	for {
		n, i := 0, 0
		for i < len(b) && i < 3 && b[i] >= '0' && b[i] <= '9' {
			n = n*10 + int(b[i]-'0')
			i++
		}
		if i == 0 || n > 255 || i > 1 && b[0] == '0' {
			return false
		}
		parts++
		if b = b[i:]; len(b) == 0 {
			return parts == 4
		}
		if b[0] != '.' || parts == 4 {
			return false
		}
		b = b[1:]
	}
}
