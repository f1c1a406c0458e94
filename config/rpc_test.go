package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/route"
)

// calledBy returns the id of the route that a call of a method comes to.
func calledBy(t *testing.T, s *snapshot.Snapshot, iface, method, version string) string {
	t.Helper()
	var h codec.Head
	h.Reset()
	require.True(t, h.SetMethodCall([]byte(iface), []byte(method)))
	if version != "" {
		h.AddKnown(codec.XRPCVersion, []byte(version))
	}
	var q snapshot.Query
	if snapshot.NewResolver().Resolve(&q, s, &h, nil) != codec.ReasonNone {
		return ""
	}
	return q.Route().Info.ID
}

func TestSmallChangesOfCalls(t *testing.T) {
	r := newSmallRig(t)
	small, err := r.replace(own("  - {id: own, match: {rpc: {interface: com.example.Order, method: find}}, service: a}\n" +
		"  - {id: two, match: {rpc: {interface: com.example.Order, method: find, version: 2}}, service: a}\n"))
	require.Error(t, err, "the id two stands in the other file")
	require.False(t, small)

	small, err = r.replace(own("  - {id: own, match: {rpc: {interface: com.example.Order, method: find}}, service: a}\n" +
		"  - {id: new, match: {rpc: {interface: com.example.Order, method: find, version: 2}}, service: a}\n"))
	require.NoError(t, err)
	require.True(t, small)
	now := r.pipeline.Snapshot()
	assert.Equal(t, "own", calledBy(t, now, "com.example.Order", "find", ""))
	assert.Equal(t, "new", calledBy(t, now, "com.example.Order", "find", "2"))
	assert.Empty(t, calledBy(t, now, "com.example.Order", "save", ""))

	small, err = r.replace(own("  - {id: own, match: {rpc: {interface: com.example.Order}}, service: a}\n"))
	require.NoError(t, err)
	require.True(t, small)
	assert.Equal(t, "own", calledBy(t, r.pipeline.Snapshot(), "com.example.Order", "save", "2"))

	_, err = r.replace(own("  - {id: own, match: {rpc: {method: save}}, service: a}\n"))
	require.ErrorContains(t, err, "an interface or a key is needed")
	assert.Equal(t, "own", calledBy(t, r.pipeline.Snapshot(), "com.example.Order", "save", "2"), "what was published goes on")
}

func TestManyCallsOfADocument(t *testing.T) {
	const many = 2000
	var b strings.Builder
	b.WriteString("listeners: [{name: f, address: 127.0.0.1:8080, protocol: frame}]\nservices: [{name: a}]\nroutes:\n")
	for i := range many {
		fmt.Fprintf(&b, "  - {id: r%d, match: {rpc: {interface: I%d, method: m}}, service: a}\n", i, i)
	}
	g := newGenerations(t)
	g.next(b.String())
	assert.Equal(t, many, g.now.Routes.Len())
	for _, i := range []int{0, many / 2, many - 1} {
		assert.Equal(t, fmt.Sprintf("r%d", i), calledBy(t, g.now, fmt.Sprintf("I%d", i), "m", ""))
	}
	assert.Equal(t, "frame", g.now.Listeners["f"].Protocol.Name())
}

func TestSpecOfACall(t *testing.T) {
	spec := newSpec(&Route{ID: "r", Match: Match{
		RPC: RPC{Interface: "I", Method: "m", Group: "g", Version: "1"}, Headers: map[string][]string{"X-Env": {"prod"}},
	}})
	assert.Equal(t, &route.Spec{
		ID: "r", Space: route.Calls, Pattern: "/I/m",
		Headers: []route.Condition{
			{Name: "X-Env", Values: []string{"prod"}}, {Name: "X-Rpc-Group", Values: []string{"g"}}, {Name: "X-Rpc-Version", Values: []string{"1"}},
		},
	}, spec)
}
