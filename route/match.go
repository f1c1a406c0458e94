package route

// Attributes answers the predicates of a request. A method must not allocate
// or keep its arguments. With no values it asks for presence alone; with
// values, whether the attribute has one of them. Header names have no case.
type Attributes interface {
	HasHeader(name string, values []string) bool
	HasQuery(name string, values []string) bool
	HasCookie(name string, values []string) bool
}

// Request is what a lookup looks at. Nothing of it is kept.
type Request struct {
	// Space says what Path is.
	Space Space
	// Host is in lower case and without port.
	Host []byte
	// Method is compared with case.
	Method []byte
	// Path is as [Normalize] left it. One that does not begin with "/" is not found.
	// Of Calls it is "/interface/method", of Keys the key.
	Path []byte
	// Attributes may be nil: then it has none.
	Attributes Attributes
}

// Outcome is the answer of a lookup.
type Outcome uint8

const (
	// NotFound: no route takes the request (404).
	NotFound Outcome = iota
	// MethodNotAllowed: a route takes it with another method (405).
	MethodNotAllowed
	// Found: Payload and Spec of the match are set.
	Found
)

// String returns the outcome as a reason token.
func (o Outcome) String() string {
	switch o {
	case NotFound:
		return "route_not_found"
	case MethodNotAllowed:
		return "method_not_allowed"
	case Found:
		return "found"
	}
	return "unknown"
}

type span struct{ from, to uint32 }

// Match receives the answer of a lookup. It is meant to be reused; one
// goroutine at a time may use it. Its zero value is ready.
type Match[T any] struct {
	// Outcome says whether the other fields are set.
	Outcome Outcome
	// Payload is the found route's, else the zero value.
	Payload T
	// Spec is the found route's, else nil. It belongs to the table and must
	// not be changed.
	Spec *Spec

	names   []string // of the found template
	host    *host[T]
	place   *place[T]
	allowed methodSet
	count   int // spans in use
	spans   [MaxParams]span
}

// reset leaves the spans as they are: count says how many of them stand.
func (m *Match[T]) reset() {
	var zero T
	m.Outcome, m.Payload, m.Spec = NotFound, zero, nil
	m.names, m.host, m.place = nil, nil, nil
	m.allowed.clear()
	m.count = 0
}

// Host returns the host pattern that the request resolved to, also when no
// route was found in it; ok is false when no pattern takes the host. The
// pattern is empty for "any host".
func (m *Match[T]) Host() (pattern string, ok bool) {
	if m.host == nil {
		return "", false
	}
	return m.host.name, true
}

// Pattern returns the pattern of the place whose routes were the candidates,
// also when none of them matched, and "" when there is no such place.
func (m *Match[T]) Pattern() string {
	if m.place == nil {
		return ""
	}
	return m.place.routes[0].spec.Pattern
}

// ParamCount returns the number of {name} segments of the found route.
func (m *Match[T]) ParamCount() int { return len(m.names) }

// ParamAt returns name and value of one {name} segment in the order written,
// 0 ≤ i < ParamCount. The path must be the one that was looked up; the value
// is part of it.
func (m *Match[T]) ParamAt(path []byte, i int) (name string, value []byte) {
	s := m.spans[i]
	return m.names[i], path[s.from:s.to]
}

// Param returns the segment that stood for {name}, or nil if the found route
// has no such name. The path must be the one that was looked up; the value is
// part of it.
func (m *Match[T]) Param(path []byte, name string) []byte {
	for i, have := range m.names {
		if have == name {
			s := m.spans[i]
			return path[s.from:s.to]
		}
	}
	return nil
}

// Allow appends the value of the Allow field (RFC 9110 §10.2.1) of a
// MethodNotAllowed: the methods of all candidates that failed on the method
// alone, sorted, each once. For other outcomes it appends nothing.
func (m *Match[T]) Allow(dst []byte) []byte { return m.allowed.appendSorted(dst) }
