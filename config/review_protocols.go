package config

import (
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/route"
)

// reviewProtocols finds what the protocols of listeners and services leave
// without a use.
func (r *reviewer) reviewProtocols() {
	doc := r.draft.doc
	http, calls := false, false
	for _, l := range doc.Listeners {
		http = http || l.Protocol == protocolHTTP
		calls = calls || protocolOf(l.Protocol) != nil
	}
	r.reviewCalls(calls)
	named := r.namedByPath(http)
	for i, s := range doc.Services {
		at := r.draft.services[i]
		if what := fromHTTP(&s.Balance); what != "" && !named[s.Name] {
			r.advise(at, "balance", "the service is balanced by a %s, and its requests come as calls, which have none: any endpoint is taken", what)
		}
		if protocolOf(s.Protocol) == nil {
			continue
		}
		if a := s.Health.Active; a != nil && a.Kind == "http" && a.Port == 0 {
			r.advise(at, "health.active.kind", "the endpoints speak %s and are asked in HTTP: use kind tcp, or the port of a page", s.Protocol)
		}
		if most := s.Pool.MaxConnections; s.multiplexes() && most > 0 && most < int(doc.Engine.Loops) {
			r.advise(at, "pool.max_connections", "%d loops share %s to each endpoint and take turns: one for each loop carries any number of requests",
				doc.Engine.Loops, count(most, "connection"))
		}
	}
}

// reviewCalls finds routes of calls that no client can make.
func (r *reviewer) reviewCalls(calls bool) {
	if calls || len(r.draft.doc.Listeners) == 0 {
		return
	}
	first, more := -1, 0
	for i, one := range r.draft.doc.Routes {
		switch {
		case one.spec.Space == route.Paths || !one.Enabled():
		case first < 0:
			first = i
		default:
			more++
		}
	}
	if first >= 0 {
		r.advise(r.draft.routes[first], "match.rpc", "no listener speaks a protocol that has calls: no request reaches the route%s", others(more, "such route"))
	}
}

// namedByPath are the services that requests by path may come to.
func (r *reviewer) namedByPath(http bool) map[string]bool {
	named := r.namedByFilters()
	used := make(map[string]bool)
	for _, one := range r.draft.doc.Routes {
		for _, name := range servicesOf(one) {
			used[name] = true
			named[name] = named[name] || http && one.spec.Space == route.Paths
		}
	}
	for _, s := range r.draft.doc.Services {
		named[s.Name] = named[s.Name] || !used[s.Name] // told already
	}
	return named
}

// fromHTTP names what a balance goes by that only requests of HTTP have; empty:
// nothing.
func fromHTTP(b *Balance) string {
	switch {
	case b.Kind == "sticky", b.Kind == "hash" && b.Key == snapshot.KeyCookie:
		return "cookie"
	case b.Kind == "hash" && b.Key == snapshot.KeyQuery:
		return "query"
	}
	return ""
}
