package control

import (
	"net/http"
	"slices"
	"time"

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
// and are neither unhealthy nor ejected nor draining. In a panic health and
// ejections are ignored.
type serviceAnswer struct {
	Name           string           `json:"name"`
	Protocol       string           `json:"protocol"`
	Balance        string           `json:"balance"`
	MaxConnections int              `json:"max_connections"`
	MaxWaiting     int              `json:"max_waiting"`
	Waiting        int64            `json:"waiting"`
	Ejections      uint64           `json:"ejections"`
	Usable         int              `json:"usable"`
	Panic          bool             `json:"panic"`
	Endpoints      []endpointAnswer `json:"endpoints"`
}

// endpointAnswer is one endpoint with its upstream connections in the whole
// process. Active is counted for services that balance by least_requests or ewma.
// LeftOut says why it is not chosen: draining, unhealthy, ejected, warming_up, or
// slow_start, where it gets Share of what it will get.
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
	// EjectedUntil is null unless it is ejected.
	EjectedUntil *time.Time `json:"ejected_until"`
	Ejections    uint64     `json:"ejections"`
	Health       string     `json:"health"`
	Draining     bool       `json:"draining"`
	WarmingUp    bool       `json:"warming_up"`
	Share        float64    `json:"share"`
	LeftOut      string     `json:"left_out"`
}

func (n *Node) getServices(w http.ResponseWriter, _ *http.Request) {
	snap := n.server.Current()
	lanes, now := n.counters.lanes(), reactor.Monotonic()
	answer := servicesAnswer{Generation: snap.Generation, Services: make([]serviceAnswer, 0, len(snap.Services))}
	for _, name := range serviceNames(snap) {
		answer.Services = append(answer.Services, newServiceAnswer(snap.Services[name], lanes, now))
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

func newServiceAnswer(svc *snapshot.Service, lanes map[*pool.Endpoint]laneUse, now int64) serviceAnswer {
	s := svc.Pool
	a := serviceAnswer{
		Name: s.Name, Protocol: svc.Speaks(), Balance: s.Balance.String(), MaxConnections: s.Limits.MaxConnections, MaxWaiting: s.Limits.MaxWaiting,
		Waiting: s.State.Waiting(), Ejections: s.State.Ejections(), Endpoints: make([]endpointAnswer, 0, len(s.Members)),
		Panic: s.Panicking(now),
	}
	for _, m := range s.Members {
		one := newEndpointAnswer(s, m, lanes[m.Endpoint], now)
		if m.Weight > 0 && !one.Ejected && !one.Draining && m.Endpoint.Health() != pool.Unhealthy {
			a.Usable++
		}
		a.Endpoints = append(a.Endpoints, one)
	}
	return a
}

func newEndpointAnswer(s *pool.Service, m pool.Member, use laneUse, now int64) endpointAnswer {
	e := m.Endpoint
	share, warm := s.Share(e, now)
	a := endpointAnswer{
		Address: e.Address(), Weight: m.Weight, Connections: e.Conns(), Idle: use.idle, Busy: use.busy,
		Waiting: use.waiting, MaxConnections: e.Limit(), Active: e.Active(), Failures: e.Failures(),
		Ejections: e.Ejections(), Health: e.Health().String(), Draining: e.Draining(),
		WarmingUp: !warm, Share: share, LeftOut: s.Refusal(e, now),
	}
	if e.Ejected(now) {
		left := e.EjectedUntil() - now
		until := time.Now().Add(time.Duration(left)).UTC()
		a.Ejected, a.EjectedMillis, a.EjectedUntil = true, left/1e6, &until
	}
	return a
}
