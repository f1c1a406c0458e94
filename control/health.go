package control

import (
	"context"
	"fmt"
	"time"

	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
	"github.com/corelane/corelane/pool/health"
)

// targetsOf are the endpoints of a generation with their checks.
func targetsOf(snap *snapshot.Snapshot) []health.Target {
	var all []health.Target
	for _, s := range snap.Services {
		for _, m := range s.Pool.Members {
			all = append(all, health.Target{Endpoint: m.Endpoint, Check: s.Pool.Check, Source: s.Source})
		}
	}
	return all
}

// followEndpoints makes checks and overrides those of a generation that was
// published.
func (n *Node) followEndpoints(snap *snapshot.Snapshot) {
	n.checker.Update(targetsOf(snap))
	for _, e := range n.overrides.outlived(snap) {
		n.undrained(e, "a change of its service")
	}
}

// onHealth acts on what checks have found.
func (n *Node) onHealth(c health.Change) {
	e := c.Endpoint
	if c.To != pool.Unhealthy {
		n.log.Info("an endpoint is healthy", "service", e.Service(), "endpoint", e.Address(), "was", c.From.String(), "reason", c.Reason)
		return
	}
	n.server.CloseIdle(e)
	n.log.Warn("an endpoint is unhealthy", "service", e.Service(), "endpoint", e.Address(), "was", c.From.String(), "reason", c.Reason)
}

// onEjected keeps an ejection for the endpoint's history.
func (n *Node) onEjected(e *pool.Endpoint, nanos int64) {
	n.checker.Note(e, pool.WhyEjected, fmt.Sprintf("requests failed; for %v", time.Duration(nanos)))
}

// watchPanics logs where panics begin and end, until ctx ends. One that is over
// before it is looked at shows in corelane_upstream_panic_choices_total alone.
func (n *Node) watchPanics(ctx context.Context) {
	panics := make(map[string]bool)
	every(ctx, eventPoll, func(time.Time) { n.lookForPanics(panics, n.server.Current(), reactor.Monotonic()) })
}

// lookForPanics compares the services with those that were in a panic.
func (n *Node) lookForPanics(panics map[string]bool, snap *snapshot.Snapshot, now int64) {
	for name, s := range snap.Services {
		if s.Pool.Panicking(now) && !panics[name] {
			panics[name] = true
			n.log.Warn("too few endpoints are usable, so their health is ignored", "service", name, "panic", s.Pool.Panic)
		}
	}
	for name := range panics {
		if s := snap.Services[name]; s == nil || !s.Pool.Panicking(now) {
			delete(panics, name)
			n.log.Info("health counts again", "service", name)
		}
	}
}

// endpointCounts are a service's endpoints by state. Each has one state of
// health; it may be in any of the others besides.
type endpointCounts struct {
	health                     map[pool.Health]int
	ejected, draining, warming int
}

func countEndpoints(s *pool.Service, now int64) endpointCounts {
	c := endpointCounts{health: make(map[pool.Health]int)}
	for _, m := range s.Members {
		e := m.Endpoint
		c.health[e.Health()]++
		if e.Ejected(now) {
			c.ejected++
		}
		if e.Draining() {
			c.draining++
		}
		if share, _ := s.Share(e, now); share < 1 {
			c.warming++
		}
	}
	return c
}

// send sends the counts of one service.
func (c *endpointCounts) send(out sample, service string) {
	for _, h := range []pool.Health{pool.Unknown, pool.Healthy, pool.Unhealthy} {
		out.gauge(endpointsByState, float64(c.health[h]), service, h.String())
	}
	out.gauge(endpointsByState, float64(c.ejected), service, "ejected")
	out.gauge(endpointsByState, float64(c.draining), service, "draining")
	out.gauge(endpointsByState, float64(c.warming), service, "warming_up")
}
