package control

// readiness is the answer of /readyz.
type readiness struct {
	Ready bool `json:"ready"`
	// Reason is empty, "starting", "draining", "stopped" or "loop_stalled".
	Reason     string `json:"reason,omitempty"`
	Message    string `json:"message,omitempty"`
	State      string `json:"state"`
	Generation uint64 `json:"generation"`
}

// readiness says whether a balancer should send clients here.
func (n *Node) readiness() readiness {
	state := n.currentState()
	r := readiness{State: state.String(), Generation: n.server.Passed()}
	switch {
	case state == stateStarting || r.Generation == 0:
		r.Reason, r.Message = stateStarting.String(), "not every loop has taken up a configuration"
	case state != stateReady:
		r.Reason, r.Message = state.String(), "the node is about to end"
	case n.watchdog.anyStalled():
		r.Reason, r.Message = "loop_stalled", "a loop has had no turn for a second"
	default:
		r.Ready = true
	}
	return r
}
