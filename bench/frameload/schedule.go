package main

import (
	"math"
	"time"
)

// schedule says when requests are due. Times count from the begin of the run.
type schedule struct {
	// interval between two requests in nanoseconds; 0: a closed loop.
	interval float64
	// end is when no more requests are due, limit how many there are at most.
	end   time.Duration
	limit int
	taken int
}

func newSchedule(rate float64, limit int, end time.Duration) schedule {
	s := schedule{end: end, limit: limit}
	if limit == 0 {
		s.limit = math.MaxInt
	}
	if rate > 0 {
		s.interval = float64(time.Second) / rate
	}
	return s
}

// due is the time of the next request. It is a multiple of the interval, not
// the time of the one before plus an interval: rounding does not add up.
func (s *schedule) due() time.Duration {
	return time.Duration(float64(s.taken) * s.interval)
}

// over says that nothing more is due. What an open loop has not sent by its end
// is still sent: it was due.
func (s *schedule) over(now time.Duration) bool {
	if s.interval == 0 {
		return s.taken >= s.limit || now >= s.end
	}
	return s.taken >= s.limit || s.due() >= s.end
}

// take returns the time that the next request's latency counts from, if one may
// leave now.
func (s *schedule) take(now time.Duration) (due time.Duration, ok bool) {
	if s.over(now) || s.due() > now {
		return 0, false
	}
	due = now
	if s.interval > 0 {
		due = s.due()
	}
	s.taken++
	return due, true
}

// ready says whether take would return a request.
func (s *schedule) ready(now time.Duration) bool {
	return !s.over(now) && s.due() <= now
}

// behind is how many requests should have left by now and have not.
func (s *schedule) behind(now time.Duration) int {
	if s.interval == 0 {
		return 0
	}
	all := math.Ceil(float64(min(now, s.end)) / s.interval)
	return max(0, int(min(all, float64(s.limit)))-s.taken)
}
