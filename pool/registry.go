package pool

// style: mutex allowed: the registry belongs to the control side and is never used by a loop

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/corelane/corelane/engine/reactor"
)

// Registry owns the endpoints and service states of the process. It belongs to the control side: its methods lock, may
// be called from any goroutine but a loop's, and cost time in proportion to the number of endpoints where they say "all".
//
// The order for a generation is: Endpoint and Service while it is compiled, Publish when loops may see it, Reclaim when
// every loop has left the one before.
type Registry struct {
	mu            sync.Mutex
	endpoints     map[endpointKey]*Endpoint
	services      map[string]*State
	endpointSlots slots
	serviceSlots  slots
	clock         func() int64 // monotonic nanoseconds
}

type endpointKey struct{ service, address, identity string }

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	return &Registry{endpoints: map[endpointKey]*Endpoint{}, services: map[string]*State{}, clock: reactor.Monotonic}
}

// Endpoint returns the endpoint of a service at an address (IP and port, or unix:/path; no names) under an identity.
// As long as it lives, the same three give the same object, also when the address is spelt differently.
// An error names the address. What Endpoint returned is safe from Reclaim until the next Publish.
func (r *Registry) Endpoint(service, address, identity string) (*Endpoint, error) {
	addr, err := reactor.ParseAddr(address)
	if err != nil {
		return nil, fmt.Errorf("endpoint %q of service %q: %w", address, service, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key := endpointKey{service, addr.String(), identity}
	e := r.endpoints[key]
	if e == nil {
		e = &Endpoint{service: service, address: address, identity: identity, addr: addr, slot: r.endpointSlots.take()}
		r.endpoints[key] = e
	}
	e.asked = true
	return e, nil
}

// Service returns the process-wide state of a service. As long as it lives, the same name gives the same object. What
// Service returned is safe from Reclaim until the next Publish, and as long as the service has an endpoint.
func (r *Registry) Service(name string) *State {
	r.mu.Lock()
	defer r.mu.Unlock()
	st := r.services[name]
	if st == nil {
		st = &State{name: name, slot: r.serviceSlots.take()}
		r.services[name] = st
	}
	st.asked = true
	return st
}

// Publish tells which endpoints the published generation contains: these are revived, all others are retired. Each must
// have been returned by Endpoint since the last Publish or have been part of it. Those that join endpoints which stay warm
// up from now; where all are new nobody could serve meanwhile, so none does.
func (r *Registry) Publish(inUse []*Endpoint) {
	r.mu.Lock()
	defer r.mu.Unlock()
	used := make(map[*Endpoint]bool, len(inUse))
	for _, e := range inUse {
		used[e] = true
	}
	stays := make(map[string]bool, len(r.services))
	for e := range used {
		if e.published {
			stays[e.service] = true
		}
	}
	for _, e := range r.endpoints {
		if used[e] && !e.published {
			e.join(stays[e.service], r.clock())
		}
		e.asked, e.published = false, used[e]
		e.retired.Store(!used[e])
	}
	for _, st := range r.services {
		st.asked = false
	}
}

// Reclaim forgets the retired endpoints that have no connection, and the services left without endpoint and waiter, and
// frees their slots. Call it when every loop has reported the published generation, and now and then afterwards, since
// connections of retired endpoints may live as long as their exchanges.
func (r *Registry) Reclaim() {
	r.mu.Lock()
	defer r.mu.Unlock()
	populated := make(map[string]bool, len(r.services))
	for key, e := range r.endpoints {
		if e.asked || !e.Retired() || e.Conns() != 0 {
			populated[key.service] = true
			continue
		}
		delete(r.endpoints, key)
		r.endpointSlots.give(e.slot)
	}
	for name, st := range r.services {
		if st.asked || populated[name] || st.Waiting() != 0 {
			continue
		}
		delete(r.services, name)
		r.serviceSlots.give(st.slot)
	}
}

// Endpoints lists all endpoints, the retired ones too, by service and address.
func (r *Registry) Endpoints() []*Endpoint {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]*Endpoint, 0, len(r.endpoints))
	for _, e := range r.endpoints {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *Endpoint) int {
		return cmp.Or(cmp.Compare(a.service, b.service), cmp.Compare(a.address, b.address), cmp.Compare(a.identity, b.identity))
	})
	return all
}

// slots hands out small numbers, freed ones first so that they stay dense.
type slots struct {
	next int
	free []int
}

func (s *slots) take() int {
	if n := len(s.free); n > 0 {
		slot := s.free[n-1]
		s.free = s.free[:n-1]
		return slot
	}
	s.next++
	return s.next - 1
}

func (s *slots) give(slot int) { s.free = append(s.free, slot) }
