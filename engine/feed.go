package engine

import "github.com/corelane/corelane/engine/reactor"

const (
	// feedPiece is how much of a held body is written at once, in bytes, and
	// feedPerTurn how much in one turn of the loop.
	feedPiece   = 64 << 10
	feedPerTurn = 256 << 10
)

// This file is a try that sends a held body. Tries of one exchange may be at
// different places of it.

// beginFeed sends the body from its begin.
func (t *try) beginFeed() {
	t.feeds, t.fed = true, 0
	t.feed()
}

// feed sends more while the endpoint takes it. It may be called at any time.
func (t *try) feed() {
	for sent := 0; t.feeds && !t.up.overHigh(); {
		buf := &t.x.buffer
		switch {
		case t.fed == buf.total:
			t.endFeed()
			return
		case buf.spill != nil:
			t.readSpill()
			return
		case sent >= feedPerTurn:
			t.x.w.loop.Post(&t.feeding)
			return
		}
		for from := sent; sent < from+feedPiece && t.fed < buf.total; {
			b := buf.At(t.fed)
			t.up.sendData(b)
			t.fed += int64(len(b))
			sent += len(b)
		}
		t.x.w.loop.Flush() // says whether the endpoint is full
	}
}

// endFeed ends the request.
func (t *try) endFeed() {
	t.feeds = false
	t.endRequest()
	if t == t.x.lead {
		t.x.armHedge()
	}
	t.x.letGo()
}

// readSpill asks for the next bytes in the file, once it is free.
func (t *try) readSpill() {
	if s := t.x.buffer.spill; !s.busy {
		s.read(t.fed)
		t.arm(clockSpill, t.x.w.server.spillTime)
	}
}

// take sends what was read, if that is what the try needs next: it may have been
// read for another, or for one before.
func (t *try) take(s *spill) {
	if !t.feeds {
		return
	}
	t.x.w.loop.Disarm(&t.clock)
	if s.at != t.fed {
		return
	}
	left := s.size
	for _, b := range s.blocks {
		n := min(left, reactor.BlockSize)
		t.up.sendData(b.Bytes()[:n])
		left -= n
	}
	t.x.w.loop.Flush()
	t.fed += int64(s.size)
}

// onSpillRead gives what was read to the tries, which then ask for more.
func (x *Exchange) onSpillRead(s *spill) {
	x.lead.take(s)
	if x.rival != nil {
		x.rival.take(s)
	}
	s.putBlocks()
	x.lead.feed()
	if x.rival != nil {
		x.rival.feed()
	}
}

// feeds says whether a try sends the held body.
func (x *Exchange) feeds() bool {
	return x.lead.feeds || x.rival != nil && x.rival.feeds
}
