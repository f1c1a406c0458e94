package sketch

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMergeOfFewKeys(t *testing.T) {
	a, b, other := New(), New(), netip.MustParseAddr("2001:db8::1")
	a.Hit([]byte("h"), []byte("/x"), 1, client)
	a.Hit([]byte("h"), []byte("/y"), 2, client)
	b.Hit([]byte("h"), []byte("/x"), 9, other)
	c := Merge([]*Copy{a.Copy(), b.Copy()})
	require.Equal(t, &Copy{Hits: 3, Paths: []Path{
		{Host: []byte("h"), Path: []byte("/x"), Count: 2, Seen: 9, Client: other},
		{Host: []byte("h"), Path: []byte("/y"), Count: 1, Seen: 2, Client: client},
	}}, c)
	require.Equal(t, new(Copy), Merge(nil))
}

func TestMergeKeepsTheBounds(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	truth := make(map[string]uint64)
	var copies []*Copy
	for loop := range 4 {
		s := New()
		// The loops do not see the same: some keys come to one of them alone.
		zipf := rand.NewZipf(random, 1.3, 3, 400*uint64(loop+1))
		for range 20_000 {
			path := fmt.Sprint("/", zipf.Uint64()+uint64(loop*50))
			truth[path]++
			s.hit(path)
		}
		copies = append(copies, s.Copy())
	}
	c := Merge(copies)
	require.Equal(t, uint64(80_000), c.Hits)
	check(t, c, truth)
	for i := 1; i < len(c.Paths); i++ {
		a, b := c.Paths[i-1], c.Paths[i]
		require.GreaterOrEqual(t, a.Count-a.Error, b.Count-b.Error, "what is known for certain comes first")
	}
}
