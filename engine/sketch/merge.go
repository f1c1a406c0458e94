package sketch

import (
	"bytes"
	"cmp"
	"net/netip"
	"slices"
)

// Path is one tracked pair of host and path. It was hit at most Count times and
// at least Count − Error times.
type Path struct {
	Host, Path []byte
	// Cut tells that host or path were longer; what began alike is counted here.
	Cut          bool
	Count, Error uint64
	// Seen is the last hit in nanoseconds of Unix time, and Client who sent it.
	Seen   int64
	Client netip.Addr
}

// Copy is what a sketch held at one moment.
type Copy struct {
	// Hits is the number of all hits, and Floor the most that a key can have been
	// hit that is not among the paths.
	Hits, Floor uint64
	Paths       []Path
}

// Copy returns what the sketch holds, the most frequent first. It allocates and
// is called on the sketch's loop, when somebody asks.
func (s *Sketch) Copy() *Copy {
	c := &Copy{Hits: s.hits, Paths: make([]Path, s.used)}
	keys := make([]byte, 0, s.used*MaxKey)
	for rank, at := range s.order[:s.used] {
		e := &s.entries[at]
		from := len(keys)
		keys = append(keys, e.key[:e.size]...)
		middle := from + int(e.host)
		c.Paths[rank] = Path{
			Host: keys[from:middle:middle], Path: keys[middle:len(keys):len(keys)], Cut: e.cut,
			Count: s.counts[rank], Error: e.over, Seen: e.seen, Client: e.client,
		}
	}
	if s.used == Entries {
		c.Floor = s.counts[Entries-1]
	}
	return c
}

// Merge adds up the copies of several loops (Agarwal et al., "Mergeable
// Summaries", PODS 2012): a key that a full sketch does not hold may have been hit
// there as often as its rarest one, so the bounds stay true. The paths of which
// most is known come first. Any goroutine may call it.
func Merge(copies []*Copy) *Copy {
	type key struct{ host, path string }
	sum := new(Copy)
	at := make(map[key]int)
	for _, c := range copies {
		sum.Hits += c.Hits
		sum.Floor += c.Floor
		for _, p := range c.Paths {
			// The floors of all loops are added below, so this one's is taken off
			// here. What is below zero meanwhile wraps, and comes back.
			p.Count, p.Error = p.Count-c.Floor, p.Error-c.Floor
			k := key{string(p.Host), string(p.Path)}
			i, known := at[k]
			if !known {
				at[k] = len(sum.Paths)
				sum.Paths = append(sum.Paths, p)
				continue
			}
			sum.Paths[i].add(&p)
		}
	}
	for i := range sum.Paths {
		sum.Paths[i].Count += sum.Floor
		sum.Paths[i].Error += sum.Floor
	}
	slices.SortFunc(sum.Paths, func(a, b Path) int {
		return cmp.Or(
			cmp.Compare(b.Count-b.Error, a.Count-a.Error), cmp.Compare(b.Count, a.Count),
			bytes.Compare(a.Host, b.Host), bytes.Compare(a.Path, b.Path),
		)
	})
	return sum
}

// add adds the hits of the same key on another loop.
func (p *Path) add(o *Path) {
	p.Count += o.Count
	p.Error += o.Error
	p.Cut = p.Cut || o.Cut
	if o.Seen > p.Seen {
		p.Seen, p.Client = o.Seen, o.Client
	}
}
