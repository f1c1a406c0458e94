package layout

import (
	"slices"
	"strconv"
)

// Problem is what is impossible in a description.
type Problem struct {
	// Key is the way of keys to it in a configuration, such as length.width.
	Key string
	// Reason is one lower-case clause for people.
	Reason string
}

// Error returns key and reason.
func (p *Problem) Error() string { return p.Key + ": " + p.Reason }

// Problems finds everything that is impossible in a description. Any goroutine
// may call it.
func (l *Layout) Problems() []*Problem {
	c := &checker{l: l}
	if c.length(); len(c.found) > 0 {
		return c.found // the rest depends on the header's size
	}
	c.claim("length", "the length", l.Length.At, l.Length.Width)
	if len(l.Magic) > l.Length.Header {
		c.add("magic", "beyond the header of "+octets(l.Length.Header))
	} else {
		c.claim("magic", "the magic", 0, len(l.Magic))
	}
	if l.ID != nil && c.integer("id", *l.ID) {
		c.claim("id", "the id", l.ID.At, l.ID.Width)
	}
	if l.Kind != nil {
		c.kind(l.Kind)
	}
	if l.Key != nil {
		c.key(l.Key)
	}
	c.constants()
	if l.Failure != nil {
		c.failure(l.Failure)
	}
	return c.found
}

// checker collects problems and the places that fields take.
type checker struct {
	l     *Layout
	found []*Problem
	taken []region
	// kinds tells that values can be compared with the kind field.
	kinds bool
}

// region is a place of the header.
type region struct {
	what     string
	from, to int
	shared   bool // some of its bits are free
}

func (c *checker) add(key, reason string) { c.found = append(c.found, &Problem{key, reason}) }

// theKey is the place that an error reply may write over.
const theKey = "the route key"

// claim takes a place and reports what has it already.
func (c *checker) claim(key, what string, at, size int) {
	c.overlap(key, at, size, func(region) bool { return false })
	c.taken = append(c.taken, region{what: what, from: at, to: at + size})
}

// overlap reports what has a place already and may not be written over.
func (c *checker) overlap(key string, at, size int, may func(region) bool) {
	for _, r := range c.taken {
		if at < r.to && r.from < at+size && !may(r) {
			c.add(key, "overlaps "+r.what+", which takes "+span(r.from, r.to-r.from))
			return
		}
	}
}

// integer checks width and place of an integer of the header.
func (c *checker) integer(key string, i Integer) bool {
	switch {
	case i.Width < 1 || i.Width > 8:
		c.add(key+".width", "a width of 1 to 8 bytes is needed")
	case i.At < 0 || i.At > MaxHeader || c.l.Length.Header > 0 && i.end() > c.l.Length.Header:
		c.add(key+".at", span(i.At, i.Width)+": beyond the header of "+octets(c.l.Length.Header))
	default:
		return true
	}
	return false
}

func (c *checker) length() {
	n := &c.l.Length
	switch {
	case n.Header < 1 || n.Header > MaxHeader:
		c.add("length.header", "a header has 1 to "+strconv.Itoa(MaxHeader)+" bytes")
		return
	case !c.integer("length", n.Integer):
		return
	case n.Counts > CountsRest:
		c.add("length.counts", "unknown")
		return
	}
	least := uint64(n.Header)
	if n.longest() < least {
		c.add("length.width", "a length of "+octets(n.Width)+" cannot say that a frame has a header of "+octets(n.Header))
	}
	if n.Max < n.Header || n.Max > MaxFrame {
		c.add("length.max", "a frame has at least the "+octets(n.Header)+" of its header and at most 1GiB")
	}
}

func (c *checker) kind(k *Kind) {
	if !c.integer("kind", k.Integer) {
		return
	}
	if k.Mask > k.most() {
		c.add("kind.mask", "wider than the field of "+octets(k.Width))
		return
	}
	c.kinds = true
	c.claim("kind", "the kind", k.At, k.Width)
	c.taken[len(c.taken)-1].shared = k.bits() != k.most()
	lists := []struct {
		key    string
		values []uint64
		needed bool
	}{
		{"kind.request", k.Request, true},
		{"kind.response", k.Response, true},
		{"kind.one_way", k.OneWay, false},
		{"kind.heartbeat", k.Heartbeat, false},
	}
	count := 0
	for _, list := range lists {
		count += len(list.values)
		if list.needed && len(list.values) == 0 {
			c.add(list.key, "a value is needed")
		}
		for i, v := range list.values {
			c.kindValue(list.key+"["+strconv.Itoa(i)+"]", v)
		}
	}
	if k.HeartbeatReply != nil {
		c.kindValue("kind.heartbeat_reply", *k.HeartbeatReply)
		if len(k.Heartbeat) == 0 {
			c.add("kind.heartbeat_reply", "there is no heartbeat that it would answer")
		}
	}
	if count > maxValues {
		c.add("kind", "more than "+strconv.Itoa(maxValues)+" values")
		return
	}
	c.distinct(k)
}

func (c *checker) kindValue(key string, v uint64) {
	k := c.l.Kind
	switch {
	case v > k.most():
		c.add(key, hex(v)+" does not fit into "+octets(k.Width))
	case v&^k.bits() != 0:
		c.add(key, hex(v)+" has bits outside the mask "+hex(k.bits()))
	}
}

// distinct checks that what comes from one side has one meaning.
func (c *checker) distinct(k *Kind) {
	twice := func(key string, values []uint64, others ...uint64) {
		for i, v := range values {
			if slices.Contains(others, v) || slices.Contains(values[:i], v) {
				c.add(key+"["+strconv.Itoa(i)+"]", hex(v)+" has another meaning already")
			}
		}
	}
	twice("kind.request", k.Request)
	twice("kind.response", k.Response)
	twice("kind.one_way", k.OneWay, k.Request...)
	messages := slices.Concat(k.Request, k.OneWay, k.Response)
	twice("kind.heartbeat", k.Heartbeat, messages...)
	if r := k.HeartbeatReply; r != nil && slices.Contains(messages, *r) {
		c.add("kind.heartbeat_reply", hex(*r)+" has another meaning already")
	}
}

// octets writes a size.
func octets(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return strconv.Itoa(n) + " bytes"
}

// span writes a place.
func span(at, size int) string {
	if size == 1 {
		return "byte " + strconv.Itoa(at)
	}
	return "bytes " + strconv.Itoa(at) + " to " + strconv.Itoa(at+size-1)
}

func hex(v uint64) string { return "0x" + strconv.FormatUint(v, 16) }
