package route

import (
	"errors"
	"fmt"
	"iter"
)

// Table maps requests to payloads. It never changes, so any number of
// goroutines may use one without care; to change routes, publish the table
// that [Table.Apply] returns.
type Table[T any] struct {
	seed     uint64
	edit     uint64 // number of the edit that made it
	nextHost uint32
	hosts    [spaceCount]hosts[T]
	exact    shards[place[T], exactHead[T]] // of all hosts
	ids      shards[entry[T], noHead]
}

// New returns an empty table. The seed goes into every hash; draw it at random
// once a process, so that nobody outside can tell which paths share a shard.
func New[T any](seed uint64) *Table[T] { return &Table[T]{seed: seed} }

// Change adds, replaces or removes one route.
type Change[T any] struct {
	// Spec is the route to add, or to put in the place of the one with its
	// ID. Nil: remove the route.
	Spec *Spec
	// ID is the route to remove; with a Spec it may be empty, or else must be
	// the same.
	ID string
	// Payload is what a lookup that finds the route returns.
	Payload T
}

// Apply returns a table with the changes made in order; removing a route that
// is not there changes nothing. The table itself stays as it is and shares
// with the new one whatever no change touched. If a change is invalid the
// result is nil and the error names every bad ID.
func (t *Table[T]) Apply(changes []Change[T]) (*Table[T], error) {
	entries, err := compileAll(changes)
	if err != nil {
		return nil, err
	}
	next := *t
	next.edit++
	e := edit[T]{table: &next, number: next.edit}
	for i, route := range entries {
		if route == nil {
			e.drop(changes[i].ID)
		} else {
			e.put(route)
		}
	}
	return &next, nil
}

// compileAll leaves nil for a removal.
func compileAll[T any](changes []Change[T]) ([]*entry[T], error) {
	entries := make([]*entry[T], len(changes))
	var bad []error
	for i := range changes {
		c := &changes[i]
		if c.Spec == nil {
			if c.ID == "" {
				bad = append(bad, fmt.Errorf("change %d has neither spec nor id", i))
			}
			continue
		}
		if c.ID != "" && c.ID != c.Spec.ID {
			bad = append(bad, fmt.Errorf("route %q: spec has the id %q", c.ID, c.Spec.ID))
			continue
		}
		compiled, err := compile(c.Spec, c.Payload)
		if err != nil {
			bad = append(bad, fmt.Errorf("route %q: %w", c.Spec.ID, err))
			continue
		}
		entries[i] = compiled
	}
	return entries, errors.Join(bad...)
}

// Len returns the number of routes, disabled ones included.
func (t *Table[T]) Len() int { return t.ids.size }

// Get returns a route by its ID.
func (t *Table[T]) Get(id string) (Spec, T, bool) {
	if found := t.byID(id); found != nil {
		return found.spec, found.payload, true
	}
	var zero T
	return Spec{}, zero, false
}

// All yields every route once, in no particular order. The specs belong to
// the table and must not be changed.
func (t *Table[T]) All() iter.Seq2[*Spec, T] {
	return func(yield func(*Spec, T) bool) {
		t.ids.all(func(e *entry[T]) bool { return yield(&e.spec, e.payload) })
	}
}

// Lookup finds the route of a request and writes the answer to m, whatever
// stood there. The recorder may be nil. Without one it does not allocate.
func (t *Table[T]) Lookup(r *Request, m *Match[T], rec Recorder) {
	m.reset()
	m.host = t.hosts[r.Space].resolve(r.Host, t.seed)
	if m.host == nil || len(r.Path) == 0 || r.Path[0] != '/' && r.Space != Keys {
		return
	}
	if m.host.exact > 0 {
		if s := t.exactSlot(m.host, r.Path); s != nil {
			m.place = s.item
			if rec != nil || !s.head.answer(r.Method, m) {
				m.place.choose(r, m, rec)
			}
			return
		}
	}
	if m.host.root == nil {
		return
	}
	w := walk[T]{path: r.Path, seed: t.seed, match: m}
	if m.place = w.find(m.host.root, 0); m.place != nil {
		m.place.choose(r, m, rec)
	}
}

func (t *Table[T]) byID(id string) *entry[T] {
	at := t.ids.seek(saltedString(id, t.seed))
	for s := at.next(); s != nil; s = at.next() {
		if s.item.spec.ID == id {
			return s.item
		}
	}
	return nil
}
