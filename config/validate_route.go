package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/corelane/corelane/route"
)

func (d *draft) validateRoutes(services []string) {
	if len(d.doc.Routes) > MaxRoutes {
		d.complain(d.routes[MaxRoutes], "", fmt.Sprintf("more than %d routes", MaxRoutes))
		return
	}
	sets, byName := slices.Sorted(maps.Keys(d.doc.FilterSets)), d.servicesByName()
	for i, r := range d.doc.Routes {
		at := d.routes[i]
		if problem := nameProblem(r.ID); r.ID == "" {
			d.missing(at, "id", problem)
		} else if problem != "" {
			d.complain(at, "id", problem)
		} else if strings.HasPrefix(r.ID, passagePrefix) {
			d.complain(at, "id", "ids that begin with "+passagePrefix+" stand for tcp listeners in logs and metrics")
		}
		d.validateTarget(at, r, services)
		d.validateRequestsTo(at, "service", r.Service, byName)
		d.validateUse(at, r, sets)
		d.validateCallers(at, "filters", r.Filters, services)
		d.validateMatch(at, r)
		d.validateRouteRetries(at, r, byName)
	}
}

// validateTarget checks that somebody answers: a service, or a filter.
func (d *draft) validateTarget(at place, r *Route, services []string) {
	if r.Service != "" {
		if _, known := slices.BinarySearch(services, r.Service); !known {
			d.complain(at, "service", unknownName("service", r.Service, services))
		}
		return
	}
	for _, f := range r.Filters {
		if f.answers {
			return
		}
	}
	for _, name := range r.Use {
		if set := d.doc.FilterSets[name]; set != nil && slices.ContainsFunc(set.Filters, func(f *Filter) bool { return f.answers }) {
			return
		}
	}
	d.missing(at, "service", "a route needs a service, or a filter that answers, such as respond or redirect")
}

func (d *draft) validateUse(at place, r *Route, sets []string) {
	for i, name := range r.Use {
		path := "use[" + strconv.Itoa(i) + "]"
		if _, known := d.doc.FilterSets[name]; !known {
			d.complain(at, path, unknownName("filter set", name, sets))
		}
		if slices.Contains(r.Use[:i], name) {
			d.complain(at, path, fmt.Sprintf("the filter set %q is named twice", name))
		}
	}
}

// validateMatch builds the spec that the route table takes. A route that an
// earlier document held has one.
func (d *draft) validateMatch(at place, r *Route) {
	if r.spec != nil {
		return
	}
	spec, patterns := newSpec(r), given(r.Match.Path)+given(r.Match.Template)+given(r.Match.Prefix)
	soundCall := true
	if r.Match.RPC != (RPC{}) {
		patterns++
		soundCall = d.validateRPC(at, &r.Match.RPC)
	}
	switch {
	case patterns > 1:
		d.complain(at, "match", oneOf)
	case patterns == 0:
		d.missing(at, "match", oneOf)
	}
	wrong, sound := parts(spec.Validate()), patterns == 1
	for _, err := range wrong {
		path := specPath(spec, err.Error())
		if path == "id" || path == patternPath(spec) && (patterns != 1 || !soundCall) {
			continue // told already
		}
		sound = sound && path != patternPath(spec)
		d.complain(at, path, err.Error())
	}
	if text := r.Rewrite.Path; text != "" && sound {
		if err := checkRewrite(text, spec); err != nil {
			d.complain(at, "rewrite.path", err.Error())
		}
	}
	if strings.ContainsFunc(r.Rewrite.Host, func(c rune) bool { return c <= ' ' || c >= 0x7f || c == '/' || c == '@' }) {
		d.complain(at, "rewrite.host", fmt.Sprintf("%q is not a host", r.Rewrite.Host))
	}
	if patterns == 1 && soundCall && len(wrong) == 0 {
		r.spec = spec
	}
}

func checkRewrite(text string, spec *route.Spec) error {
	if text[0] != '/' || hasControl(text) || strings.ContainsAny(text, " ?#") {
		return fmt.Errorf("%q is not a path: it begins with / and has no spaces, ? or #", text)
	}
	return route.CheckExpansion(text, spec)
}

const oneOf = "exactly one of path, template, prefix and rpc is needed"

func given(text string) int {
	if text == "" {
		return 0
	}
	return 1
}

func newSpec(r *Route) *route.Spec {
	m := &r.Match
	s := &route.Spec{
		ID: r.ID, Methods: m.Methods, Regex: m.Regex, Priority: r.Priority, Disabled: !r.Enabled(),
		Headers: conditions(m.Headers), Query: conditions(m.Query), Cookies: conditions(m.Cookies),
	}
	for _, h := range m.Hosts {
		s.Hosts = append(s.Hosts, strings.ToLower(h))
	}
	switch {
	case m.Path != "":
		s.Kind, s.Pattern = route.Exact, m.Path
	case m.Template != "":
		s.Kind, s.Pattern = route.Template, m.Template
	case m.RPC != (RPC{}):
		m.RPC.fill(s)
	default:
		s.Kind, s.Pattern = route.Prefix, m.Prefix
	}
	return s
}

// conditions are in order of their names, so that one document always gives
// one table.
func conditions(m map[string][]string) []route.Condition {
	var out []route.Condition
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, route.Condition{Name: name, Values: m[name]})
	}
	return out
}

// parts takes apart what errors.Join has joined.
func parts(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, one := range joined.Unwrap() {
			all = append(all, parts(one)...)
		}
		return all
	}
	return []error{err}
}

func patternPath(s *route.Spec) string {
	if s.Space != route.Paths {
		return "match.rpc"
	}
	return "match." + [...]string{route.Exact: "path", route.Template: "template", route.Prefix: "prefix"}[s.Kind]
}

// specPath finds the key that an error of the route table is about, by the word
// it begins with.
func specPath(s *route.Spec, message string) string {
	word, _, _ := strings.Cut(message, " ")
	switch {
	case word == "id":
		return "id"
	case word == "pattern":
		return patternPath(s)
	case word == "host" || strings.Contains(message, " hosts are"):
		return "match.hosts"
	case word == "method" || strings.Contains(message, " methods are"):
		return "match.methods"
	case word == "regex":
		return "match.regex"
	case word == "header":
		return "match.headers"
	case word == "query":
		return "match.query"
	case word == "cookie":
		return "match.cookies"
	}
	return "match"
}
