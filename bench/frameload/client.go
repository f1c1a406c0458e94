package main

import (
	"math/bits"
	"time"

	"github.com/corelane/corelane/bench/epoll"
	"github.com/corelane/corelane/bench/wire"
)

// ringFactor is how many ids the ring of a connection spans for each request in
// flight: as many can be answered while one is not, before its place is needed.
const ringFactor = 4

// slot is a request in flight; its place in the ring is its id's.
type slot struct {
	id    uint64 // 0: free
	due   time.Duration
	nonce [wire.NonceLength]byte
	got   int // bytes of the body
	bad   failure
	isBad bool
}

// client is one connection and what is in flight on it. Ids grow, which the
// frame protocol asks for; one whose place is taken is passed over.
type client struct {
	conn     *epoll.Conn
	index    int
	last     uint64
	slots    []slot
	inFlight int
	// draining: the peer takes no more requests on this connection.
	draining bool
	// retryAt is when a connection that could not be opened is tried again.
	retryAt time.Duration
}

func newClient(index, streams int) *client {
	return &client{index: index, slots: make([]slot, 1<<bits.Len(uint(ringFactor*streams-1)))}
}

func (c *client) slot(id uint64) *slot { return &c.slots[id&uint64(len(c.slots)-1)] }

// begin takes the next id whose place is free and returns its slot.
func (c *client) begin(due time.Duration) *slot {
	for {
		c.last++
		if s := c.slot(c.last); s.id == 0 {
			*s = slot{id: c.last, due: due, nonce: wire.Nonce(uint64(c.index)<<48 | c.last)}
			c.inFlight++
			return s
		}
	}
}

// find returns the slot of a request in flight, or nil.
func (c *client) find(id uint64) *slot {
	if s := c.slot(id); id != 0 && s.id == id {
		return s
	}
	return nil
}

func (c *client) end(s *slot) {
	s.id = 0
	c.inFlight--
}

// fail remembers the first thing that was wrong with an answer.
func (s *slot) fail(f failure) {
	if !s.isBad {
		s.bad, s.isBad = f, true
	}
}

// take checks a piece of the answer.
func (s *slot) take(m *wire.Message) {
	if m.First && m.Status != 200 {
		s.fail(failStatus)
	}
	for i := 0; i < len(m.Body) && s.got+i < wire.NonceLength; i++ {
		if m.Body[i] != s.nonce[s.got+i] {
			s.fail(failNonce)
			break
		}
	}
	s.got += len(m.Body)
}
