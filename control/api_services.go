package control

import (
	"net/http"
	"slices"

	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
)

// servicesAnswer is all services in the order of their names.
type servicesAnswer struct {
	Generation uint64          `json:"generation"`
	Services   []serviceAnswer `json:"services"`
}

// serviceAnswer is one service. Usable counts the endpoints that have a weight
// and are not ejected.
type serviceAnswer struct {
	Name           string           `json:"name"`
	Balance        string           `json:"balance"`
	MaxConnections int              `json:"max_connections"`
	MaxWaiting     int              `json:"max_waiting"`
	Waiting        int64            `json:"waiting"`
	Ejections      uint64           `json:"ejections"`
	Usable         int              `json:"usable"`
	Endpoints      []endpointAnswer `json:"endpoints"`
}

// endpointAnswer is one endpoint with its upstream connections in the whole
// process. Active is counted for services that balance by least_requests only.
type endpointAnswer struct {
	Address        string `json:"address"`
	Weight         int    `json:"weight"`
	Connections    int64  `json:"connections"`
	Idle           int    `json:"idle"`
	Busy           int    `json:"busy"`
	Waiting        int    `json:"waiting"`
	MaxConnections int64  `json:"max_connections"`
	Active         int64  `json:"active"`
	Failures       int64  `json:"consecutive_failures"`
	Ejected        bool   `json:"ejected"`
	EjectedMillis  int64  `json:"ejected_for_ms"`
}

func (n *Node) getServices(w http.ResponseWriter, _ *http.Request) {
	snap := n.server.Current()
	lanes, now := n.counters.lanes(), reactor.Monotonic()
	answer := servicesAnswer{Generation: snap.Generation, Services: make([]serviceAnswer, 0, len(snap.Services))}
	for _, name := range serviceNames(snap) {
		answer.Services = append(answer.Services, newServiceAnswer(snap.Services[name].Pool, lanes, now))
	}
	writeJSON(w, http.StatusOK, answer)
}

func serviceNames(s *snapshot.Snapshot) []string {
	names := make([]string, 0, len(s.Services))
	for name := range s.Services {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func newServiceAnswer(s *pool.Service, lanes map[*pool.Endpoint]laneUse, now int64) serviceAnswer {
	a := serviceAnswer{
		Name: s.Name, Balance: s.Balance.String(), MaxConnections: s.Limits.MaxConnections, MaxWaiting: s.Limits.MaxWaiting,
		Waiting: s.State.Waiting(), Ejections: s.State.Ejections(), Endpoints: make([]endpointAnswer, 0, len(s.Members)),
	}
	for _, m := range s.Members {
		e, use := m.Endpoint, lanes[m.Endpoint]
		one := endpointAnswer{
			Address: e.Address(), Weight: m.Weight, Connections: e.Conns(), Idle: use.idle, Busy: use.busy,
			Waiting: use.waiting, MaxConnections: e.Limit(), Active: e.Active(), Failures: e.Failures(),
		}
		if e.Ejected(now) {
			one.Ejected, one.EjectedMillis = true, (e.EjectedUntil()-now)/1e6
		} else if m.Weight > 0 {
			a.Usable++
		}
		a.Endpoints = append(a.Endpoints, one)
	}
	return a
}
