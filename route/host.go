package route

import "bytes"

// host is one registered host pattern. It exists while a route names it. Like
// a node it is changed in place only by the edit that made it.
type host[T any] struct {
	edit   uint64
	salt   uint64 // of the hashes of its exact paths
	id     uint32 // unique in the table's history
	space  Space
	name   string // the pattern as written; empty for any host
	routes int
	exact  int      // routes with an exact path
	root   *node[T] // nil: no template and no prefix
}

// hosts finds the most specific pattern of a host name.
type hosts[T any] struct {
	exact shards[host[T], noHead]
	wild  shards[host[T], noHead] // by suffix, from the dot on
	any   *host[T]                // nil: no route is open to any host
}

// resolve returns nil if no pattern takes the name.
func (h *hosts[T]) resolve(name []byte, seed uint64) *host[T] {
	if len(name) > MaxHost {
		return h.any
	}
	if h.exact.size > 0 {
		if found := findHost(&h.exact, name, seed); found != nil {
			return found
		}
	}
	if h.wild.size > 0 {
		if found := h.resolveWild(name, seed); found != nil {
			return found
		}
	}
	return h.any
}

// resolveWild tries suffixes from the longest on. Something must stand before
// the dot.
func (h *hosts[T]) resolveWild(name []byte, seed uint64) *host[T] {
	for at := 1; at < len(name); at++ {
		dot := bytes.IndexByte(name[at:], '.')
		if dot < 0 {
			return nil
		}
		at += dot
		if found := findHost(&h.wild, name[at:], seed); found != nil {
			return found
		}
	}
	return nil
}

// findHost looks a host up by its key, which for a wildcard is the pattern
// without its star.
func findHost[T any](in *shards[host[T], noHead], key []byte, seed uint64) *host[T] {
	at := in.seek(salted(key, seed))
	for s := at.next(); s != nil; s = at.next() {
		if s.item.key() == string(key) {
			return s.item
		}
	}
	return nil
}

func (h *host[T]) wild() bool { return len(h.name) > 0 && h.name[0] == '*' }

func (h *host[T]) key() string {
	if h.wild() {
		return h.name[1:]
	}
	return h.name
}
