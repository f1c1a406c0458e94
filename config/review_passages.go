package config

import (
	"maps"
	"slices"
)

// passed is a service that tcp listeners pass connections on to.
type passed struct {
	listener, more int
}

// passages are the services of tcp listeners, each with the first that names it.
func (r *reviewer) passages() map[string]*passed {
	all := make(map[string]*passed)
	for i, l := range r.draft.doc.Listeners {
		for _, name := range slices.Compact(slices.Sorted(maps.Values(l.passes()))) {
			if p := all[name]; p != nil {
				p.more++
				continue
			}
			all[name] = &passed{listener: i}
		}
	}
	return all
}

// reviewPassages finds services of tcp listeners that can take no connection, keys
// that mean nothing where there are no requests, and routes that get none.
func (r *reviewer) reviewPassages() {
	doc, passages := r.draft.doc, r.passages()
	for i, s := range doc.Services {
		at := r.draft.services[i]
		if s.Protocol == protocolTCP {
			r.reviewOpaque(at, s)
		}
		if p := passages[s.Name]; p != nil {
			if why := mute(s); why != "" {
				r.advise(at, "endpoints", "the service %s: connections of listener %q%s are reset",
					why, doc.Listeners[p.listener].Name, others(p.more, "listener"))
			}
		}
	}
	requests := len(doc.Listeners) == 0
	for i, l := range doc.Listeners {
		if l.Protocol == protocolTCP {
			r.reviewUnread(r.draft.listeners[i], l)
			continue
		}
		requests = true
	}
	if !requests && len(doc.Routes) > 0 {
		r.advise(r.draft.routes[0], "id", "every listener passes its connections through: no request reaches the route%s", others(len(doc.Routes)-1, "route"))
	}
}

// reviewOpaque finds what a service that gets connections has for requests.
func (r *reviewer) reviewOpaque(at place, s *Service) {
	if a := s.Health.Active; a != nil && a.Kind == protocolHTTP && a.Port == 0 {
		r.advise(at, "health.active.kind", "the endpoints get connections as they come and are asked in HTTP: use kind tcp, or the port of a page")
	}
	if slices.ContainsFunc(s.Retries.On, func(on string) bool { return on != "connect" && on != "reset" }) {
		r.advise(at, "retries.on", "a connection that is passed through has no status: only connect is repeated")
	}
}

// reviewUnread finds keys of a tcp listener that look at requests.
func (r *reviewer) reviewUnread(at place, l *Listener) {
	for _, one := range []struct {
		key string
		set bool
	}{
		{"trusted_proxies", len(l.TrustedProxies) > 0},
		{"limits.body", l.Limits.Body > 0},
		{"limits.keepalive_requests", l.Limits.KeepaliveRequests > 0},
		{"timeouts.min_body_rate", l.Timeouts.MinBodyRate > 0},
	} {
		if one.set {
			r.advise(at, one.key, "a tcp listener has no requests: this changes nothing")
		}
	}
}
