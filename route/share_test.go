package route

import (
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Readers look up in whatever table is published while a writer changes it:
// a route that always stands is found in every one of them.
func TestLookupsWhileApplying(t *testing.T) {
	table := build(t,
		Spec{ID: "exact", Pattern: "/stands"},
		Spec{ID: "template", Kind: Template, Pattern: "/t/{id}", Hosts: []string{"h"}},
	)
	var current atomic.Pointer[Table[string]]
	current.Store(table)
	var done atomic.Bool
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for !done.Load() {
				exact, _ := get(current.Load(), "GET x/stands", nil)
				template, m := get(current.Load(), "GET h/t/7", nil)
				assert.Equal(t, "exact", exact)
				assert.Equal(t, "template", template)
				assert.Equal(t, "7", string(m.Param([]byte("/t/7"), "id")))
			}
		})
	}
	for i := range 500 {
		next, err := current.Load().Apply(churn(i))
		require.NoError(t, err)
		current.Store(next)
	}
	done.Store(true)
	readers.Wait()
}

// churn adds some routes near those that stand and removes older ones.
func churn(i int) []Change[string] {
	id := func(i int) string { return strconv.Itoa(i) }
	return []Change[string]{
		{Spec: &Spec{ID: "e" + id(i), Pattern: "/" + id(i)}},
		{Spec: &Spec{ID: "t" + id(i), Kind: Template, Pattern: "/t/{x}/" + id(i), Hosts: []string{"h"}}},
		{Spec: &Spec{ID: "p" + id(i%7), Kind: Prefix, Pattern: "/t/" + id(i) + "/", Hosts: []string{"h", "*.h"}}},
		{ID: "e" + id(i-40)},
		{ID: "t" + id(i-40)},
	}
}

func TestTheTableKeepsItsOwnSpec(t *testing.T) {
	spec := Spec{ID: "r", Pattern: "/a"}
	table := build(t, spec)
	spec.Pattern = "/b"
	kept, _, _ := table.Get("r")
	assert.Equal(t, "/a", kept.Pattern)
}

func TestLookupDoesNotAllocate(t *testing.T) {
	specs := []Spec{
		{ID: "exact", Pattern: "/a/b", Hosts: []string{"h.example.com"}},
		{ID: "template", Kind: Template, Pattern: "/t/{x}/{y}", Hosts: []string{"*.example.com"}},
		{ID: "prefix", Kind: Prefix, Pattern: "/p"},
		{ID: "conditions", Pattern: "/c", Methods: []string{"GET"}, Headers: []Condition{{Name: "k", Values: []string{"1"}}}, Regex: "c$"},
		{ID: "post", Pattern: "/post", Methods: []string{"POST", "PURGE"}},
	}
	for i := range 20 {
		specs = append(specs, Spec{ID: strconv.Itoa(i), Kind: Prefix, Pattern: "/" + strconv.Itoa(i)})
	}
	table := build(t, specs...)
	requests := []struct{ host, path string }{
		{"h.example.com", "/a/b"},
		{"x.example.com", "/t/1/2"},
		{"", "/p/q/r"},
		{"", "/c"},
		{"", "/post"},
		{"", "/17/x"},
		{"", "/none"},
		{"h.example.com", "/none"},
	}
	for _, c := range requests {
		r := Request{Host: []byte(c.host), Method: []byte("GET"), Path: []byte(c.path), Attributes: &attributes{headers: map[string]string{"k": "1"}}}
		var m Match[string]
		allow := make([]byte, 0, 64)
		got := testing.AllocsPerRun(100, func() {
			table.Lookup(&r, &m, nil)
			_ = m.Param(r.Path, "x")
			allow = m.Allow(allow[:0])
		})
		assert.Zero(t, got, c.path)
	}
}

func TestNormalizeDoesNotAllocate(t *testing.T) {
	dst := make([]byte, 0, 64)
	for _, text := range []string{"/a/b/c", "/a/%2e%2e/%41//;", "/a/../..", "/%zz"} {
		path := []byte(text)
		got := testing.AllocsPerRun(100, func() {
			out, _ := Normalize(dst, path, PathOptions{MergeSlashes: true})
			StripSegments(out, 1)
		})
		assert.Zero(t, got, text)
	}
}

// Many routes of one path, told apart by a header, may come in one change: what
// that costs must not grow with their square.
func TestManyRoutesOfOnePlace(t *testing.T) {
	const n = 4000
	changes := make([]Change[string], n)
	for i := range changes {
		// In an order of ranks that puts most of them before others.
		id := strconv.Itoa(n + i*7919%n)
		changes[i].Spec = &Spec{ID: id, Pattern: "/a", Headers: []Condition{{Name: "X-Tenant", Values: []string{id}}}}
		changes[i].Payload = id
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	table, err := New[string](7).Apply(changes)
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(n*n*8/4), "a quarter of one list for each route")

	next, err := table.Apply([]Change[string]{{ID: changes[0].Spec.ID}, {ID: changes[1].Spec.ID}, changes[0], changes[2]})
	require.NoError(t, err)
	for _, have := range []*Table[string]{table, next} {
		var m Match[string]
		have.Lookup(&Request{Path: []byte("/a"), Method: []byte("GET")}, &m, nil)
		routes := m.place.routes
		require.True(t, slices.IsSortedFunc(routes, func(a, b *entry[string]) int {
			if a.outranks(b) {
				return -1
			}
			return 1
		}))
		require.Len(t, routes, have.Len())
	}
	require.Equal(t, n, table.Len(), "it stays as it was")
	require.Equal(t, n-1, next.Len())
}
