package control

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/corelane/corelane/engine"
	"github.com/corelane/corelane/pool"
)

// counters are the loops' numbers as the control side sees them: totals since
// the start, and what can be told only from two looks. Any goroutine may use
// them.
type counters struct {
	server    *engine.Server
	collector *engine.Collector
	alarm     *skewAlarm

	mu   sync.Mutex // guards what follows
	busy []loopBusy
}

// loopBusy is the share of one CPU that a loop's thread took between the last
// two looks.
type loopBusy struct {
	at    time.Time
	nanos int64
	share float64
}

func newCounters(s *engine.Server, log *slog.Logger) *counters {
	return &counters{
		server: s, collector: engine.NewCollector(s), alarm: &skewAlarm{log: log},
		busy: make([]loopBusy, s.Options().Loops),
	}
}

// run looks once a second until ctx ends, so that totals do not depend on who
// scrapes and shares have a base.
func (c *counters) run(ctx context.Context) {
	every(ctx, collectPoll, func(time.Time) { c.second() })
}

// second is one look.
func (c *counters) second() {
	c.collector.Collect(scrapeDeadline, c.measure)
	shares, _ := c.shares()
	c.alarm.sample(time.Now(), shares)
}

// measure computes the shares.
func (c *counters) measure(totals []*engine.Stats, missing []int) {
	now := time.Now()
	absent := loopSet(missing)
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, s := range totals {
		if !absent[i] {
			c.busy[i] = c.busy[i].next(now, s.CPUNanos)
		}
	}
}

// next is the measure after one more look.
func (b loopBusy) next(now time.Time, nanos int64) loopBusy {
	fresh := loopBusy{at: now, nanos: nanos}
	if elapsed := now.Sub(b.at); !b.at.IsZero() && elapsed > 0 {
		fresh.share = min(max(float64(nanos-b.nanos)/float64(elapsed), 0), 1)
	}
	return fresh
}

// look calls view with the totals of every loop and the loops that did not
// answer in time; the totals are theirs of the last answer.
func (c *counters) look(view func(totals []*engine.Stats, missing []int)) {
	c.collector.Collect(scrapeDeadline, view)
}

// shares returns each loop's share of its CPU, from 0 to 1, and how far the
// busiest is above the mean: 1 is even.
func (c *counters) shares() (shares []float64, skew float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	shares = make([]float64, len(c.busy))
	sum, most := 0.0, 0.0
	for i := range c.busy {
		shares[i] = c.busy[i].share
		sum += shares[i]
		most = max(most, shares[i])
	}
	if sum == 0 {
		return shares, 1
	}
	return shares, most * float64(len(shares)) / sum
}

// hits returns the finished exchanges of every route that has a series, and
// whether all series are taken: then a route without one may have had some.
func (c *counters) hits() (byRoute map[string]uint64, full bool) {
	byRoute = make(map[string]uint64)
	c.look(func(totals []*engine.Stats, _ []int) {
		c.eachSeries(totals, func(name string, parts []*engine.RouteStats) {
			for _, r := range parts {
				byRoute[name] += classSum(r)
			}
		})
	})
	delete(byRoute, otherSeries)
	return byRoute, c.server.SeriesName(maxSeries) != ""
}

// eachSeries calls view for every route that was hit, with its counters of each
// loop that has any. Slots with one name are one series: a route that was
// removed and came back has two, and nobody keeps a route from being called
// like the series of those without.
func (c *counters) eachSeries(totals []*engine.Stats, view func(name string, parts []*engine.RouteStats)) {
	var names []string
	parts := make(map[string][]*engine.RouteStats)
	for _, s := range totals {
		for slot := range s.Routes {
			name := c.server.SeriesName(slot)
			if name == "" {
				continue
			}
			if parts[name] == nil {
				names = append(names, name)
			}
			parts[name] = append(parts[name], &s.Routes[slot])
		}
	}
	for _, name := range names {
		view(name, parts[name])
	}
}

func classSum(r *engine.RouteStats) uint64 {
	var sum uint64
	for _, n := range r.Class {
		sum += n
	}
	return sum
}

// laneUse is the upstream connections of one endpoint.
type laneUse struct{ idle, busy, waiting int }

// lanes asks the loops which upstream connections they hold. Loops that do not
// answer in time are left out.
func (c *counters) lanes() map[*pool.Endpoint]laneUse {
	q := c.server.AskLanes()
	end := time.Now().Add(scrapeDeadline)
	for !q.Complete() && time.Now().Before(end) {
		time.Sleep(passedPoll)
	}
	use := make(map[*pool.Endpoint]laneUse)
	q.Each(func(_ int, lanes []pool.LaneStats) {
		for _, l := range lanes {
			u := use[l.Endpoint]
			u.idle, u.busy, u.waiting = u.idle+l.Idle, u.busy+l.Busy, u.waiting+l.Waiting
			use[l.Endpoint] = u
		}
	})
	return use
}

// loopSet turns a list of loops into a set.
func loopSet(loops []int) map[int]bool {
	set := make(map[int]bool, len(loops))
	for _, l := range loops {
		set[l] = true
	}
	return set
}
