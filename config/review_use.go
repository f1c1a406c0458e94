package config

import (
	"maps"
	"slices"
	"strconv"
)

// reviewServices finds services that nobody asks, and those that are asked and
// cannot answer.
func (r *reviewer) reviewServices() {
	type use struct {
		route, more int
	}
	byRoute := make(map[string]*use)
	for i, one := range r.draft.doc.Routes {
		for _, name := range servicesOf(one) {
			if u := byRoute[name]; u != nil {
				u.more++
				continue
			}
			byRoute[name] = &use{route: i}
		}
	}
	named := r.namedByFilters()
	for i, s := range r.draft.doc.Services {
		at, u := r.draft.services[i], byRoute[s.Name]
		if u == nil {
			if !named[s.Name] {
				r.advise(at, "name", "no %s uses the service %q", user(s), s.Name)
			}
			continue
		}
		if why := mute(s); why != "" {
			r.advise(at, "endpoints", "the service %s: requests of %s%s are answered 503 no_endpoint", why, r.name(u.route), others(u.more, "route"))
		}
	}
}

// user is who could use a service.
func user(s *Service) string {
	if s.Protocol == protocolTCP {
		return "tcp listener"
	}
	return "route"
}

// mute says why nothing can reach a service; empty if one can.
func mute(s *Service) string {
	switch {
	case len(s.Endpoints) == 0:
		return "has no endpoints"
	case !slices.ContainsFunc(s.Endpoints, func(e Endpoint) bool { return e.Weight > 0 }):
		return "has no endpoint with a weight"
	}
	return ""
}

// servicesOf names the services that a route may send requests to.
func servicesOf(one *Route) []string {
	if one.Service == "" {
		return nil
	}
	return []string{one.Service}
}

// namedByFilters are the services that options of filters name, by the key that
// all of them use.
func (r *reviewer) namedByFilters() map[string]bool {
	named := make(map[string]bool)
	take := func(uses []*Filter) {
		for _, f := range uses {
			if n := f.options.Get("service"); n != nil {
				named[n.Text] = true
			}
		}
	}
	for _, l := range r.draft.doc.Listeners {
		take(l.Filters)
		for _, service := range l.passes() {
			named[service] = true
		}
	}
	for _, set := range r.draft.doc.FilterSets {
		take(set.Filters)
	}
	for _, one := range r.draft.doc.Routes {
		take(one.Filters)
	}
	return named
}

// reviewRetries finds extra tries that nothing brings about.
func (r *reviewer) reviewRetries() {
	const message = "%s, but `on` is empty: nothing is tried again; set attempts to 0 to say so"
	services := make(map[string]*Service, len(r.draft.doc.Services))
	for i, s := range r.draft.doc.Services {
		services[s.Name] = s
		if s.Retries.Attempts > 0 && len(s.Retries.On) == 0 && s.Retries.Hedge == 0 {
			r.advise(r.draft.services[i], "retries.on", message, count(s.Retries.Attempts, "extra attempt"))
		}
	}
	for i, one := range r.draft.doc.Routes {
		s := services[one.Service]
		if one.Retries == nil || s == nil {
			continue
		}
		attempts, on, hedge := s.Retries.Attempts, s.Retries.On, s.Retries.Hedge
		override(&attempts, one.Retries.Attempts)
		override(&hedge, one.Retries.Hedge)
		if one.Retries.On != nil {
			on = one.Retries.On
		}
		if attempts > 0 && len(on) == 0 && hedge == 0 {
			r.advise(r.draft.routes[i], "retries", message, count(attempts, "extra attempt"))
		}
	}
}

// reviewFilters finds filters behind one that answers every request: no request
// comes to them, and an answer passes only the filters that its request has
// reached.
func (r *reviewer) reviewFilters() {
	for i, l := range r.draft.doc.Listeners {
		if first := r.reviewList(r.draft.listeners[i], "filters", l.Filters); first != nil {
			r.advise(r.draft.listeners[i], "filters", "%s answers every request of this listener: no route gets any", first.Name)
		}
	}
	answering := make(map[string]*Filter)
	for _, name := range slices.Sorted(maps.Keys(r.draft.doc.FilterSets)) {
		answering[name] = r.reviewList(r.draft.sets[name], "", r.draft.doc.FilterSets[name].Filters)
	}
	for i, one := range r.draft.doc.Routes {
		r.reviewChain(r.draft.routes[i], one, answering)
	}
}

// reviewList looks at one list and returns its first filter that answers.
func (r *reviewer) reviewList(at place, key string, uses []*Filter) *Filter {
	first := slices.IndexFunc(uses, func(f *Filter) bool { return f.answers })
	if first < 0 {
		return nil
	}
	if left := len(uses) - first - 1; left > 0 {
		r.adviseBehind(at, key+"["+strconv.Itoa(first+1)+"]", uses[first], uses[first+1].Name, left-1)
	}
	return uses[first]
}

func (r *reviewer) adviseBehind(at place, path string, first *Filter, behind string, more int) {
	r.advise(at, path, "%s before it answers every request: %s%s gets none, neither requests nor answers", first.Name, behind, others(more, "filter"))
}

// reviewChain looks at a route: its sets, its own filters, its service.
func (r *reviewer) reviewChain(at place, one *Route, answering map[string]*Filter) {
	var first *Filter
	for i, name := range one.Use {
		if first != nil {
			r.adviseBehind(at, "use["+strconv.Itoa(i)+"]", first, "the set "+name, 0)
			return
		}
		first = answering[name]
	}
	if first != nil && len(one.Filters) > 0 {
		r.adviseBehind(at, "filters[0]", first, one.Filters[0].Name, len(one.Filters)-1)
		return
	}
	if own := r.reviewList(at, "filters", one.Filters); own != nil {
		first = own
	}
	if first != nil && one.Service != "" {
		r.advise(at, "service", "%s answers every request: the service %s gets none", first.Name, one.Service)
	}
}
