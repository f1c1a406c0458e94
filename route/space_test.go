package route

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// named looks a call, key or path up and returns the route's id.
func named(table *Table[string], space Space, host, path string, a Attributes) string {
	var m Match[string]
	table.Lookup(&Request{Space: space, Host: []byte(host), Method: []byte("POST"), Path: []byte(path), Attributes: a}, &m, nil)
	return m.Payload
}

func TestCallsAndKeysAreNoPaths(t *testing.T) {
	table := build(t,
		Spec{ID: "everything", Kind: Prefix, Pattern: "/"},
		Spec{ID: "segments", Kind: Template, Pattern: "/{a}/{b}"},
		Spec{ID: "path", Pattern: "/com.example.Order/find"},
		Spec{ID: "of a host", Kind: Prefix, Pattern: "/", Hosts: []string{"shop.example"}},
		Spec{ID: "find", Space: Calls, Pattern: "/com.example.Order/find"},
		Spec{ID: "orders", Space: Calls, Kind: Prefix, Pattern: "/com.example.Order"},
		Spec{ID: "key", Space: Keys, Pattern: "/com.example.Order/find"},
		Spec{ID: "bytes", Space: Keys, Pattern: "\x00\xff"},
	)
	for _, tt := range []struct {
		space      Space
		path, want string
	}{
		{Paths, "/com.example.Order/find", "path"},
		{Paths, "/com.example.Order/other", "segments"},
		{Calls, "/com.example.Order/find", "find"},
		{Calls, "/com.example.Order/other", "orders"},
		{Calls, "/com.example.OrderX/find", ""},
		{Calls, "/com.example.None/find", ""},
		{Calls, "", ""},
		{Keys, "/com.example.Order/find", "key"},
		{Keys, "\x00\xff", "bytes"},
		{Keys, "\x00", ""},
		{Keys, "/", ""},
		{Keys, "", ""},
	} {
		assert.Equal(t, tt.want, named(table, tt.space, "any", tt.path, nil), "%v %q", tt.space, tt.path)
	}
	assert.Equal(t, "find", named(table, Calls, "shop.example", "/com.example.Order/find", nil),
		"a host that routes of paths name is not taken from calls")
	assert.Equal(t, "of a host", named(table, Paths, "shop.example", "/com.example.Order/find", nil))
}

func TestCallsByVersion(t *testing.T) {
	version := func(v string) []Condition { return []Condition{{Name: "X-Rpc-Version", Values: []string{v}}} }
	table := build(t,
		Spec{ID: "any", Space: Calls, Pattern: "/Order/find"},
		Spec{ID: "two", Space: Calls, Pattern: "/Order/find", Headers: version("2.0.0")},
		Spec{ID: "only three", Space: Calls, Pattern: "/Order/save", Headers: version("3.0.0")},
		Spec{ID: "all methods", Space: Calls, Kind: Prefix, Pattern: "/Order"},
	)
	of := func(v string) Attributes { return &attributes{headers: map[string]string{"X-Rpc-Version": v}} }
	assert.Equal(t, "two", named(table, Calls, "", "/Order/find", of("2.0.0")), "more conditions go first")
	assert.Equal(t, "any", named(table, Calls, "", "/Order/find", of("1.0.0")))
	assert.Equal(t, "only three", named(table, Calls, "", "/Order/save", of("3.0.0")))
	assert.Empty(t, named(table, Calls, "", "/Order/save", of("1.0.0")), "no wider place takes over")
}

