package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/route"
)

// Bounds of the review: what lies beyond is not looked at, so that documents of
// any shape are checked in a time that grows with their size.
const (
	// maxCompared bounds the routes of one place that each of the others is
	// compared with. Those are the first in rank, and the ones that say the same.
	maxCompared = 64
	// maxNeighbours bounds the hosts that a prefix of a wildcard is looked up for.
	maxNeighbours = 16
)

// spot is where a route is a candidate.
type spot struct{ host, place string }

// hiding says why a route is not reached.
type hiding struct {
	hosts int    // how many of its hosts
	host  string // one of them
	by    int    // the route before it there
}

// reviewPlaces finds routes that no request reaches, since others of the same
// path take them all, and disabled ones that disable nothing.
func (r *reviewer) reviewPlaces() {
	spots := make(map[spot][]int)
	var order []spot
	for i, one := range r.draft.doc.Routes {
		where := one.spec.Place()
		for _, host := range hostsOf(one.spec) {
			s := spot{host, where}
			if spots[s] == nil {
				order = append(order, s)
			}
			spots[s] = append(spots[s], i)
		}
	}
	hidden := make(map[int]*hiding)
	disabled := make(map[int]bool)
	for _, s := range order {
		if here := spots[s]; len(here) > 1 {
			r.rank(here)
			r.hideBehind(s, here, hidden)
			r.noteDisabled(here, disabled)
		}
	}
	r.hideTemplates(spots, hidden)
	r.reportHidden(hidden)
}

func hostsOf(s *route.Spec) []string {
	if len(s.Hosts) == 0 {
		return []string{""}
	}
	return s.Hosts
}

func byPath(s *route.Spec) bool { return s.Space == route.Paths }

func (r *reviewer) spec(i int) *route.Spec { return r.draft.doc.Routes[i].spec }

// rank puts the routes of a spot into the order in which they are tried.
func (r *reviewer) rank(here []int) {
	slices.SortFunc(here, func(a, b int) int {
		if r.spec(a).Outranks(r.spec(b)) {
			return -1
		}
		return 1
	})
}

// hideBehind notes the routes of a spot that one before them covers.
func (r *reviewer) hideBehind(s spot, here []int, hidden map[int]*hiding) {
	says := make(map[string]int)
	for at, i := range here {
		spec := r.spec(i)
		if spec.Disabled {
			continue
		}
		by := -1
		for _, before := range here[:min(at, maxCompared)] {
			if first := r.spec(before); !first.Disabled && first.Covers(spec) {
				by = before
				break
			}
		}
		if len(here) > maxCompared {
			words := predicatesOf(spec)
			if first, twice := says[words]; twice && by < 0 {
				by = first
			} else if !twice {
				says[words] = i
			}
		}
		if by >= 0 {
			hide(hidden, i, by, s.host)
		}
	}
}

func hide(hidden map[int]*hiding, route, by int, host string) {
	h := hidden[route]
	if h == nil {
		h = &hiding{host: host, by: by}
		hidden[route] = h
	}
	h.hosts++
}

// predicatesOf is a text that is the same for the same predicates.
func predicatesOf(s *route.Spec) string {
	methods := slices.Sorted(slices.Values(s.Methods))
	return fmt.Sprintf("%q %q %q %q %q", methods, s.Headers, s.Query, s.Cookies, s.Regex)
}

// noteDisabled reports disabled routes whose requests others still serve.
func (r *reviewer) noteDisabled(here []int, reported map[int]bool) {
	for _, i := range here {
		spec := r.spec(i)
		if !spec.Disabled || reported[i] {
			continue
		}
		for _, other := range here[:min(len(here), maxCompared)] {
			if o := r.spec(other); !o.Disabled && (o.Covers(spec) || spec.Covers(o)) {
				reported[i] = true
				r.advise(r.draft.routes[i], "status", "the route is disabled, but %s has the same %s and takes requests", r.name(other), spec.Space)
				break
			}
		}
	}
}

