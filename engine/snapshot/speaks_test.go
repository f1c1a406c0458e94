package snapshot

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
)

type titled struct{ codec.Protocol }

func (titled) Name() string { return "frame" }

func TestSpeaks(t *testing.T) {
	require.Equal(t, HTTP, new(Listener).Speaks())
	require.Equal(t, HTTP, (*Listener)(nil).Speaks())
	require.Equal(t, HTTP, new(Service).Speaks())
	require.Equal(t, "frame", (&Listener{Protocol: titled{}}).Speaks())
	require.Equal(t, "frame", (&Service{Protocol: titled{}}).Speaks())
}
