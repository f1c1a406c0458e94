package control

import (
	"net/http"
	"time"

	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
	"github.com/corelane/corelane/pool/health"
)

// endpointDetail is one endpoint with what its checks have found. Check and
// LastProbe are null where there is none.
type endpointDetail struct {
	Service  string         `json:"service"`
	Endpoint endpointAnswer `json:"endpoint"`
	Check    *checkAnswer   `json:"check"`
	// Passes and Fails are probes in a row.
	Passes    int                `json:"passes"`
	Fails     int                `json:"fails"`
	LastProbe *probeAnswer       `json:"last_probe"`
	History   []transitionAnswer `json:"history"`
}

// checkAnswer is how the endpoint is checked.
type checkAnswer struct {
	Kind     string  `json:"kind"`
	Path     string  `json:"path,omitempty"`
	Host     string  `json:"host,omitempty"`
	Port     int     `json:"port,omitempty"`
	Interval float64 `json:"interval_ms"`
	Timeout  float64 `json:"timeout_ms"`
	Rise     int     `json:"rise"`
	Fall     int     `json:"fall"`
	Expect   string  `json:"expect,omitempty"`
	Body     string  `json:"body,omitempty"`
}

// probeAnswer is how the last probe ended.
type probeAnswer struct {
	At      time.Time `json:"at"`
	Result  string    `json:"result"`
	Reason  string    `json:"reason"`
	Latency float64   `json:"latency_ms"`
}

// transitionAnswer is a change of state.
type transitionAnswer struct {
	At     time.Time `json:"at"`
	State  string    `json:"state"`
	Reason string    `json:"reason"`
}

func (n *Node) getEndpoint(w http.ResponseWriter, r *http.Request) {
	service, member, ok := n.findMember(r)
	n.answerEndpoint(w, service, member, ok)
}

// findMember finds the endpoint that the path names, however its address is
// spelt.
func (n *Node) findMember(r *http.Request) (*snapshot.Service, pool.Member, bool) {
	service := n.server.Current().Services[r.PathValue("service")]
	address, err := reactor.ParseAddr(r.PathValue("endpoint"))
	if service == nil || err != nil {
		return nil, pool.Member{}, false
	}
	for _, m := range service.Pool.Members {
		if m.Endpoint.Addr() == address {
			return service, m, true
		}
	}
	return nil, pool.Member{}, false
}

// answerEndpoint writes the endpoint, or that there is none.
func (n *Node) answerEndpoint(w http.ResponseWriter, s *snapshot.Service, m pool.Member, ok bool) {
	if !ok {
		(&apiError{status: http.StatusNotFound, Error: "not_found", Message: "there is no such endpoint"}).write(w)
		return
	}
	use := n.counters.lanes()[m.Endpoint]
	writeJSON(w, http.StatusOK, newEndpointDetail(s.Pool, m, use, n.checker.Report(m.Endpoint)))
}

func newEndpointDetail(s *pool.Service, m pool.Member, use laneUse, r health.Report) endpointDetail {
	a := endpointDetail{
		Service: s.Name, Endpoint: newEndpointAnswer(s, m, use, reactor.Monotonic()),
		Passes: r.Passes, Fails: r.Fails, History: make([]transitionAnswer, 0, len(r.History)),
	}
	if s.Check != nil {
		a.Check = newCheckAnswer(s.Check)
	}
	if !r.Last.At.IsZero() {
		a.LastProbe = &probeAnswer{
			At: r.Last.At.UTC(), Result: r.Last.Result.String(), Reason: r.Last.Reason,
			Latency: milliseconds(r.Last.Latency.Nanoseconds()),
		}
	}
	for _, t := range r.History {
		a.History = append(a.History, transitionAnswer{At: t.At.UTC(), State: t.State, Reason: t.Reason})
	}
	return a
}

func newCheckAnswer(c *pool.Check) *checkAnswer {
	a := &checkAnswer{
		Kind: c.Kind.String(), Port: c.Port, Rise: c.Rise, Fall: c.Fall,
		Interval: milliseconds(c.Interval.Nanoseconds()), Timeout: milliseconds(c.Timeout.Nanoseconds()),
	}
	if c.Kind == pool.CheckHTTP {
		a.Path, a.Host, a.Expect, a.Body = c.Path, c.Host, c.Expect.String(), c.Body
	}
	return a
}
