package sketch

import (
	"hash/maphash"
	"net/netip"
)

// Bounds of a sketch.
const (
	// Entries is the number of keys that are tracked. A key that makes up more
	// than 1/Entries of all hits is among them for certain.
	Entries = 128
	// MaxKey bounds host and path together, in bytes, and MaxHost the host in it.
	// Longer ones are cut, and count as one if they begin alike.
	MaxKey  = 128
	MaxHost = 64
)

// chains is the number of lists that entries are found by.
const chains = 256

// none ends a chain.
const none = Entries

// entry is one tracked key.
type entry struct {
	hash       uint64
	over       uint64 // the most that its count may be too high
	seen       int64
	client     netip.Addr
	next       uint8 // in its chain
	rank       uint8 // its place in order and counts
	host, size uint8 // bytes of key: the host's, and all
	cut        bool
	key        [MaxKey]byte
}

// Sketch tracks the most frequent pairs of host and path. It belongs to one
// loop; New makes one.
type Sketch struct {
	seed    maphash.Seed
	hits    uint64
	used    int
	chains  [chains]uint8
	order   [Entries]uint8  // entries by count, the most frequent first
	counts  [Entries]uint64 // their counts, in the same order
	entries [Entries]entry
	key     [MaxKey]byte
}

// New returns an empty sketch, about 27 KiB.
func New() *Sketch {
	s := &Sketch{seed: maphash.MakeSeed()}
	for i := range s.chains {
		s.chains[i] = none
	}
	return s
}

// Hit counts one pair of host and path, seen at a time in nanoseconds of Unix
// time from a client. Nothing of its arguments is kept. No allocation; the cost
// does not depend on what was counted before.
func (s *Sketch) Hit(host, path []byte, seen int64, client netip.Addr) {
	s.hits++
	hostSize := copy(s.key[:MaxHost], host)
	size := hostSize + copy(s.key[hostSize:], path)
	key := s.key[:size]
	hash := maphash.Bytes(s.seed, key) + uint64(hostSize)
	e := s.find(hash, key, uint8(hostSize))
	if e == nil {
		e = s.admit(hash, key)
		e.host, e.cut = uint8(hostSize), size < len(host)+len(path)
	}
	s.raise(e)
	e.seen, e.client = seen, client
}

// find returns the entry of a key, or nil.
func (s *Sketch) find(hash uint64, key []byte, host uint8) *entry {
	for at := s.chains[hash%chains]; at != none; {
		e := &s.entries[at]
		if e.hash == hash && e.host == host && string(e.key[:e.size]) == string(key) {
			return e
		}
		at = e.next
	}
	return nil
}

// admit gives a new key a free entry, or that of the rarest key with its count.
func (s *Sketch) admit(hash uint64, key []byte) *entry {
	at := s.order[Entries-1]
	e := &s.entries[at]
	if s.used < Entries {
		at = uint8(s.used)
		e = &s.entries[at]
		s.order[at], e.rank = at, at
		s.used++
	} else {
		s.unlink(at)
		e.over = s.counts[Entries-1]
	}
	e.hash, e.size = hash, uint8(copy(e.key[:], key))
	head := &s.chains[hash%chains]
	e.next, *head = *head, at
	return e
}

// unlink takes an entry out of its chain.
func (s *Sketch) unlink(at uint8) {
	link := &s.chains[s.entries[at].hash%chains]
	for *link != at {
		link = &s.entries[*link].next
	}
	*link = s.entries[at].next
}

// raise adds one to a count. The order stays right if the entry first changes
// places with the first of those that have the same count, found by halving.
func (s *Sketch) raise(e *entry) {
	rank := int(e.rank)
	count := s.counts[rank]
	low := 0
	for high := rank; low < high; {
		middle := int(uint(low+high) / 2)
		if s.counts[middle] > count {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low != rank {
		first := s.order[low]
		s.order[low], s.order[rank] = s.order[rank], first
		s.entries[first].rank, e.rank = e.rank, uint8(low)
	}
	s.counts[low]++
}
