package route

import (
	"slices"
	"strings"
)

// Place names where a route stands, apart from its hosts: routes of one host and
// one place are candidates for the same paths. Names of template segments do not
// count. Any goroutine may call it.
func (s *Spec) Place() string {
	if s.Space != Paths {
		return s.Space.String() + " " + s.Pattern
	}
	if s.Kind != Template {
		return s.Kind.String() + " " + s.Pattern
	}
	segments := strings.Split(s.Pattern, "/")
	for i, segment := range segments {
		if strings.HasPrefix(segment, "{") {
			segments[i] = "{}"
		}
	}
	return s.Kind.String() + " " + strings.Join(segments, "/")
}

// Outranks tells whether a route is tried before another of the same place. Any
// goroutine may call it.
func (s *Spec) Outranks(other *Spec) bool {
	return outranks(s, s.predicates(), other, other.predicates())
}

// outranks is the order of candidates: the higher priority, then more
// predicates, then the id.
func outranks(a *Spec, predicatesOfA int, b *Spec, predicatesOfB int) bool {
	if a.Priority != b.Priority {
		return a.Priority > b.Priority
	}
	if predicatesOfA != predicatesOfB {
		return predicatesOfA > predicatesOfB
	}
	return a.ID < b.ID
}

// Covers tells whether a route takes every request of its place that another
// would: its predicates are the same or weaker. False may also mean that it
// cannot be told, of two different expressions. Any goroutine may call it.
func (s *Spec) Covers(other *Spec) bool {
	if len(s.Methods) > 0 && (len(other.Methods) == 0 || !subset(other.Methods, s.Methods)) {
		return false
	}
	return (s.Regex == "" || s.Regex == other.Regex) &&
		weaker(s.Headers, other.Headers, strings.EqualFold) &&
		weaker(s.Query, other.Query, same) &&
		weaker(s.Cookies, other.Cookies, same)
}

func same(a, b string) bool { return a == b }

func subset(of, all []string) bool {
	return !slices.ContainsFunc(of, func(one string) bool { return !slices.Contains(all, one) })
}

// weaker tells whether conditions hold whenever others do.
func weaker(conditions, others []Condition, equal func(a, b string) bool) bool {
	for _, c := range conditions {
		if !slices.ContainsFunc(others, func(o Condition) bool {
			return equal(c.Name, o.Name) && (len(c.Values) == 0 || len(o.Values) > 0 && subset(o.Values, c.Values))
		}) {
			return false
		}
	}
	return true
}
