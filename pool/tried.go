package pool

// Tried remembers the endpoints that an exchange has tried already. The zero value is empty, and so is a nil *Tried,
// which can be asked but not added to. It belongs to one exchange and its loop.
type Tried struct {
	set [MaxTried]*Endpoint
	n   int
}

// Add remembers e. After MaxTried additions the oldest is forgotten.
func (t *Tried) Add(e *Endpoint) {
	t.set[t.n%MaxTried] = e
	t.n++
}

// Has says whether e is remembered.
func (t *Tried) Has(e *Endpoint) bool {
	if t == nil {
		return false
	}
	for _, tried := range t.set[:t.Len()] {
		if tried == e {
			return true
		}
	}
	return false
}

// Len is the number of endpoints remembered, repetitions included.
func (t *Tried) Len() int {
	if t == nil {
		return 0
	}
	return min(t.n, MaxTried)
}

// Reset forgets all.
func (t *Tried) Reset() { *t = Tried{} }
