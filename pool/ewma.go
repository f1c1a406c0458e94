package pool

import (
	"math"
	"sync/atomic"
	"time"
)

// Constants of the peak-EWMA balancer, in nanoseconds.
const (
	// ewmaDecay is the time in which what an endpoint has shown loses 63 % of its weight.
	ewmaDecay = float64(10 * time.Second)
	// ewmaTick is the unit of a response time's age; samples within one tick only raise.
	ewmaTick = 1 << 20
	// ewmaFirstFailure is the response time of an endpoint of which nothing but a failure is known.
	ewmaFirstFailure = float64(100 * time.Millisecond)
	// ewmaMostFailure is the response time up to which failures raise.
	ewmaMostFailure = float64(10 * time.Second)
)

// responseTime is an endpoint's peak-EWMA of the time to the response head: a slower sample raises it at once, faster
// ones lower it by an exponentially weighted mean. It is one word, 32 bits of a float in nanoseconds and 32 bits of the
// tick of the last sample; 0: no sample yet. Ticks wrap after 52 days, which an endpoint without a request for half of
// them could notice as a mean that has not aged.
type responseTime struct{ word atomic.Uint64 }

func unpack(word uint64) (mean float64, tick uint32) {
	return float64(math.Float32frombits(uint32(word >> 32))), uint32(word)
}

func pack(mean float64, tick uint32) uint64 {
	return uint64(math.Float32bits(float32(mean)))<<32 | uint64(tick)
}

// kept is the weight that the last sample still has after the ticks from then to now. Loops' clocks differ by a turn, so
// the sample may lie ahead.
func kept(then, now uint32) float64 {
	age := int32(now - then)
	if age <= 0 {
		return 1
	}
	return math.Exp(-float64(age) * ewmaTick / ewmaDecay)
}

// sampled is the word after a sample in nanoseconds, above 0.
func sampled(word uint64, sample float64, now uint32) uint64 {
	mean, then := unpack(word)
	if sample > mean {
		return pack(sample, now)
	}
	k := kept(then, now)
	if k == 1 {
		return word
	}
	return pack(mean*k+sample*(1-k), now)
}

// learn takes what a try has shown. A failure must not make an endpoint look fast, so each doubles the mean, up to a
// bound. One that was given up tells how long it had taken already, which can only raise.
func (r *responseTime) learn(o Outcome, elapsed, now int64) {
	for {
		old := r.word.Load()
		mean, _ := unpack(old)
		sample := float64(elapsed)
		switch {
		case o.Failed() && old == 0:
			sample = max(sample, ewmaFirstFailure)
		case o.Failed():
			sample = max(sample, min(2*mean, ewmaMostFailure))
		}
		if sample <= 0 || o == Aborted && sample <= mean {
			return
		}
		next := sampled(old, sample, uint32(now/ewmaTick))
		if next == old || r.word.CompareAndSwap(old, next) {
			return
		}
	}
}

// at is the mean at the last sample and what is left of it at now, in nanoseconds; 0, 0: there was no sample.
func (r *responseTime) at(now int64) (last, left float64) {
	word := r.word.Load()
	if word == 0 {
		return 0, 0
	}
	mean, then := unpack(word)
	return mean, mean * kept(then, uint32(now/ewmaTick))
}

// compared are the response times by which two endpoints are compared. Without requests a mean decays, so that a slow
// endpoint is tried again, but only to the level of the other: being idle makes nobody the faster one. One without a
// sample counts as the other does. So neither is favoured but for what it has shown, and tries under way decide the rest.
func compared(a, b *Endpoint, now int64) (ta, tb float64) {
	lastA, leftA := a.response.at(now)
	lastB, leftB := b.response.at(now)
	if lastA == 0 || lastB == 0 {
		return 1, 1
	}
	floor := min(lastA, lastB)
	return max(leftA, floor), max(leftB, floor)
}

// cost of member i is a response time × (tries under way for a member of mean weight + 1). The 1 has no weight, since
// members are drawn by weight already: with it the heavier of two idle ones would win each time.
func (g *group) cost(i int, response float64) float64 {
	m := &g.members[i]
	load := float64(max(m.endpoint.Active(), 0)) * float64(g.total) / float64(m.weight*uint64(len(g.members)))
	return response * (load + 1)
}
