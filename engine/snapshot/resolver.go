package snapshot

import (
	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/route"
)

// Sizes that the buffers of a resolver begin with, in bytes.
const (
	pathRoom = 16 << 10
	hostRoom = 256
)

// Resolver decides where requests go. It serves traffic and explains it: there
// is no second one. A decision has three steps, since filters run between them:
//
//	Normalize → the listener's filters → Resolve → the route's filters → Forward
//
// Calls by method and by key have nothing to normalize and begin with the second.
// Each takes a Record of what it does, which is nil for traffic; then nothing is
// allocated. A resolver owns buffers and belongs to one loop, or to one
// explanation.
type Resolver struct {
	path []byte
	host []byte
}

// NewResolver returns a resolver that needs no larger buffers for usual heads.
func NewResolver() *Resolver {
	return &Resolver{path: make([]byte, 0, pathRoom), host: make([]byte, 0, hostRoom)}
}

// Query is one request on its way through a Resolver. Its zero value is ready;
// it is kept in an exchange and reused.
type Query struct {
	request route.Request
	match   route.Match[*Route]
}

// Reset forgets the last answer.
func (q *Query) Reset() { q.match.Outcome = route.NotFound }

// Route returns the route that was found, else nil.
func (q *Query) Route() *Route {
	if q.match.Outcome != route.Found {
		return nil
	}
	return q.match.Payload
}

// Host returns the host that was looked up. It is valid until the resolver is
// used again.
func (q *Query) Host() []byte { return q.request.Host }

// Path returns the path that was looked up, /interface/method of a call, or the
// key. It is part of the head.
func (q *Query) Path() []byte { return q.request.Path }

// Allowed says whether Allow has something to append: the answer was 405.
func (q *Query) Allowed() bool { return q.match.Outcome == route.MethodNotAllowed }

// Allow appends the value of the field Allow of a 405 (RFC 9110 §10.2.1).
func (q *Query) Allow(dst []byte) []byte { return q.match.Allow(dst) }

// Normalize gives the path of a head the one form that is matched and
// forwarded, by the listener's policy. False: it has more than one reading (400
// ambiguous_path), and the head is as it was.
func (r *Resolver) Normalize(h *codec.Head, lis *Listener, rec *Record) bool {
	received := h.Path()
	path, ambiguous := route.Normalize(r.path[:0], received, lis.Paths)
	if rec != nil {
		rec.normalized(received, ambiguous)
	}
	if ambiguous {
		return false
	}
	if len(path) != len(received) || string(path) != string(received) {
		h.SetPath(path)
	}
	return true
}

var rootPath = []byte("/")

// Resolve finds the route of a head in a generation. It returns ReasonNone with
// the route in q, or RouteNotFound or MethodNotAllowed. The head must live as
// long as q is used.
func (r *Resolver) Resolve(q *Query, s *Snapshot, h *codec.Head, rec *Record) codec.Reason {
	space, path := asked(h)
	q.request = route.Request{
		Space: space, Host: r.normalHost(h.Authority()), Method: h.Method(), Path: path, Attributes: attributes{h},
	}
	if rec == nil {
		s.Routes.Lookup(&q.request, &q.match, nil)
	} else {
		s.Routes.Lookup(&q.request, &q.match, rec)
		rec.resolved(q)
	}
	switch q.match.Outcome {
	case route.Found:
		return codec.ReasonNone
	case route.MethodNotAllowed:
		return codec.MethodNotAllowed
	}
	return codec.RouteNotFound
}

// asked is what a head names: a path, a call or a key.
func asked(h *codec.Head) (route.Space, []byte) {
	switch h.Call() {
	case codec.ByMethod:
		return route.Calls, h.Target()
	case codec.ByKey:
		return route.Keys, h.Key()
	}
	path := h.Path()
	if len(path) == 1 && path[0] == '*' {
		path = rootPath // OPTIONS * asks about the server: that of "/"
	}
	return route.Paths, path
}

// Forward applies the changes of the route in q, which has a service, to path
// and host of the head: strip, then rewrite.
func (r *Resolver) Forward(q *Query, h *codec.Head, rec *Record) {
	to := q.match.Payload
	if to.Strip > 0 {
		h.SetPath(route.StripSegments(h.Path(), to.Strip))
	}
	if to.RewritePath != "" {
		r.path = route.ExpandTemplate(r.path[:0], to.RewritePath, &q.match, q.request.Path)
		h.SetPath(r.path)
	}
	if to.RewriteHost != "" {
		r.host = append(r.host[:0], to.RewriteHost...)
		h.SetAuthority(r.host)
	}
	if rec != nil {
		rec.forwarded(h)
	}
}

// normalHost is an authority in the form that routes are matched in: lower
// case, without port and without the root's dot. It is valid until the next
// call.
func (r *Resolver) normalHost(authority []byte) []byte {
	b := r.host[:0]
	bracket := false
	for _, c := range authority {
		switch c {
		case '[':
			bracket = true
		case ']':
			bracket = false
		case ':':
			if !bracket {
				return trimDot(b)
			}
		}
		b = append(b, lower(c))
	}
	r.host = b
	return trimDot(b)
}

func trimDot(b []byte) []byte {
	if n := len(b); n > 1 && b[n-1] == '.' {
		return b[:n-1]
	}
	return b
}
