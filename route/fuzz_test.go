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
		kind          byte
		pattern, path string
	}{
		{0, "/a/b", "/a/b"},
		{1, "/users/{id}", "/users/7"},
		{1, "/{a}/{b}//x", "/1/2//x"},
		{2, "/", "/anything"},
		{2, "/api/", "/api"},
		{2, "/api", "/api/x/y"},
		{1, "/{", "*"},
		{0, "/%41", "/A"},
		{2, "//", "//"},
	}
	for _, s := range seeds {
		f.Add(s.kind, s.pattern, s.path, "h")
	}
	base := []*Spec{
		{ID: "exact", Pattern: "/a/b"},
		{ID: "template", Kind: Template, Pattern: "/{x}/b/{y}"},
		{ID: "prefix", Kind: Prefix, Pattern: "/a/"},
		{ID: "wild", Kind: Prefix, Pattern: "/", Hosts: []string{"*.h"}},
	}
	f.Fuzz(func(t *testing.T, kind byte, pattern, path, host string) {
		ref := reference{}
		var changes []Change[string]
		for _, spec := range base {
			ref[spec.ID] = spec
			changes = append(changes, Change[string]{Spec: spec, Payload: spec.ID})
		}
		table, err := New[string](1).Apply(changes)
		require.NoError(t, err)
		without := censusOf(table)
		r := &Request{Host: []byte(host), Method: []byte("GET"), Path: []byte(path)}

		spec := &Spec{ID: "fuzz", Kind: Kind(kind), Pattern: pattern}
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
		if path == "" || path[0] != '/' {
			assert.Equal(t, answer{}, got)
			return
		}
		assert.Equal(t, ref.lookup(r), got)
	})
}
