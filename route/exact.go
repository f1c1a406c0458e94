package route

// inlinePath is how many bytes of a path stand in its slot. Longer paths cost one
// more step; a longer array would cost every path room in the caches.
const inlinePath = 56

// allMethods are the bits of a head that takes any method.
const allMethods = ^uint16(0)

// exactHead is what stands in the slot of an exact path: its key, and of its
// first route what answers a request without looking further, if it asks for
// nothing but a method. At 50,000 routes a lookup takes as long as the
// cache lines that it waits for, one after the other; this leaves one.
type exactHead[T any] struct {
	payload T
	spec    *Spec
	host    uint32
	methods uint16 // of the first route; 0: the place must decide
	length  uint16 // of the path; beyond inlinePath the place has it
	path    [inlinePath]byte
}

func newExactHead[T any](p *place[T]) exactHead[T] {
	first := p.routes[0]
	head := exactHead[T]{host: p.host, length: uint16(len(p.path))}
	copy(head.path[:], p.path)
	if first.disabled || first.conditional {
		return head
	}
	head.payload, head.spec, head.methods = first.payload, &first.spec, first.methods.bits
	if first.anyMethod {
		head.methods = allMethods
	}
	return head
}

// heads tells whether p, whose head this is, is the place of a path of a host.
func (head *exactHead[T]) heads(p *place[T], h *host[T], path []byte) bool {
	if head.host != h.id || int(head.length) != len(path) {
		return false
	}
	if len(path) <= inlinePath {
		return string(head.path[:len(path)]) == string(path)
	}
	return p.path == string(path)
}

// answer sets the match if the first route takes the request by its method.
func (head *exactHead[T]) answer(method []byte, m *Match[T]) bool {
	if head.methods != allMethods && head.methods&methodBit(method) == 0 {
		return false
	}
	m.Outcome, m.Payload, m.Spec = Found, head.payload, head.spec
	return true
}

// exactSlot returns the slot of a path of a host, or nil.
func (t *Table[T]) exactSlot(h *host[T], path []byte) *slot[place[T], exactHead[T]] {
	at := t.exact.seek(salted(path, h.salt))
	for s := at.next(); s != nil; s = at.next() {
		if s.head.heads(s.item, h, path) {
			return s
		}
	}
	return nil
}
