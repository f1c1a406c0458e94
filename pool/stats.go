package pool

// Stats are a loop's counters, plain numbers that only the loop touches. Setting the struct to zero starts them again.
type Stats struct {
	Dialed     uint64          // connections attached
	DialFailed uint64          // reservations given back
	Reused     uint64          // idle connections lent
	Closed     [Reasons]uint64 // connections gone, by CloseReason
	Waited     uint64          // exchanges queued
	Granted    uint64          // queued exchanges that got a connection or a reservation
	Cancelled  uint64          // queued exchanges that left
	Expired    uint64          // queued exchanges whose time ran out
	Exhausted  uint64          // exchanges refused because too many were queued
	Posted     uint64          // messages to other loops
	Woken      uint64          // messages from other loops
	NoEndpoint uint64          // choices that found nothing usable
	Panicked   uint64          // choices that ignored health

	// As of the call of Local.Stats.
	Idle    int // connections unused
	Busy    int // connections lent
	Waiting int // exchanges queued
}

// LaneStats is the state of one endpoint on one loop.
type LaneStats struct {
	Endpoint            *Endpoint
	Idle, Busy, Waiting int
}

// Stats returns the counters with the three gauges filled in. Loop only; the pointer is always the same.
func (l *Local) Stats() *Stats {
	l.stats.Idle, l.stats.Busy, l.stats.Waiting = l.idle, l.busy, l.waiting
	return &l.stats
}

// Snapshot appends the endpoints that have connections or waiters on this loop to dst. Loop only.
func (l *Local) Snapshot(dst []LaneStats) []LaneStats {
	for _, p := range l.lanes {
		for ; p != nil; p = p.next {
			if !p.unused() {
				dst = append(dst, LaneStats{Endpoint: p.endpoint, Idle: p.idle.n, Busy: p.busy, Waiting: p.waiters.n})
			}
		}
	}
	return dst
}
