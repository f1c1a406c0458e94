package control

import (
	"context"
	"os"
	"syscall"
	"time"

	"github.com/corelane/corelane/engine"
)

// Signals are those that Serve understands.
var Signals = []os.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT}

// Serve waits for signals: SIGHUP reloads the configuration and reopens the
// access log, SIGTERM and SIGINT drain, a second one of these cuts. It returns
// when everything has ended; also if ctx ends, without a drain. It is to be
// called once.
func (n *Node) Serve(ctx context.Context, signals <-chan os.Signal) {
	defer n.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-signals:
			if s == syscall.SIGHUP {
				n.hangUp()
				continue
			}
			n.drain(ctx, s, signals)
			return
		}
	}
}

// drain ends the node's work: nobody new is accepted, running exchanges may end
// until the deadline.
func (n *Node) drain(ctx context.Context, cause os.Signal, signals <-chan os.Signal) {
	n.setState(stateDraining) // first of all: balancers should look elsewhere
	limit := n.doc.Engine.DrainTimeout
	n.log.Info("draining", "signal", cause.String(), "connections", n.server.Connections(), "timeout", limit.String())
	n.server.BeginDrain()
	var deadline <-chan time.Time
	if limit > 0 {
		deadline = time.After(limit)
	}
	tick := time.NewTicker(drainPoll)
	defer tick.Stop()
	for quiet := 0; quiet < 2; {
		select {
		case <-ctx.Done():
			return
		case <-deadline:
			n.log.Warn("the drain's time is up, the rest is cut", "connections", n.server.Connections())
			return
		case s := <-signals:
			if s == syscall.SIGHUP {
				n.access.Reopen()
				continue
			}
			n.log.Warn("stopping at once", "signal", s.String(), "connections", n.server.Connections())
			return
		case <-tick.C:
			quiet = n.quietRounds(quiet)
		}
	}
	n.log.Info("drained")
}

// quietRounds counts how many times in a row every loop has had a turn and no
// client was left: a client may still come out of a backlog after the first.
func (n *Node) quietRounds(before int) int {
	answered := true
	n.counters.look(func(_ []*engine.Stats, missing []int) {
		answered = len(missing) == 0
	})
	if !answered || n.server.Connections() > 0 {
		return 0
	}
	return before + 1
}
