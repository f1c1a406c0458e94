package snapshot

import (
	"bytes"

	"github.com/corelane/corelane/codec"
)

// cookies walks over the cookies of a request (RFC 6265 §4.2.1).
type cookies struct {
	head *codec.Head
	at   int    // the next field
	rest []byte // of the field before it
}

// next is the value of the next cookie of a name, without quotes; false: there
// are no more.
func (c *cookies) next(name string) (value []byte, ok bool) {
	for {
		for len(c.rest) > 0 {
			var pair []byte
			pair, c.rest = cut(c.rest, ';')
			k, v := cut(bytes.TrimSpace(pair), '=')
			if string(k) == name {
				return bytes.Trim(v, `"`), true
			}
		}
		if !c.nextField() {
			return nil, false
		}
	}
}

func (c *cookies) nextField() bool {
	for ; c.at < c.head.Len(); c.at++ {
		if c.head.Known(c.at) == codec.Cookie && !c.head.Removed(c.at) {
			c.rest = c.head.Value(c.at)
			c.at++
			return true
		}
	}
	return false
}
