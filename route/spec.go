package route

import "errors"

// Kind says how a pattern covers paths.
type Kind uint8

const (
	// Exact covers the one path that equals the pattern byte for byte.
	Exact Kind = iota
	// Template covers paths with as many segments as the pattern, where a
	// {name} stands for any one segment that is not empty.
	Template
	// Prefix covers the pattern and everything below it, on segment
	// boundaries. A pattern that ends in "/" does not cover itself without it.
	Prefix
)

// String returns the kind in lower case.
func (k Kind) String() string {
	switch k {
	case Exact:
		return "exact"
	case Template:
		return "template"
	case Prefix:
		return "prefix"
	}
	return "unknown"
}

// Condition asks that an attribute has one of the values, or, with no values,
// that it is present at all. Values are compared byte for byte.
type Condition struct {
	Name   string
	Values []string
}

// Spec says which requests a route takes. A table keeps a shallow copy of it:
// its slices must not be changed once the spec was given to [Table.Apply].
type Spec struct {
	// ID names the route; a change with the same ID replaces it. Not empty.
	ID string
	// Hosts are exact ("a.example.com") or cover all names below a domain
	// ("*.example.com", at any depth but not example.com itself), in lower
	// case and without port. None: requests that no other host pattern takes.
	Hosts []string
	// Space says how the requests name what they want.
	Space Space
	// Kind says how Pattern covers paths.
	Kind Kind
	// Pattern begins with "/" and is written as [Normalize] would leave it. Other
	// spaces than Paths have patterns of their own.
	Pattern string
	// Methods are compared with case (RFC 9110 §9.1). None: all. GET does not
	// imply HEAD: list both.
	Methods []string
	// Headers, Query and Cookies must all hold.
	Headers, Query, Cookies []Condition
	// Regex is an RE2 expression searched for in the path, not anchored. It is
	// the last predicate to be tried. Empty: none.
	Regex string
	// Priority orders the routes of one place, higher first.
	Priority int
	// Disabled routes hold their place, and so hide wider ones, but match nothing.
	Disabled bool
}

// predicates counts what a request must satisfy besides host and path.
func (s *Spec) predicates() int {
	n := len(s.Headers) + len(s.Query) + len(s.Cookies)
	if len(s.Methods) > 0 {
		n++
	}
	if s.Regex != "" {
		n++
	}
	return n
}

// Validate reports what is wrong with the spec: one error for each part of it,
// joined as by [errors.Join]. Any goroutine may call it.
func (s *Spec) Validate() error {
	_, err := compileRegex(s.Regex)
	return errors.Join(s.check(), err)
}
