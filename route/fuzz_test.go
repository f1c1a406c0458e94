package route

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A pattern is refused or works: the table agrees with the plain matcher on
// any path bytes, and removing the route leaves nothing.
func FuzzPatternAndLookup(f *testing.F) {
	seeds := []struct {
		space, kind   byte
		pattern, path string
	}{
		{0, 0, "/a/b", "/a/b"},
		{0, 1, "/users/{id}", "/users/7"},
		{0, 1, "/{a}/{b}//x", "/1/2//x"},
		{0, 2, "/", "/anything"},
		{0, 2, "/api/", "/api"},
		{0, 2, "/api", "/api/x/y"},
		{0, 1, "/{", "*"},
		{0, 0, "/%41", "/A"},
		{0, 2, "//", "//"},
		{1, 0, "/com.example.Order/find", "/com.example.Order/find"},
		{1, 2, "/com.example.Order", "/com.example.Order/find"},
		{1, 2, "/../a", "/../a"},
		{2, 0, "\x00\xff", "\x00\xff"},
		{2, 1, "key", "key"},
		{3, 0, "/a/b", "/a/b"},
	}
	for _, s := range seeds {
		f.Add(s.space, s.kind, s.pattern, s.path, "h")
	}
	base := []*Spec{
		{ID: "exact", Pattern: "/a/b"},
		{ID: "template", Kind: Template, Pattern: "/{x}/b/{y}"},
		{ID: "prefix", Kind: Prefix, Pattern: "/a/"},
		{ID: "wild", Kind: Prefix, Pattern: "/", Hosts: []string{"*.h"}},
		{ID: "call", Space: Calls, Pattern: "/a/b"},
		{ID: "key", Space: Keys, Pattern: "/a/b"},
	}
	f.Fuzz(func(t *testing.T, space, kind byte, pattern, path, host string) {
		ref := reference{}
		var changes []Change[string]
		for _, spec := range base {
			ref[spec.ID] = spec
			changes = append(changes, Change[string]{Spec: spec, Payload: spec.ID})
		}
		table, err := New[string](1).Apply(changes)
		require.NoError(t, err)
		without := censusOf(table)
		r := &Request{Space: Space(space) % spaceCount, Host: []byte(host), Method: []byte("GET"), Path: []byte(path)}

		spec := &Spec{ID: "fuzz", Space: Space(space), Kind: Kind(kind), Pattern: pattern}
		with, err := table.Apply([]Change[string]{{Spec: spec, Payload: spec.ID}})
		assert.Equal(t, spec.Validate() == nil, err == nil)
		if err == nil {
			after, err := with.Apply([]Change[string]{{ID: "fuzz"}})
			require.NoError(t, err)
			assert.Equal(t, without, censusOf(after))
			table, ref["fuzz"] = with, spec
		}
		var m Match[string]
		got := lookup(table, r, &m)
		if path == "" || path[0] != '/' && r.Space != Keys {
			assert.Equal(t, answer{}, got)
			return
		}
		assert.Equal(t, ref.lookup(r), got)
	})
}
