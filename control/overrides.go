package control

import (
	"cmp"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
)

// overrides are what operators have switched by hand, over the configuration.
// Each lasts until a publish that changes the service it belongs to. Any
// goroutine may use them.
type overrides struct {
	mu     sync.Mutex
	drains map[*pool.Endpoint]drainOverride
}

// drainOverride is an endpoint that was taken out. The service is the compiled
// one, which is another object as soon as its configuration has changed.
type drainOverride struct {
	service *snapshot.Service
	since   time.Time
}

// drain takes an endpoint out and says whether that is new.
func (o *overrides) drain(s *snapshot.Service, e *pool.Endpoint) bool {
	if !e.SetDraining(true, reactor.Monotonic()) {
		return false
	}
	if o.drains == nil {
		o.drains = make(map[*pool.Endpoint]drainOverride)
	}
	o.drains[e] = drainOverride{service: s, since: time.Now()}
	return true
}

// undrain puts it back.
func (o *overrides) undrain(e *pool.Endpoint) bool {
	delete(o.drains, e)
	return e.SetDraining(false, reactor.Monotonic())
}

// outlived ends the overrides of services that the generation has changed or
// dropped, and returns their endpoints.
func (o *overrides) outlived(snap *snapshot.Snapshot) []*pool.Endpoint {
	o.mu.Lock()
	defer o.mu.Unlock()
	var over []*pool.Endpoint
	for e, d := range o.drains {
		if snap.Services[e.Service()] != d.service {
			o.undrain(e)
			over = append(over, e)
		}
	}
	return over
}

// overridesAnswer is all overrides, by service and endpoint.
type overridesAnswer struct {
	Overrides []overrideAnswer `json:"overrides"`
}

// overrideAnswer is one override. The only kind is drain.
type overrideAnswer struct {
	Kind     string    `json:"kind"`
	Service  string    `json:"service"`
	Endpoint string    `json:"endpoint"`
	Since    time.Time `json:"since"`
}

func (n *Node) getOverrides(w http.ResponseWriter, _ *http.Request) {
	answer := overridesAnswer{Overrides: []overrideAnswer{}}
	n.overrides.mu.Lock()
	for e, d := range n.overrides.drains {
		answer.Overrides = append(answer.Overrides, overrideAnswer{
			Kind: "drain", Service: e.Service(), Endpoint: e.Address(), Since: d.since.UTC(),
		})
	}
	n.overrides.mu.Unlock()
	slices.SortFunc(answer.Overrides, func(a, b overrideAnswer) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Endpoint, b.Endpoint))
	})
	writeJSON(w, http.StatusOK, answer)
}

// postDrain takes an endpoint out: nothing new begins on it, what runs may end.
func (n *Node) postDrain(w http.ResponseWriter, r *http.Request) {
	n.overrides.mu.Lock()
	service, member, ok := n.findMember(r)
	changed := ok && n.overrides.drain(service, member.Endpoint)
	n.overrides.mu.Unlock()
	if changed {
		e := member.Endpoint
		n.server.CloseIdle(e)
		n.checker.Note(e, pool.WhyDraining, "drained by an operator")
		n.log.Info("an endpoint drains", "service", e.Service(), "endpoint", e.Address(), "reason", "an operator")
	}
	n.answerEndpoint(w, service, member, ok)
}

// postUndrain puts it back.
func (n *Node) postUndrain(w http.ResponseWriter, r *http.Request) {
	n.overrides.mu.Lock()
	service, member, ok := n.findMember(r)
	changed := ok && n.overrides.undrain(member.Endpoint)
	n.overrides.mu.Unlock()
	if changed {
		n.undrained(member.Endpoint, "an operator")
	}
	n.answerEndpoint(w, service, member, ok)
}

func (n *Node) undrained(e *pool.Endpoint, reason string) {
	n.checker.Note(e, "undrained", "put back by "+reason)
	n.log.Info("an endpoint is back", "service", e.Service(), "endpoint", e.Address(), "reason", reason)
}
