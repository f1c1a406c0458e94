package config

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// own is a document that holds nothing but routes.
func own(text string) File { return File{Name: "own.yaml", Text: []byte("routes:\n" + text)} }

func newSmallRig(t *testing.T) *rig {
	r := newRig(t, base)
	r.source.more = []File{own("  - {id: own, match: {path: /own}, service: a}\n")}
	return r.start()
}

// replace puts the document in place of the one before and tells whether it was
// read as a small change.
func (r *rig) replace(f File) (small bool, err error) {
	r.source.more = []File{f}
	files, _ := r.source.Fetch(context.Background())
	_, _, small = r.pipeline.smallChange(files)
	return small, r.pipeline.Reload(context.Background())
}

func TestASmallChangeLeavesTheRestAlone(t *testing.T) {
	r := newSmallRig(t)
	before := r.pipeline.Snapshot()
	_, one, _ := before.Routes.Get("one")
	small, err := r.replace(own("  - {id: own, match: {path: /own/2}, service: b}\n  - {id: more, match: {path: /more}, service: a}\n"))
	require.NoError(t, err)
	require.True(t, small)
	now := r.pipeline.Snapshot()
	assert.Equal(t, before.Generation+1, now.Generation)
	assert.Equal(t, Changes{Added: []string{"more"}, Changed: []string{"own"}}, r.pipeline.Status().LastDiff.Routes)
	_, same, _ := now.Routes.Get("one")
	assert.Same(t, one, same)
	assert.Len(t, r.published, 1)

	small, err = r.replace(own("  - {id: more, match: {path: /more}, service: a}\n"))
	require.NoError(t, err)
	require.True(t, small)
	assert.Equal(t, Changes{Removed: []string{"own"}}, r.pipeline.Status().LastDiff.Routes)
}

// After small changes the published state is what the whole text says.
func TestSmallChangesEndWhereTheWholeDoes(t *testing.T) {
	r := newSmallRig(t)
	last := own("  - {id: own, match: {path: /z}, service: a}\n  - {id: extra, match: {prefix: /e}, service: b}\n")
	for _, f := range []File{own("  - {id: x, match: {path: /x}, service: a}\n"), last} {
		small, err := r.replace(f)
		require.NoError(t, err)
		require.True(t, small)
	}
	files, err := r.source.Fetch(context.Background())
	require.NoError(t, err)
	whole, err := Parse(files...)
	require.NoError(t, err)
	assert.Equal(t, whole.Checksum(), r.pipeline.Status().Checksum)
	assert.Equal(t, whole.Checksum(), Checksum(files))
	_, diff, err := r.pipeline.compiler.Compile(whole, r.pipeline.Snapshot())
	require.NoError(t, err)
	assert.True(t, diff.Empty(), "%+v", diff)
	kept, _, err := diskCopy{folder: r.folder, source: sourceOf(t)}.load()
	require.NoError(t, err)
	assert.Equal(t, files, kept, "the copy on disk is of the whole")
}

func TestWhatIsNoSmallChange(t *testing.T) {
	for name, c := range map[string]struct {
		file File
		want string // in the refusal; empty: accepted
	}{
		"another's route": {own("  - {id: one, match: {path: /x}, service: a}\n"), `a route with the id "one" stands already in gateway.yaml`},
		"a mistake":       {own("  - {id: own, match: {path: own}, service: a}\n"), "own.yaml:2"},
		"an odd service":  {own("  - {id: own, match: {path: /own}, service: c}\n"), `unknown service "c"`},
		"a section":       {File{Name: "own.yaml", Text: []byte("services: [{name: c}]\n")}, ""},
		"a reference":     {own("  - {id: own, match: {path: /own}, service: a, metadata: {home: \"${env:HOME}\"}}\n"), ""},
		"another name":    {File{Name: "other.yaml", Text: []byte("routes: []\n")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newSmallRig(t)
			small, err := r.replace(c.file)
			assert.False(t, small)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			_, _, there := r.pipeline.Snapshot().Routes.Get("own")
			assert.True(t, there, "the last good one stays")
		})
	}
}

func TestASmallChangeAfterApplyGoesBackToTheSource(t *testing.T) {
	r := newSmallRig(t)
	routes, err := ParseRoutes(r.pipeline.Document(), File{Name: "delta", Text: []byte("routes:\n  - {id: two, match: {path: /22}, service: a}\n")})
	require.NoError(t, err)
	require.NoError(t, r.pipeline.Apply(context.Background(), routes, nil))
	small, err := r.replace(own("  - {id: own, match: {path: /3}, service: a}\n"))
	require.NoError(t, err)
	assert.False(t, small)
	assert.Equal(t, []string{"own", "two"}, r.pipeline.Status().LastDiff.Routes.Changed)
}

func TestReaderReadsWhatChanged(t *testing.T) {
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	write := func(name, text string, age time.Duration) {
		require.NoError(t, os.WriteFile(path(name), []byte(text), 0o600))
		at := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(path(name), at, at))
	}
	write("a.yaml", "a1", time.Hour)
	write("b.yaml", "b1", 0)
	var r Reader
	texts := func() (all []string) {
		files, err := r.Read(folder)
		require.NoError(t, err)
		for _, f := range files {
			all = append(all, string(f.Text))
		}
		return all
	}
	require.Equal(t, []string{"a1", "b1"}, texts())
	write("b.yaml", "b2", 0)
	require.Equal(t, []string{"a1", "b2"}, texts(), "a fresh file is read each time")
	write("a.yaml", "a2", time.Minute)
	require.Equal(t, []string{"a2", "b2"}, texts())
	first, err := r.Read(folder)
	require.NoError(t, err)
	again, err := r.Read(folder)
	require.NoError(t, err)
	require.Same(t, &first[0].Text[0], &again[0].Text[0], "not read again")
	require.NotSame(t, &first[1].Text[0], &again[1].Text[0])
	require.NoError(t, os.Remove(path("a.yaml")))
	require.Equal(t, []string{"b2"}, texts())
}

// A filter set that nobody used is no change of the loops', but the next small
// change may use it: a filter must never be left out for that.
func TestASmallChangeUsesTheSetsOfTheLastDocument(t *testing.T) {
	r := newSmallRig(t)
	before := r.pipeline.Snapshot()
	r.source.set(strings.Replace(base, "filter_sets:\n", "filter_sets:\n  late: [{stamp: {header: X-Late}}]\n", 1), nil)
	require.NoError(t, r.pipeline.Reload(context.Background()))
	require.Same(t, before, r.pipeline.Snapshot(), "nothing changed for the loops")

	small, err := r.replace(own("  - {id: own, match: {path: /own}, service: a, use: [late]}\n"))
	require.NoError(t, err)
	require.True(t, small)
	_, route, _ := r.pipeline.Snapshot().Routes.Get("own")
	require.Equal(t, 1, route.Chain.Len())
}
