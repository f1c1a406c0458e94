package layout

import (
	"slices"
	"strconv"
)

// maxKeyBytes bounds a key of so many bytes.
const maxKeyBytes = 256

func (c *checker) key(k *Key) {
	header := c.l.Length.Header
	if k.Kind > KeyConstant {
		c.add("key.kind", "unknown")
		return
	}
	if k.Kind == KeyConstant {
		switch {
		case k.Constant == "":
			c.add("key.constant", "a constant key needs its text")
		case len(k.Constant) > maxKey:
			c.add("key.constant", "longer than "+octets(maxKey))
		case k.At != 0 || k.Width != 0:
			c.add("key.kind", "a constant key stands in no frame: at and width mean nothing")
		}
		return
	}
	if k.Constant != "" {
		c.add("key.constant", "only a key of the kind constant has a text")
	}
	if k.At < 0 || k.At > MaxKeyAt {
		c.add("key.at", "a key begins within the first "+octets(MaxKeyAt))
		return
	}
	if k.prefix() > 0 {
		switch {
		case k.Width != 0:
			c.add("key.width", "the width of a string stands before it: leave this out")
		case k.At < header:
			c.add("key.at", "a string with a length has no place in a header of fixed size: it begins at "+strconv.Itoa(header)+" or behind")
		}
		return
	}
	most := 8
	if k.Kind == KeyBytes {
		most = maxKeyBytes
	}
	switch {
	case k.Width < 1 || k.Width > most:
		c.add("key.width", "a width of 1 to "+strconv.Itoa(most)+" bytes is needed")
	case k.At < header && k.end() > header:
		c.add("key.at", span(k.At, k.Width)+": partly in the header of "+octets(header)+" and partly behind it")
	case k.At < header:
		c.claim("key", theKey, k.At, k.Width)
	}
}

// constants checks what stands in headers of the gateway's own. Bits of a kind
// that do not count may be among it.
func (c *checker) constants() {
	for i, one := range c.l.Constants {
		c.written("constants["+strconv.Itoa(i)+"]", one.At, one.Bytes, func(r region) bool { return r.shared })
	}
}

// written checks bytes that are written into the header.
func (c *checker) written(key string, at int, b []byte, may func(region) bool) {
	switch {
	case len(b) == 0:
		c.add(key+".bytes", "bytes are needed")
	case at < 0 || at > MaxHeader || at+len(b) > c.l.Length.Header:
		c.add(key+".at", span(at, len(b))+": beyond the header of "+octets(c.l.Length.Header))
	default:
		c.overlap(key, at, len(b), may)
	}
}

func (c *checker) failure(f *Failure) {
	switch k := c.l.Kind; {
	case f.Kind == nil:
	case k == nil:
		c.add("error.kind", "the layout has no kind")
	case c.kinds:
		c.kindValue("error.kind", *f.Kind)
		if slices.Contains(k.Heartbeat, *f.Kind) || k.HeartbeatReply != nil && *k.HeartbeatReply == *f.Kind {
			c.add("error.kind", hex(*f.Kind)+" has another meaning already")
		}
	}
	for i, one := range f.Fields {
		c.field("error.fields["+strconv.Itoa(i)+"]", one)
	}
	if len(f.Body) > maxKey {
		c.add("error.body", "longer than "+octets(maxKey))
	} else if _, problem := parseTemplate(f.Body); problem != "" {
		c.add("error.body", problem)
	}
}

// leastStatus is the width that a status needs.
const leastStatus = 2

// field checks a field of an error reply, which may write over the key of the
// request.
func (c *checker) field(key string, f Field) {
	may := func(r region) bool { return r.shared || r.what == theKey }
	switch {
	case len(f.Bytes) > 0 && f.Width != 0:
		c.add(key, "bytes or a status with a width: one of them")
	case len(f.Bytes) > 0:
		c.written(key, f.At, f.Bytes, may)
	case f.Width == 0:
		c.add(key, "bytes, or a width for the status, is needed")
	case c.integer(key, f.Integer):
		if f.Width < leastStatus {
			c.add(key+".width", "a status up to 599 needs 2 bytes")
		}
		c.overlap(key, f.At, f.Width, may)
	}
}
