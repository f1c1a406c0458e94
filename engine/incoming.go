package engine

import "math"

// incoming is what comes of a message's body on a wire, on its way to an exchange:
// the receiving half of a stream, as outgoing is the sending one.
type incoming struct {
	box    byteQueue // what the exchange cannot take yet
	credit int       // bytes that the peer may still send
	taken  int       // bytes that have gone on, for which it has no new credit yet
	paused bool
	whole  bool // the end has come, behind the box
}

// open gives the peer the credit that it has for every message.
func (in *incoming) open(c *wire) {
	in.credit = c.traits.Window
	if in.credit == 0 {
		in.credit = math.MaxInt
	}
}

// spend books n bytes. False: there was no credit for them.
func (in *incoming) spend(n int) bool {
	in.credit -= n
	return in.credit >= 0
}

// keep holds a piece back. False: there is no memory for it.
func (in *incoming) keep(c *wire, b []byte) bool {
	in.box.add(c.w.loop, b)
	return !c.w.loop.Memory().Over()
}

// took gives the peer credit for bytes of the message id that have gone on.
func (in *incoming) took(c *wire, id uint64, n int) {
	window := c.traits.Window
	if window == 0 || in.whole {
		return
	}
	if in.taken += n; in.taken >= window/2 {
		c.credit(id, in.taken)
		in.credit += in.taken
		in.taken = 0
	}
}

// reset makes it ready for the next message.
func (in *incoming) reset(w *worker) {
	in.box.release(w.loop)
	*in = incoming{box: in.box}
}
