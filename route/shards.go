package route

// shards is a persistent hash map by extendible hashing. The top bits of a hash
// choose a place in the directory; the shard there holds a few items in no
// order. A shard that overflows is split in two; when it was alone in its place
// the directory doubles, which copies pointers and no items.
//
// Two copies of the struct may share everything. A writer passes the number of
// its edit: what bears that number was made by the same edit and is changed in
// place, anything else is copied first. So a batch copies each shard once.
//
// The keys are in the items and the caller compares them. Beside the pointer to
// its item a slot may hold a head: what a lookup needs most, at hand without
// following the pointer.
type shards[E, H any] struct {
	directory []*shard[E, H] // 2^depth long, or empty
	edit      uint64         // owner of the directory
	size      int            // items
	depth     uint8
}

// noHead is for maps whose slots have nothing to add to their items.
type noHead = struct{}

// seek begins the search for a hash, which is not 0.
func (m *shards[E, H]) seek(hash uint64) cursor[E, H] {
	if len(m.directory) == 0 {
		return cursor[E, H]{}
	}
	s := m.directory[hash>>(64-m.depth)]
	return cursor[E, H]{shard: s, hash: hash, matches: s.tagged(hash)}
}

// all calls yield for every item until it returns false.
func (m *shards[E, H]) all(yield func(*E) bool) {
	for i := 0; i < len(m.directory); i += m.width(i) {
		for s := m.directory[i]; s != nil; s = s.overflow {
			for at := range s.used {
				if !yield(s.slots[at].item) {
					return
				}
			}
		}
	}
}

// insert adds an item that is not in the map.
func (m *shards[E, H]) insert(edit, hash uint64, item *E, head H) {
	m.own(edit)
	for m.directory[hash>>(64-m.depth)].used == shardSlots && m.split(edit, hash) {
	}
	m.open(edit, hash).add(slot[E, H]{hash: hash, head: head, item: item})
	m.size++
}

// replace puts an item of the same key in the place of one in the map.
func (m *shards[E, H]) replace(edit, hash uint64, old, item *E, head H) {
	m.own(edit)
	s, at := m.open(edit, hash).find(old)
	s.set(at, slot[E, H]{hash: hash, head: head, item: item})
}

// remove takes out an item that is in the map.
func (m *shards[E, H]) remove(edit, hash uint64, item *E) {
	m.own(edit)
	m.open(edit, hash).remove(item)
	m.size--
	if m.size == 0 {
		*m = shards[E, H]{}
	} else if m.depth > 0 && m.size < len(m.directory)*shrinkFill {
		m.rebuild(edit)
	}
}

// width returns how many times the shard at a place stands in the directory,
// side by side: more than once if it has less depth.
func (m *shards[E, H]) width(at int) int { return 1 << (m.depth - m.directory[at].depth) }

// own makes the directory one that this edit may change.
func (m *shards[E, H]) own(edit uint64) {
	switch {
	case len(m.directory) == 0:
		m.directory = []*shard[E, H]{{edit: edit}}
		m.depth = 0
	case m.edit != edit:
		m.directory = append([]*shard[E, H](nil), m.directory...)
	}
	m.edit = edit
}

// open returns the shard of a hash as one that this edit may change.
func (m *shards[E, H]) open(edit, hash uint64) *shard[E, H] {
	at := int(hash >> (64 - m.depth))
	s := m.directory[at]
	if s.edit == edit {
		return s
	}
	s = s.clone(edit)
	width := m.width(at)
	at &^= width - 1
	for i := range width {
		m.directory[at+i] = s
	}
	return s
}

// split divides the shard of a hash by its next bit. It refuses where the
// directory would have to grow for the sake of few items: then hashes collide
// in their top bits, and a chain of shards is the lesser evil.
func (m *shards[E, H]) split(edit, hash uint64) bool {
	old := m.directory[hash>>(64-m.depth)]
	if old.depth == m.depth {
		if m.depth == maxDepth || m.size < len(m.directory)*minFill {
			return false
		}
		m.double()
	}
	at := int(hash >> (64 - m.depth))
	width := m.width(at)
	at &^= width - 1
	low, high := old.halves(edit)
	for i := range width / 2 {
		m.directory[at+i] = low
		m.directory[at+width/2+i] = high
	}
	return true
}

func (m *shards[E, H]) double() {
	directory := make([]*shard[E, H], 2*len(m.directory))
	for i, s := range m.directory {
		directory[2*i], directory[2*i+1] = s, s
	}
	m.directory = directory
	m.depth++
}

// rebuild leaves a directory that fits the items. Growth and shrinking are a
// factor apart, so its cost is spread over the removals before it.
func (m *shards[E, H]) rebuild(edit uint64) {
	old := *m
	*m = shards[E, H]{}
	for i := 0; i < len(old.directory); i += old.width(i) {
		for s := old.directory[i]; s != nil; s = s.overflow {
			for _, have := range s.slots[:s.used] {
				m.insert(edit, have.hash, have.item, have.head)
			}
		}
	}
}
