package health

import (
	"time"

	"github.com/corelane/corelane/pool"
)

// Transition is a change of an endpoint's state.
type Transition struct {
	At time.Time
	// State is what the endpoint became: unknown, healthy, unhealthy, or what Note was told.
	State string
	// Reason says why.
	Reason string
}

// Probe is one probe that has ended.
type Probe struct {
	At      time.Time
	Result  Result
	Reason  string
	Latency time.Duration
}

// Report is what a Checker knows of an endpoint.
type Report struct {
	// Checked says that the endpoint is probed.
	Checked bool
	// Last is the last probe; its At is zero before the first.
	Last Probe
	// Passes and Fails are the successes and failures in a row, of which one is 0.
	Passes, Fails int
	// History holds the last transitions, oldest first.
	History []Transition
}

// record is what is kept of an endpoint of the generation. The checker's lock guards it.
type record struct {
	endpoint *pool.Endpoint
	probe    *probe // nil: not checked
	last     Probe
	history  []Transition
}

// note adds a transition, over the oldest if there are too many.
func (r *record) note(t Transition) {
	if len(r.history) == MaxHistory {
		copy(r.history, r.history[1:])
		r.history = r.history[:MaxHistory-1]
	}
	r.history = append(r.history, t)
}

func (r *record) report() Report {
	out := Report{Checked: r.probe != nil, Last: r.last, History: append([]Transition(nil), r.history...)}
	if r.probe != nil {
		out.Passes, out.Fails = r.probe.passes, r.probe.fails
	}
	return out
}
