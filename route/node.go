package route

import "bytes"

// node is one segment in the trie of a host. Literal segments are told apart by
// name; all {name} segments of one position share a node, since the names
// belong to the routes. A node that bears the number of the running edit may be
// changed in place, any other one never.
type node[T any] struct {
	edit     uint64
	segment  string // the literal that leads here; empty for root and {name}
	children children[T]
	param    *node[T]
	template *place[T] // the path ends here
	prefix   *place[T] // the path ends here or goes on
	under    *place[T] // the path goes on: prefixes that end in "/"
}

// end returns where at its last node a spec stands.
func (n *node[T]) end(spec *Spec) **place[T] {
	if spec.Kind == Template {
		return &n.template
	}
	if spec.Pattern[len(spec.Pattern)-1] == '/' {
		return &n.under
	}
	return &n.prefix
}

func (n *node[T]) empty() bool {
	return n.template == nil && n.prefix == nil && n.under == nil && n.param == nil && n.children.len() == 0
}

// walk is a search in the trie. It goes back from dead ends of the trie, so it
// visits each node at most once, but never from a place it has found.
type walk[T any] struct {
	path  []byte
	seed  uint64
	match *Match[T] // receives the spans of {name} segments
}

// find returns the most specific place at or below a node for the rest of the
// path, which begins at a "/" or is empty.
func (w *walk[T]) find(n *node[T], at int) *place[T] {
	if at == len(w.path) {
		if n.template != nil {
			return n.template
		}
		return n.prefix
	}
	from, to := at+1, len(w.path)
	if i := bytes.IndexByte(w.path[from:], '/'); i >= 0 {
		to = from + i
	}
	if child := n.children.find(w.path[from:to], w.seed); child != nil {
		if p := w.find(child, to); p != nil {
			return p
		}
	}
	if n.param != nil && from < to {
		if p := w.findParam(n.param, from, to); p != nil {
			return p
		}
	}
	if n.under != nil {
		return n.under
	}
	return n.prefix
}

func (w *walk[T]) findParam(n *node[T], from, to int) *place[T] {
	m := w.match
	m.spans[m.count] = span{uint32(from), uint32(to)}
	m.count++
	p := w.find(n, to)
	if p == nil {
		m.count--
	}
	return p
}
