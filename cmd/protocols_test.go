package cmd

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
)

// plain is a protocol without ids that translates.
type plain struct {
	codec.Protocol
	codec.Translator
}

func (*plain) Name() string         { return "cmd-test" }
func (*plain) Traits() codec.Traits { return codec.Traits{} }

func init() { codec.Register(&plain{}) }

func TestProtocols(t *testing.T) {
	listed := listProtocols([]string{"cmd-test", "frame"})
	require.Equal(t, []protocolInfo{
		{Name: "cmd-test", Package: productModule + "/cmd", Translated: true},
		{Name: "frame", Package: productModule + "/codec/frame", Multiplexed: true},
	}, listed)
	var out bytes.Buffer
	require.NoError(t, writeProtocols(&out, listed))
	assert.Equal(t, "cmd-test  one exchange at a time on a connection, translated for other protocols\n"+
		"frame     many exchanges at once on a connection\n", out.String())
}
