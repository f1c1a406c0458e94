package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/route"
)

// protocolTCP is the protocol of listeners and services whose connections are
// passed through unread.
const protocolTCP = "tcp"

// passage says where the connections of a tcp listener go; nil for others.
func (b *build) passage(l *Listener, old *snapshot.Listener) *snapshot.Passage {
	if l.Protocol != protocolTCP {
		return nil
	}
	id := passageID(l)
	series := b.compiler.seriesOf(id)
	if old != nil && old.Passage != nil {
		old.Passage.Each(func(r *snapshot.Route) { series = r.Series })
	}
	to := func(name string) *snapshot.Route {
		svc := b.services[name]
		if svc == nil {
			return nil
		}
		r := &snapshot.Route{
			Info: filters.RouteInfo{ID: id}, Service: svc, Timeouts: svc.Timeouts, Retries: svc.Retries, Series: series,
		}
		r.Timeouts.TunnelIdle = snapshot.Inherit
		return r
	}
	names := make(map[string]*snapshot.Route, len(l.SNI))
	for name, service := range l.SNI {
		names[strings.ToLower(name)] = to(service)
	}
	return snapshot.NewPassage(to(l.Service), names)
}

// passagePrefix begins what stands for a route in logs and metrics.
const passagePrefix = protocolTCP + ":"

func passageID(l *Listener) string { return passagePrefix + l.Name }

// samePassage says whether the services of a listener are those of this
// generation.
func (b *build) samePassage(old *snapshot.Listener) bool {
	same := true
	if old.Passage != nil {
		old.Passage.Each(func(r *snapshot.Route) { same = same && b.services[r.Service.Name] == r.Service })
	}
	return same
}

// passes names the services that the listener passes connections on to, with the
// keys that name them.
func (l *Listener) passes() map[string]string {
	all := make(map[string]string, len(l.SNI)+1)
	if l.Service != "" {
		all["service"] = l.Service
	}
	for name, service := range l.SNI {
		all["sni."+strconv.Quote(name)] = service
	}
	return all
}

// validatePassages checks where the connections of tcp listeners go.
func (d *draft) validatePassages(services []string) {
	byName := d.servicesByName()
	for i, l := range d.doc.Listeners {
		at := d.listeners[i]
		if l.Protocol != protocolTCP {
			d.refusePassage(at, l)
			continue
		}
		if l.Service == "" && len(l.SNI) == 0 {
			d.missing(at, "service", "a tcp listener needs a service, or sni with the services of server names")
		}
		passes := l.passes()
		for _, key := range slices.Sorted(maps.Keys(passes)) {
			name := passes[key]
			if _, known := slices.BinarySearch(services, name); !known {
				d.complain(at, key, unknownName("service", name, services))
			} else if s := byName[name]; s != nil && s.Protocol != protocolTCP {
				d.complain(at, key, fmt.Sprintf("the service %q speaks %s: connections are passed through to services with `protocol: tcp`", name, s.Protocol))
			}
		}
		d.validateNames(at, l)
		d.validateConnectionFilters(at, l)
	}
}

// refusePassage is for listeners that have requests.
func (d *draft) refusePassage(at place, l *Listener) {
	const message = "only a listener with `protocol: tcp` passes connections through; the others have routes"
	if l.Service != "" {
		d.complain(at, "service", message)
	}
	if len(l.SNI) > 0 {
		d.complain(at, "sni", message)
	}
}

// validateNames checks the server names of a listener.
func (d *draft) validateNames(at place, l *Listener) {
	seen := make(map[string]bool, len(l.SNI))
	for _, name := range slices.Sorted(maps.Keys(l.SNI)) {
		key, lower := "sni."+strconv.Quote(name), strings.ToLower(name)
		spec := route.Spec{ID: "sni", Kind: route.Prefix, Pattern: "/", Hosts: []string{lower}}
		if err := spec.Validate(); err != nil {
			d.complain(at, key, "not a server name: "+err.Error())
		}
		if seen[lower] {
			d.complain(at, key, "this name stands twice, in different case")
		}
		seen[lower] = true
	}
}

// validateConnectionFilters refuses filters that look at requests, of which there
// are none.
func (d *draft) validateConnectionFilters(at place, l *Listener) {
	for i, f := range l.Filters {
		kind, known := filters.Lookup(f.Name)
		if !known {
			continue
		}
		if _, takes := kind.New().(filters.ConnectionFilter); !takes {
			d.complain(at, "filters["+strconv.Itoa(i)+"]."+f.Name, "a tcp listener has no requests, and this filter takes part in requests only")
		}
	}
}

// validateOpaque refuses what connections that are passed through cannot have.
func (d *draft) validateOpaque(at place, s *Service) {
	if s.Protocol != protocolTCP {
		return
	}
	switch b := s.Balance; {
	case b.Kind == "sticky":
		d.complain(at, "balance", "sticky goes by a cookie, and a tcp service has none: use {hash: ip}")
	case b.Kind == "hash" && b.Key != snapshot.KeyIP:
		d.complain(at, "balance", "a tcp service can only hash by ip: there is no request to look at")
	}
	if s.Pool.MinIdle > 0 {
		d.complain(at, "pool.min_idle", "each connection to a tcp service belongs to one client: none is opened ahead")
	}
	if s.Retries.Hedge > 0 {
		d.complain(at, "retries.hedge", "a tcp service has no responses to wait for")
	}
}

// validateRequestsTo refuses a service that passes connections through where
// requests are sent.
func (d *draft) validateRequestsTo(at place, key, name string, byName map[string]*Service) {
	if s := byName[name]; s != nil && s.Protocol == protocolTCP {
		d.complain(at, key, noRequests(name))
	}
}

func noRequests(service string) string {
	return fmt.Sprintf("the service %q has `protocol: tcp`: it gets the connections of tcp listeners and no requests", service)
}
