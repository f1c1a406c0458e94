package frame

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec/codectest"
)

var (
	hexBlock = regexp.MustCompile("(?s)```hex\n(.*?)```")
	hexLine  = regexp.MustCompile(`^ *((?:[0-9a-f]{2} {1,2})*[0-9a-f]{2})(?: {3}|$)`)
)

// The examples of docs/protocol.md are frames.
func TestExamplesOfTheManual(t *testing.T) {
	page, err := os.ReadFile("../../docs/protocol.md")
	require.NoError(t, err)
	blocks := hexBlock.FindAllStringSubmatch(string(page), -1)
	require.Len(t, blocks, 4)
	kinds := map[Kind]bool{}
	for _, block := range blocks {
		var wire []byte
		for line := range strings.Lines(block[1]) {
			m := hexLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
			require.NotNil(t, m, line)
			wire = append(wire, unhex(t, m[1])...)
		}
		kit := requests
		if wire[atKind] == byte(Response) {
			kit = responses
		}
		requireWhole(t, kit, wire)
		for rest := wire; len(rest) > 0; {
			h, err := ParseHeader(rest)
			require.NoError(t, err)
			kinds[h.Kind] = true
			rest = rest[h.Size():]
		}
	}
	require.Len(t, kinds, int(Credit), "one example of each kind")
}

// requireWhole holds that the bytes are whole messages and controls.
func requireWhole(t *testing.T, kit codectest.Kit, wire []byte) {
	t.Helper()
	got := kit.Splits(t, wire)
	require.Nil(t, got.Err)
	for _, m := range got.Messages {
		require.True(t, m.Done)
	}
}
