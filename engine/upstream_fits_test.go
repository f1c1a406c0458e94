package engine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/engine/snapshot"
)

// A connection of HTTP may lie in the pool of a service that speaks something
// else since the last reload.
func TestConnectionsOfAnotherProtocolDoNotFit(t *testing.T) {
	x := &Exchange{}
	x.svc = &snapshot.Service{}
	require.True(t, (&upstreamConn{}).fits(&try{x: x}))
	x.proto = titled{name: "resp"}
	require.False(t, (&upstreamConn{}).fits(&try{x: x}))
}