func TestSpecsOfSpaces(t *testing.T) {
	call := func(kind Kind, pattern string) Spec {
		return Spec{ID: "r", Space: Calls, Kind: kind, Pattern: pattern}
	}
	key := func(kind Kind, pattern string) Spec { return Spec{ID: "r", Space: Keys, Kind: kind, Pattern: pattern} }
	const neither = "is neither /interface/method nor the prefix /interface"
	for _, tt := range []struct {
		spec Spec
		want string
	}{
		{call(Exact, "/com.example.Order$Inner/find-1_a:b"), ""},
		{call(Prefix, "/com.example.Order"), ""},
		{key(Exact, "\x00 any\xff"), ""},
		{call(Exact, "/Order"), neither},
		{call(Prefix, "/Order/find"), neither},
		{call(Template, "/Order/find"), neither},
		{call(Exact, "Order/find"), neither},
		{call(Exact, "/Order/find/more"), neither},
		{call(Exact, "/Order/"), neither},
		{call(Exact, "//find"), neither},
		{call(Exact, "/../find"), neither},
		{call(Exact, "/Order/a b"), neither},
		{call(Exact, ""), neither},
		{call(Prefix, "/"+strings.Repeat("a", MaxPattern)), "longer than 4096"},
		{key(Exact, ""), "pattern is empty"},
		{key(Prefix, "k"), "always exact"},
		{key(Exact, strings.Repeat("k", MaxPattern+1)), "longer than 4096"},
		{Spec{ID: "r", Space: 3, Pattern: "/"}, "unknown space 3"},
		{Spec{ID: "r", Space: Calls, Pattern: "/a/b", Methods: []string{"POST"}}, "method conditions are for requests by path: a call has fields only"},
		{Spec{ID: "r", Space: Keys, Pattern: "k", Query: []Condition{{Name: "q"}}}, "query conditions are for requests by path: a key has fields only"},
		{Spec{ID: "r", Space: Keys, Pattern: "k", Cookies: []Condition{{Name: "q"}}}, "cookie conditions"},
		{Spec{ID: "r", Space: Calls, Pattern: "/a/b", Regex: "x"}, "regex conditions"},
	} {
		err := tt.spec.Validate()
		if tt.want == "" {
			assert.NoError(t, err, tt.spec.Pattern)
			continue
		}
		assert.ErrorContains(t, err, tt.want)
	}
	assert.Equal(t, "path call key unknown", strings.Join([]string{Paths.String(), Calls.String(), Keys.String(), Space(9).String()}, " "))
}

func TestPlacesOfSpacesDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range []Spec{
		{Pattern: "/a/b"},
		{Space: Calls, Pattern: "/a/b"},
		{Space: Keys, Pattern: "/a/b"},
		{Kind: Prefix, Pattern: "/a"},
		{Space: Calls, Kind: Prefix, Pattern: "/a"},
	} {
		assert.False(t, seen[s.Place()], s.Place())
		seen[s.Place()] = true
	}
}

// callTable has many interfaces with a few methods each.
func callTable(t testing.TB, n int) *Table[string] {
	changes := make([]Change[string], n)
	for i := range changes {
		id := strconv.Itoa(i)
		changes[i] = Change[string]{Payload: id, Spec: &Spec{ID: id, Space: Calls, Pattern: callOf(i)}}
	}
	table, err := New[string](1).Apply(changes)
	require.NoError(t, err)
	return table
}

func callOf(i int) string {
	return "/com.example.Service" + strconv.Itoa(i/8) + "/method" + strconv.Itoa(i%8)
}

// A table of many calls answers as one of few does: one slot is looked at.
func TestManyCalls(t *testing.T) {
	table := callTable(t, many)
	for _, i := range []int{0, 1, many / 2, many - 1} {
		require.Equal(t, strconv.Itoa(i), named(table, Calls, "", callOf(i), nil))
	}
	require.Empty(t, named(table, Calls, "", callOf(many), nil))
	r := &Request{Space: Calls, Method: []byte("POST"), Path: []byte(callOf(7))}
	var m Match[string]
	require.Zero(t, testing.AllocsPerRun(100, func() { table.Lookup(r, &m, nil) }))
}

// BenchmarkLookupCall asks for one call, of a table of one and of many.
func BenchmarkLookupCall(b *testing.B) {
	for _, n := range []int{1, many} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			table := callTable(b, n)
			r := &Request{Space: Calls, Method: []byte("POST"), Path: []byte(callOf(0))}
			var m Match[string]
			b.ReportAllocs()
			for b.Loop() {
				table.Lookup(r, &m, nil)
			}
		})
	}
}
