package control

import (
	"context"
	"time"
)

// readiness is the answer of /readyz.
type readiness struct {
	Ready bool `json:"ready"`
	// Reason is empty, "starting", "draining", "stopped" or "loop_stalled".
	Reason     string `json:"reason,omitempty"`
	Message    string `json:"message,omitempty"`
	State      string `json:"state"`
	Generation uint64 `json:"generation"`
}

// awaitOpened waits until the endpoints of the first generation have their
// connections of pool.min_idle, or have failed to take them. Later generations
// do not make a node unready: what is new in them waits for its traffic instead.
func (n *Node) awaitOpened(ctx context.Context) {
	began := time.Now()
	for n.server.Opening() != nil {
		select {
		case <-ctx.Done():
			return
		case <-time.After(openedPoll):
		}
	}
	n.opened.Store(true)
	n.log.Info("ready", "after_ms", milliseconds(time.Since(began).Nanoseconds()))
}

// readiness says whether a balancer should send clients here.
func (n *Node) readiness() readiness {
	state := n.currentState()
	r := readiness{State: state.String(), Generation: n.server.Passed()}
	switch {
	case state == stateStarting || r.Generation == 0:
		r.Reason, r.Message = stateStarting.String(), "not every loop has taken up a configuration"
	case state == stateReady && !n.opened.Load():
		r.Reason, r.Message = stateStarting.String(), "connections of pool.min_idle are being opened"
		if e := n.server.Opening(); e != nil {
			r.Message += ": service " + e.Service() + ", endpoint " + e.Address()
		}
	case state != stateReady:
		r.Reason, r.Message = state.String(), "the node is about to end"
	case n.watchdog.anyStalled():
		r.Reason, r.Message = "loop_stalled", "a loop has had no turn for a second"
	default:
		r.Ready = true
	}
	return r
}
