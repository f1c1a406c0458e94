package engine

// muxTable finds the streams of a client by the ids that the client has chosen.
// It is a hash table with chains through the streams, so that nothing is
// allocated once it has grown.
type muxTable struct {
	chains []*muxStream
	live   int
	frees  uint64
}

// firstChains is the number of chains that a table begins with; a power of two.
const firstChains = 16

// chain is where a stream with the id stands, if it does. The factor is that of
// Fibonacci hashing (Knuth, TAOCP vol. 3, §6.4).
func (t *muxTable) chain(id uint64) **muxStream {
	return &t.chains[id*0x9e3779b97f4a7c15>>32&uint64(len(t.chains)-1)]
}

// find returns the stream with the id; nil: there is none.
func (t *muxTable) find(id uint64) *muxStream {
	if t.live == 0 {
		return nil
	}
	s := *t.chain(id)
	for s != nil && s.id != id {
		s = s.next
	}
	return s
}

// add puts a stream in, whose id is not there yet.
func (t *muxTable) add(s *muxStream) {
	if t.live >= len(t.chains) {
		t.grow()
	}
	at := t.chain(s.id)
	s.next, *at = *at, s
	t.live++
}

// free takes a stream out.
func (t *muxTable) free(s *muxStream) {
	for at := t.chain(s.id); *at != nil; at = &(*at).next {
		if *at == s {
			*at, s.next = s.next, nil
			t.live--
			t.frees++
			return
		}
	}
}

func (t *muxTable) grow() {
	old := t.chains
	t.chains = make([]*muxStream, max(firstChains, 2*len(old)))
	for _, s := range old {
		for s != nil {
			next, at := s.next, t.chain(s.id)
			s.next, *at = *at, s
			s = next
		}
	}
}

// each calls fn for every stream, for some perhaps twice; fn may free any of them.
func (t *muxTable) each(fn func(*muxStream)) {
	for i := range t.chains {
		for s := t.chains[i]; s != nil; {
			next, frees := s.next, t.frees
			fn(s)
			if t.frees != frees {
				next = t.chains[i] // what was the next may have gone
			}
			s = next
		}
	}
}
