package snapshot

import (
	"bytes"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/route"
)

// attributes answers the predicates of routes from a head.
type attributes struct{ head *codec.Head }

var _ route.Attributes = attributes{}

// HasHeader implements route.Attributes.
func (a attributes) HasHeader(name string, values []string) bool {
	h := a.head
	for i := range h.Len() {
		if !h.Removed(i) && equalFold(h.Name(i), name) && oneOf(h.Value(i), values) {
			return true
		}
	}
	return false
}

// HasQuery implements route.Attributes: names and values are compared decoded,
// with "+" as a space, as forms write them.
func (a attributes) HasQuery(name string, values []string) bool {
	rest := a.head.Query()
	for len(rest) > 0 {
		var pair []byte
		pair, rest = cut(rest, '&')
		k, v := cut(pair, '=')
		if !equalQuery(k, name) {
			continue
		}
		if len(values) == 0 {
			return true
		}
		for _, want := range values {
			if equalQuery(v, want) {
				return true
			}
		}
	}
	return false
}

// HasCookie implements route.Attributes.
func (a attributes) HasCookie(name string, values []string) bool {
	for c := (cookies{head: a.head}); ; {
		v, ok := c.next(name)
		if !ok || oneOf(v, values) {
			return ok
		}
	}
}

// oneOf says whether v is one of the values; none asks for presence alone.
func oneOf(v []byte, values []string) bool {
	if len(values) == 0 {
		return true
	}
	for _, want := range values {
		if string(v) == want {
			return true
		}
	}
	return false
}

// cut splits at the first sep; without one everything is before it.
func cut(b []byte, sep byte) (before, after []byte) {
	if i := bytes.IndexByte(b, sep); i >= 0 {
		return b[:i], b[i+1:]
	}
	return b, nil
}

// equalFold compares a field name without regard to case.
func equalFold(b []byte, s string) bool {
	if len(b) != len(s) {
		return false
	}
	for i, c := range b {
		if lower(c) != lower(s[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// equalQuery compares an encoded name or value with a plain one.
func equalQuery(encoded []byte, want string) bool {
	n := 0
	for i := 0; i < len(encoded); n++ {
		var c byte
		c, i = queryByte(encoded, i)
		if n == len(want) || want[n] != c {
			return false
		}
	}
	return n == len(want)
}

// queryByte decodes the byte that begins at i, with "+" as a space, as forms
// write it; an escape that is none stays as it is. next is where the one after
// it begins.
func queryByte(encoded []byte, i int) (c byte, next int) {
	c = encoded[i]
	switch {
	case c == '+':
		c = ' '
	case c == '%' && i+2 < len(encoded) && isHex(encoded[i+1]) && isHex(encoded[i+2]):
		return hexValue(encoded[i+1])<<4 | hexValue(encoded[i+2]), i + 3
	}
	return c, i + 1
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// hexValue returns the value of a hexadecimal digit.
func hexValue(c byte) byte {
	if c |= 0x20; c >= 'a' {
		return c - 'a' + 10
	}
	return c - '0'
}