// hideTemplates notes templates without a {name} where an exact path stands,
// which comes first.
func (r *reviewer) hideTemplates(spots map[spot][]int, hidden map[int]*hiding) {
	for i, one := range r.draft.doc.Routes {
		spec := one.spec
		if !byPath(spec) || spec.Kind != route.Template || strings.Contains(spec.Pattern, "{") {
			continue
		}
		exact := route.Spec{Kind: route.Exact, Pattern: spec.Pattern}
		for _, host := range hostsOf(spec) {
			if here := spots[spot{host, exact.Place()}]; len(here) > 0 {
				hide(hidden, i, here[0], host)
			}
		}
	}
}

func (r *reviewer) reportHidden(hidden map[int]*hiding) {
	for i, one := range r.draft.doc.Routes {
		h := hidden[i]
		if h == nil {
			continue
		}
		where := "no request reaches the route"
		if all := len(hostsOf(one.spec)); h.hosts < all {
			where = "no request for " + h.host + others(h.hosts-1, "host") + " reaches the route"
		}
		r.advise(r.draft.routes[i], "match", "%s: %s has the same %s, is tried before it and takes all that it would", where, r.name(h.by), one.spec.Space)
	}
}

// name is a route for a message.
func (r *reviewer) name(i int) string {
	return fmt.Sprintf("route %q (%s)", r.draft.doc.Routes[i].ID, r.draft.where(r.draft.routes[i]))
}

// reviewWildcards finds prefixes of a wildcard host that hosts below it do not
// get: a route that names such a host takes it away from the wildcard, whatever
// its path, since hosts never fall through. One report for each wildcard tells.
func (r *reviewer) reviewWildcards() {
	below := r.neighbours()
	if len(below) == 0 {
		return
	}
	type gap struct {
		route, more int
		host        string
	}
	gaps := make(map[string]*gap)
	var order []string
	for i, one := range r.draft.doc.Routes {
		if !byPath(one.spec) || one.spec.Kind != route.Prefix || one.spec.Disabled {
			continue
		}
		for _, wildcard := range one.spec.Hosts {
			host := r.without(below[wildcard], one.spec.Pattern)
			if host == "" {
				continue
			}
			if g := gaps[wildcard]; g != nil {
				g.more++
				continue
			}
			gaps[wildcard] = &gap{route: i, host: host}
			order = append(order, wildcard)
		}
	}
	for _, wildcard := range order {
		g := gaps[wildcard]
		more := ""
		if g.more > 0 {
			more = fmt.Sprintf("; so it is with the prefixes of %s of %s", count(g.more, "other route"), wildcard)
		}
		r.advise(r.draft.routes[g.route], "match.hosts",
			"requests for %s do not fall through to %s: other routes name that host, and none of them covers %s%s",
			g.host, wildcard, r.spec(g.route).Pattern, more)
	}
}

// neighbours are, for each wildcard, the more specific hosts below it.
func (r *reviewer) neighbours() map[string][]string {
	named := make(map[string]bool)
	var order []string
	for _, one := range r.draft.doc.Routes {
		if !byPath(one.spec) {
			continue // its hosts are its own
		}
		for _, host := range one.spec.Hosts {
			if !named[host] {
				named[host] = true
				order = append(order, host)
			}
		}
	}
	below := make(map[string][]string)
	for _, host := range order {
		rest := strings.TrimPrefix(host, "*.")
		for {
			_, after, found := strings.Cut(rest, ".")
			if !found {
				break
			}
			rest = after
			if w := "*." + rest; named[w] && len(below[w]) < maxNeighbours {
				below[w] = append(below[w], host)
			}
		}
	}
	return below
}

// without returns the first of some hosts that has no route for a path, by the
// table that serves requests.
func (r *reviewer) without(hosts []string, path string) string {
	var m route.Match[*snapshot.Route]
	for _, host := range hosts {
		name := strings.Replace(host, "*", "any", 1)
		r.table.Lookup(&route.Request{Host: []byte(name), Path: []byte(path)}, &m, nil)
		if m.Pattern() == "" {
			return host
		}
	}
	return ""
}
