package route

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// The figures of the table (compare medians of five, on a quiet machine):
//
//	go test ./route -run '^$' -bench Lookup -benchmem -count 5
//	go test ./route -run '^$' -bench 'Apply|Build' -benchmem -count 5
//	go test ./route -run '^$' -bench Normalize -benchmem -count 5
//
// LookupExact/100 and LookupExact/50000-hot ask for 100 paths in turn, the one
// of a table of 100, the other of one of 50,000. LookupExact/50000-random asks
// for all 50,000 in random order; the paths asked for lie one behind the other,
// so that the time is the table's, as it is for a path that was just parsed.

const many = 50_000

func exactSpec(i int) Spec {
	n := strconv.Itoa(i)
	return Spec{ID: "route-" + n, Pattern: "/api/v1/app/" + strconv.Itoa(i%97) + "/detail-" + n}
}

func exactChanges(n int) []Change[*int] {
	changes := make([]Change[*int], n)
	specs := make([]Spec, n)
	for i := range changes {
		specs[i] = exactSpec(i)
		changes[i] = Change[*int]{Spec: &specs[i], Payload: new(int)}
	}
	return changes
}

func exactTable(b *testing.B, n int) *Table[*int] {
	table, err := New[*int](rand.Uint64()).Apply(exactChanges(n))
	require.NoError(b, err)
	return table
}

// asked is a list of paths packed one behind the other, in the order in which
// they are asked for.
type asked struct {
	text []byte
	ends []int
}

func pathsOf(order []int) asked {
	var a asked
	for _, i := range order {
		a.text = append(a.text, exactSpec(i).Pattern...)
		a.ends = append(a.ends, len(a.text))
	}
	return a
}

func benchmarkLookup(b *testing.B, table *Table[*int], order []int) {
	paths := pathsOf(order)
	r := Request{Host: []byte("api.example.com"), Method: []byte("GET")}
	var m Match[*int]
	at, from := 0, 0
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		r.Path = paths.text[from:paths.ends[at]]
		from = paths.ends[at]
		if at++; at == len(paths.ends) {
			at, from = 0, 0
		}
		table.Lookup(&r, &m, nil)
		if m.Outcome != Found {
			b.Fatal("not found")
		}
	}
}

func BenchmarkLookupExact(b *testing.B) {
	small, large := exactTable(b, 100), exactTable(b, many)
	order := rand.Perm(many)
	b.Run("100", func(b *testing.B) { benchmarkLookup(b, small, rand.Perm(100)) })
	b.Run("50000-hot", func(b *testing.B) { benchmarkLookup(b, large, order[:100]) })
	b.Run("50000-random", func(b *testing.B) { benchmarkLookup(b, large, order) })
}

func BenchmarkLookupTrie(b *testing.B) {
	table, err := exactTable(b, many).Apply([]Change[*int]{
		{Spec: &Spec{ID: "template", Kind: Template, Pattern: "/users/{id}/files/{file}"}},
		{Spec: &Spec{ID: "prefix", Kind: Prefix, Pattern: "/static"}},
		{Spec: &Spec{ID: "host", Pattern: "/", Hosts: []string{"*.example.org"}}},
	})
	require.NoError(b, err)
	requests := []struct{ name, host, path string }{
		{"template", "example.com", "/users/1234/files/report.pdf"},
		{"prefix", "example.com", "/static/css/site.css"},
		{"wildcard", "a.b.example.org", "/"},
		{"not-found", "example.com", "/nobody/registered/this"},
	}
	for _, c := range requests {
		b.Run(c.name, func(b *testing.B) {
			r := Request{Host: []byte(c.host), Method: []byte("GET"), Path: []byte(c.path)}
			var m Match[*int]
			b.ReportAllocs()
			for range b.N {
				table.Lookup(&r, &m, nil)
			}
		})
	}
}

// BenchmarkApplyOne changes one of 50,000 routes in each round.
func BenchmarkApplyOne(b *testing.B) {
	table := exactTable(b, many)
	spec := exactSpec(0)
	change := []Change[*int]{{Spec: &spec}}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		spec = exactSpec(i * 7919 % many)
		next, err := table.Apply(change)
		require.NoError(b, err)
		table = next
	}
}

// BenchmarkBuild makes a table of 50,000 routes in one batch.
func BenchmarkBuild(b *testing.B) {
	changes := exactChanges(many)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		_, err := New[*int](1).Apply(changes)
		require.NoError(b, err)
	}
}

func BenchmarkNormalize(b *testing.B) {
	for _, text := range []string{"/api/v1/app/order/detail", "/api/./v1/%61pp/x/../order"} {
		b.Run(text, func(b *testing.B) {
			path, dst := []byte(text), make([]byte, 0, 64)
			b.ReportAllocs()
			for range b.N {
				Normalize(dst, path, PathOptions{RejectDangerous: true})
			}
		})
	}
}
