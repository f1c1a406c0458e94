package frame

import "context"

// Mux is a Handler that chooses another by the request's call. Its methods for
// adding are called before it serves. Calls by path are matched by verb and whole
// path, without the query.
type Mux struct{ handlers map[Call]Handler }

// Handle adds a handler for a call, of which Path, Verb, Interface, Method and Key
// count.
func (m *Mux) Handle(c Call, h Handler) {
	if m.handlers == nil {
		m.handlers = map[Call]Handler{}
	}
	m.handlers[c.place()] = h
}

// HandleFunc is Handle for a function.
func (m *Mux) HandleFunc(c Call, f func(ctx context.Context, r *Request, w *Responder) error) {
	m.Handle(c, HandlerFunc(f))
}

// ServeFrame calls the handler of the request's call; without one it is a 404.
func (m *Mux) ServeFrame(ctx context.Context, r *Request, w *Responder) error {
	h, ok := m.handlers[r.Call.place()]
	if !ok {
		return Errorf(404, "%s is not known here", r.Call)
	}
	return h.ServeFrame(ctx, r, w)
}

// place is what of a call says who answers it.
func (c Call) place() Call {
	p := Call{Path: c.path(), Interface: c.Interface, Method: c.Method, Key: c.Key}
	if p.Path != "" {
		p.Verb = c.verb()
	}
	return p
}
