package sketch

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var client = netip.MustParseAddr("203.0.113.9")

// hit counts a path of one host.
func (s *Sketch) hit(path string) { s.Hit([]byte("h"), []byte(path), 1, client) }

// check holds a sketch against the truth.
func check(t *testing.T, c *Copy, truth map[string]uint64) {
	t.Helper()
	seen := make(map[string]bool)
	for _, p := range c.Paths {
		name := string(p.Path)
		require.False(t, seen[name], "%s is tracked twice", name)
		seen[name] = true
		require.LessOrEqual(t, truth[name], p.Count, name)
		require.GreaterOrEqual(t, truth[name], p.Count-p.Error, name)
	}
	for name, n := range truth {
		if !seen[name] {
			require.LessOrEqual(t, n, c.Floor, "%s is not tracked", name)
		}
	}
}

// sound tells whether order, ranks and chains fit each other.
func (s *Sketch) sound(t *testing.T) {
	t.Helper()
	for rank, at := range s.order[:s.used] {
		require.Equal(t, rank, int(s.entries[at].rank))
		if rank > 0 {
			require.GreaterOrEqual(t, s.counts[rank-1], s.counts[rank])
		}
	}
	chained := 0
	for i, at := range s.chains {
		for ; at != none; at = s.entries[at].next {
			require.Equal(t, i, int(s.entries[at].hash%chains))
			chained++
		}
	}
	require.Equal(t, s.used, chained)
}

func TestFewKeysAreCountedExactly(t *testing.T) {
	s := New()
	for i := range Entries {
		for range i + 1 {
			s.hit(fmt.Sprint("/", i))
		}
	}
	c := s.Copy()
	require.Len(t, c.Paths, Entries)
	require.Equal(t, uint64(Entries*(Entries+1)/2), c.Hits)
	for rank, p := range c.Paths {
		require.Equal(t, fmt.Sprint("/", Entries-1-rank), string(p.Path))
		require.Equal(t, uint64(Entries-rank), p.Count)
		require.Zero(t, p.Error)
	}
	s.sound(t)
}

func TestCountsAreBounded(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.2, 4, 5000)
	s, truth := New(), make(map[string]uint64)
	for range 50_000 {
		path := fmt.Sprint("/", zipf.Uint64())
		truth[path]++
		s.hit(path)
	}
	s.sound(t)
	check(t, s.Copy(), truth)
}

// An attacker who sends nothing but paths that never come again cannot push out
// one that is probed regularly.
func TestRandomPathsDoNotPushOutAFrequentOne(t *testing.T) {
	s := New()
	for i := range 100_000 {
		s.hit(fmt.Sprint("/random/", i))
		if i%100 == 0 {
			s.hit("/.env")
		}
	}
	s.sound(t)
	c := Merge([]*Copy{s.Copy()})
	require.Equal(t, "/.env", string(c.Paths[0].Path))
	require.GreaterOrEqual(t, c.Paths[0].Count, uint64(1000))
	require.Len(t, c.Paths, Entries)
}

func TestLongKeysAreCut(t *testing.T) {
	s := New()
	host, path := strings.Repeat("h", 300), "/"+strings.Repeat("p", 300)
	s.Hit([]byte(host), []byte(path), 5, client)
	s.Hit([]byte(host), []byte(path+"more"), 6, client)
	s.Hit([]byte("h"), []byte("/whole"), 7, netip.Addr{})
	c := s.Copy()
	require.Equal(t, []Path{
		{Host: []byte(host[:MaxHost]), Path: []byte(path[:MaxKey-MaxHost]), Cut: true, Count: 2, Seen: 6, Client: client},
		{Host: []byte("h"), Path: []byte("/whole"), Count: 1, Seen: 7},
	}, c.Paths)
}

func TestHostAndPathAreToldApart(t *testing.T) {
	s := New()
	s.Hit([]byte("a"), []byte("b/c"), 1, client)
	s.Hit([]byte("ab"), []byte("/c"), 1, client)
	s.Hit(nil, []byte("ab/c"), 1, client)
	require.Len(t, s.Copy().Paths, 3)
}

func TestHitAllocatesNothing(t *testing.T) {
	s := New()
	path := make([]byte, 40)
	n := uint64(0)
	require.Zero(t, testing.AllocsPerRun(10_000, func() {
		n++
		binary.LittleEndian.PutUint64(path, n%300)
		s.Hit([]byte("host.example"), path, int64(n), client)
	}))
}

func FuzzHit(f *testing.F) {
	f.Add([]byte("/a\n/b\n/a"))
	f.Add([]byte("\xff\xfe\n\n\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, truth := New(), make(map[string]uint64)
		for _, path := range bytes.Split(text, []byte("\n")) {
			s.Hit(nil, path, 1, client)
			truth[string(path[:min(len(path), MaxKey)])]++
		}
		s.sound(t)
		check(t, s.Copy(), truth)
	})
}

// keysOf makes paths of a usual length.
func keysOf(n int) [][]byte {
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "/wp-content/plugins/%08d/readme.txt", i)
	}
	return keys
}

func BenchmarkHit(b *testing.B) {
	host := []byte("shop.example.com")
	for name, keys := range map[string][][]byte{"known": keysOf(100), "random": keysOf(1 << 12)} {
		b.Run(name, func(b *testing.B) {
			s := New()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				s.Hit(host, keys[i%len(keys)], int64(i), client)
			}
		})
	}
}
