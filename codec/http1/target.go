package http1

import (
	"bytes"

	"github.com/corelane/corelane/codec"
)

// splitTarget finds the parts of l.Target, whose bytes are checked already
// (RFC 9112 §3.2). A path that the absolute form leaves out stays empty.
func splitTarget(l *codec.RequestLine, w []byte) *fault {
	target := l.Target.In(w)
	switch {
	case len(target) == 0:
		return errTarget
	case target[0] == '/':
		return splitPath(l, w, l.Target.From)
	case target[0] == '*':
		if len(target) > 1 || l.ID != codec.OPTIONS {
			return errTarget
		}
		l.Path = l.Target
		return nil
	default:
		return splitAbsolute(l, w)
	}
}

// splitPath divides what stands from there on at the first '?'.
func splitPath(l *codec.RequestLine, w []byte, from uint32) *fault {
	to := l.Target.To
	l.Path = codec.Span{From: from, To: to}
	if i := bytes.IndexByte(w[from:to], '?'); i >= 0 {
		l.Path.To = from + uint32(i)
		l.Query = codec.Span{From: l.Path.To + 1, To: to}
		l.HasQuery = true
	}
	if !validEscapes(l.Path.In(w)) {
		return errEscape
	}
	return nil
}

// splitAbsolute reads scheme and authority of an http or https URI. The
// authority must not be empty and must not carry user information (RFC 9110
// §4.2).
func splitAbsolute(l *codec.RequestLine, w []byte) *fault {
	target := l.Target.In(w)
	scheme := 0
	switch {
	case len(target) > 7 && codec.EqualFold(target[:7], "http://"):
		scheme = len("http")
	case len(target) > 8 && codec.EqualFold(target[:8], "https://"):
		scheme = len("https")
	default:
		return errTarget
	}
	from := l.Target.From + uint32(scheme+len("://"))
	to := from
	for to < l.Target.To && w[to] != '/' && w[to] != '?' {
		to++
	}
	l.Scheme = codec.Span{From: l.Target.From, To: l.Target.From + uint32(scheme)}
	l.Authority = codec.Span{From: from, To: to}
	if from == to || !validAuthority(w[from:to]) {
		return errAuthority
	}
	return splitPath(l, w, to)
}

// completeTarget gives the absolute form what it lacks: the path, which is "*"
// for OPTIONS without a query (RFC 9112 §3.2.4), and a Host field that says
// what the target says, since the received one does not count (§3.2.2).
func (d *Decoder) completeTarget(h *codec.Head) {
	l := &d.line
	if l.Scheme.Len() == 0 {
		return
	}
	if l.Path.Len() == 0 {
		path := []byte("/")
		if l.ID == codec.OPTIONS && !l.HasQuery {
			path = []byte("*")
		}
		h.SetPath(path)
	}
	h.SetAuthority(h.Authority())
}

// validEscapes says that each '%' is followed by two hexadecimal digits.
func validEscapes(b []byte) bool {
	for {
		i := bytes.IndexByte(b, '%')
		if i < 0 {
			return true
		}
		if len(b) < i+3 || !isHex(b[i+1]) || !isHex(b[i+2]) {
			return false
		}
		b = b[i+3:]
	}
}

func isHex(c byte) bool { return hexValue(c) >= 0 }

// hexValue returns the value of a hexadecimal digit, -1 for another byte.
func hexValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
