package config

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
)

// A listener follows its services into the next generation, with the same numbers,
// and is left alone by changes that do not concern it.
func TestPassagesFollowTheirServices(t *testing.T) {
	const (
		listeners = "listeners:\n- {name: in, address: 127.0.0.1:1, protocol: tcp, service: a, sni: {x.com: b}}\n" +
			"- {name: by, address: 127.0.0.1:2, protocol: tcp, service: a}\n"
		a  = "services:\n- {name: a, protocol: tcp, endpoints: [{address: 127.0.0.1:9}]}\n"
		b  = "- {name: b, protocol: tcp, endpoints: [{address: 127.0.0.1:9}]}\n"
		b2 = "- {name: b, protocol: tcp, endpoints: [{address: 127.0.0.1:8}]}\n"
	)
	compiler := NewCompiler(pool.NewRegistry())
	compile := func(text string, prev *snapshot.Snapshot) (*snapshot.Snapshot, *Diff) {
		doc, err := Parse(File{Name: "f.yaml", Text: []byte(text)})
		require.NoError(t, err)
		s, diff, err := compiler.Compile(doc, prev)
		require.NoError(t, err)
		return s, diff
	}
	first, _ := compile(listeners+a+b, nil)
	next, diff := compile(listeners+a+b2, first)
	require.Equal(t, []string{"in"}, diff.Listeners.Changed)
	require.Same(t, first.Listeners["by"], next.Listeners["by"])
	was, is := first.Listeners["in"].Passage.Route([]byte("x.com")), next.Listeners["in"].Passage.Route([]byte("x.com"))
	require.Same(t, next.Services["b"], is.Service)
	require.NotSame(t, was.Service, is.Service)
	require.Same(t, was.Series, is.Series)
	require.Same(t, first.Services["a"], next.Listeners["in"].Passage.Route(nil).Service)
}
