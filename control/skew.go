package control

import (
	"log/slog"
	"sync/atomic"
	"time"
)

// skewAlarm notices that one loop works much more than the others for long: with
// few, long connections, or an accept mode that does not fit the machine, one CPU
// is full while others idle, and no single number of the node shows it.
type skewAlarm struct {
	log *slog.Logger

	// Owned by the goroutine of counters.run.
	state skewState

	// Atomic.
	on atomic.Bool
}

// skewState is what is remembered between two samples.
type skewState struct {
	raised bool
	// since is when the samples began to contradict raised; zero: they do not.
	since time.Time
}

// next is the state after one more sample. An alarm is raised, and taken back,
// after skewHold of samples that all say so.
func (s skewState) next(now time.Time, skewed bool) skewState {
	switch {
	case skewed == s.raised:
		return skewState{raised: s.raised}
	case s.since.IsZero():
		return skewState{raised: s.raised, since: now}
	case now.Sub(s.since) < skewHold:
		return s
	}
	return skewState{raised: skewed}
}

// skewed tells whether the busiest loop is far above the mean of all, by points
// and by proportion: among loops that have little to do a proportion says
// nothing, and among busy ones a few points do not.
func skewed(shares []float64) (busiest int, mean float64, far bool) {
	if len(shares) == 0 {
		return 0, 0, false
	}
	for i, share := range shares {
		mean += share
		if share > shares[busiest] {
			busiest = i
		}
	}
	mean /= float64(len(shares))
	most := shares[busiest]
	return busiest, mean, most-mean > skewPoints && most > mean*skewFactor
}

// sample takes the loops' shares of their CPUs and logs when the alarm begins
// and ends.
func (a *skewAlarm) sample(now time.Time, shares []float64) {
	busiest, mean, far := skewed(shares)
	before := a.state
	a.state = before.next(now, far)
	if a.state.raised == before.raised {
		return
	}
	a.on.Store(a.state.raised)
	if !a.state.raised {
		a.log.Info("the loops are even again")
		return
	}
	a.log.Warn("one loop is much busier than the others", "loop", busiest,
		"busy", shares[busiest], "mean", mean, "for", skewHold.String())
}

// raised tells whether the alarm is on. Any goroutine may call it.
func (a *skewAlarm) raised() bool { return a.on.Load() }
