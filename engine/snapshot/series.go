package snapshot

import "sync/atomic"

// MaxSeries bounds the routes that have metrics of their own; the rest share
// the series "other".
const MaxSeries = 2000

// OtherSeries is the slot that routes share when all others are taken, and the
// slot of requests without a route.
const OtherSeries = 0

// Series is the place of one route in the counters of every loop. A place is
// taken by the first request, so 50,000 routes that nobody calls cost nothing.
type Series struct {
	id   string
	slot atomic.Int32
}

// NewSeries returns a series without a place.
func NewSeries(id string) *Series { return &Series{id: id} }

// ID returns the route's id.
func (s *Series) ID() string { return s.id }

// Placed tells whether the route has taken a place. Any goroutine may call it.
func (s *Series) Placed() bool { return s.slot.Load() != 0 }

// Slot returns the route's place, taking one at the first call. Any loop may
// call it.
func (s *Series) Slot(book *SeriesBook) int {
	if n := s.slot.Load(); n != 0 {
		return int(n - 1)
	}
	return book.assign(s)
}

// SeriesBook hands out places; one for each process.
type SeriesBook struct {
	taken atomic.Int32
	names [MaxSeries + 1]atomic.Pointer[string]
}

// assign takes a place. Two loops may do so at once for one route: the first to
// store wins and the loser's place stays empty.
func (b *SeriesBook) assign(s *Series) int {
	n := b.taken.Add(1)
	if n > MaxSeries {
		b.taken.Store(MaxSeries)
		n = OtherSeries
	}
	if !s.slot.CompareAndSwap(0, n+1) {
		return int(s.slot.Load() - 1)
	}
	if n != OtherSeries {
		b.names[n].Store(&s.id)
	}
	return int(n)
}

// Name returns the route id of a place; "" for a place that is not taken. Any
// goroutine may call it.
func (b *SeriesBook) Name(slot int) string {
	if slot == OtherSeries {
		return "other"
	}
	if p := b.names[slot].Load(); p != nil {
		return *p
	}
	return ""
}
