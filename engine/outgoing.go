package engine

import (
	"math"

	"github.com/corelane/corelane/codec"
)

// outgoing is a message on its way out of a wire: a request to an endpoint, or an
// answer to a client. Its head waits for the first piece of the body, so that a
// short message is one frame. Of a protocol that splits, what the peer has not
// given credit for waits; of another, the whole body.
type outgoing struct {
	id       uint64
	head     *codec.Head // nil: it has been sent
	request  *codec.Head // what an answer answers; in a request the same as head
	trailers *codec.Head
	waiting  byteQueue
	left     int64 // bytes of the body that are still to come; -1: not known
	window   int   // bytes that may be sent without more credit
	timeout  int64
	native   bool
	oneWay   bool
	ended    bool // no more bytes come
	over     bool // the last piece was sent
	blocked  bool // somebody was told overHigh and waits to hear that it is over
}

// open gives the message the credit that every one has. More may come before it
// starts.
func (o *outgoing) open(t *codec.Traits) {
	o.window = t.Window
	if o.window == 0 {
		o.window = math.MaxInt
	}
}

// start begins a message.
func (o *outgoing) start(c *wire, h *codec.Head) error {
	o.head, o.left = h, -1
	switch h.Framing() {
	case codec.FramingNone:
		o.left = 0
	case codec.FramingLength:
		o.left = h.ContentLength()
	}
	if o.left < 0 && c.traits.Splits {
		return c.write(o, nil, false) // nobody knows when the first piece comes
	}
	if !c.traits.Splits && o.left > maxMessage {
		return errMessageTooLarge
	}
	return nil
}

// add takes a piece of the body.
func (o *outgoing) add(c *wire, b []byte) error {
	if o.left >= 0 {
		o.left = max(o.left-int64(len(b)), 0)
	}
	switch {
	case o.over:
		return nil
	case !c.traits.Splits:
		return o.gather(c, b)
	case o.waiting.size > 0:
		o.waiting.add(c.w.loop, b)
		return nil
	}
	n, err := o.sendSome(c, b)
	if n < len(b) && err == nil {
		o.waiting.add(c.w.loop, b[n:])
	}
	return err
}

// sendSome sends what there is credit for.
func (o *outgoing) sendSome(c *wire, b []byte) (n int, err error) {
	for n < len(b) && o.window > 0 && err == nil {
		size := min(len(b)-n, o.window, maxPiece)
		o.window -= size
		last := n+size == len(b) && o.left == 0 && o.waiting.size <= len(b)
		err = c.write(o, b[n:n+size], last)
		n += size
	}
	return n, err
}

// gather keeps a piece of a message that is one frame. One that came whole is
// sent from where it lies.
func (o *outgoing) gather(c *wire, b []byte) error {
	if o.left == 0 && o.waiting.size == 0 {
		return o.sendWhole(c, b)
	}
	if o.waiting.size+len(b) > maxMessage {
		return errMessageTooLarge
	}
	o.waiting.add(c.w.loop, b)
	if c.w.loop.Memory().Over() {
		return errNoMemory
	}
	return nil
}

// end ends the body.
func (o *outgoing) end(c *wire, trailers *codec.Head) error {
	if trailers != nil && trailers.Len() > 0 {
		o.trailers = trailers
	}
	o.ended, o.left = true, 0
	switch {
	case o.over:
		return nil
	case !c.traits.Splits:
		return o.sendGathered(c)
	case o.waiting.size > 0:
		return nil // credit will come
	}
	return c.write(o, nil, true)
}

// sendGathered sends a message whose body came in pieces.
func (o *outgoing) sendGathered(c *wire) error {
	w := c.w
	if o.waiting.size == 0 {
		return o.sendWhole(c, nil)
	}
	w.joined = o.waiting.join(w.joined[:0])
	err := o.sendWhole(c, w.joined)
	c.conn.Flush()
	o.waiting.release(w.loop)
	if cap(w.joined) > keptJoin {
		w.joined = nil
	}
	return err
}

// sendWhole sends a message of which everything is there, in this protocol's
// terms.
func (o *outgoing) sendWhole(c *wire, body []byte) error {
	t, translates := c.protocol.(codec.Translator)
	if o.native || !translates {
		return c.write(o, body, true)
	}
	w := c.w
	out, err := t.Native(w.translated[:0], c.role, o.head, o.request, body)
	if err != nil {
		return err
	}
	w.translated = out
	o.head.SetFraming(codec.FramingLength, int64(len(out)))
	err = c.write(o, out, true)
	c.conn.Flush()
	if cap(w.translated) > keptJoin {
		w.translated = nil
	}
	return err
}

// credit takes the peer's credit and sends what waited for it. It says whether
// the message can be fed again after it could not.
func (o *outgoing) credit(c *wire, n int) (feed bool, err error) {
	o.window += min(n, math.MaxInt-o.window)
	for o.waiting.size > 0 && o.window > 0 {
		front := o.waiting.front()
		n, err := o.sendSome(c, front)
		if err != nil {
			return false, err
		}
		c.conn.Flush()
		o.waiting.drop(c.w.loop, n)
	}
	if o.waiting.size > 0 {
		return false, nil
	}
	if o.ended && !o.over {
		err = c.write(o, nil, true)
	}
	feed = o.blocked && !c.conn.OverHigh()
	if feed {
		o.blocked = false
	}
	return feed, err
}

// overHigh says that no more should come for now.
func (o *outgoing) overHigh(c *wire) bool {
	over := c.conn.OverHigh() || c.traits.Splits && o.waiting.size > 0
	if over && !o.blocked {
		o.blocked = true
		c.blocked++
	}
	return over
}

// reset makes it ready for the next message.
func (o *outgoing) reset(w *worker) {
	o.waiting.release(w.loop)
	*o = outgoing{waiting: o.waiting}
}
