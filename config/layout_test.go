package config

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
)

func TestCheckDrawsLayouts(t *testing.T) {
	var out bytes.Buffer
	require.Equal(t, 0, Check(&out, "testdata/layouts.yaml"), "%s", out.String())
	const golden = "testdata/layouts.picture"
	if *update {
		require.NoError(t, os.WriteFile(golden, out.Bytes(), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), out.String(), "run go test ./config -run TestCheckDrawsLayouts -update")
}

// TestTheManualShowsThePicture holds docs/layouts.md to what `corelane check`
// draws of the layouts that it describes.
func TestTheManualShowsThePicture(t *testing.T) {
	text, err := os.ReadFile("../docs/layouts.md")
	require.NoError(t, err)
	blocks := strings.Split(string(text), "```")
	pictures := 0
	for i, block := range blocks {
		source, ok := strings.CutPrefix(block, "yaml\n")
		if !ok {
			continue
		}
		doc, err := Parse(File{Name: "docs/layouts.md", Text: []byte(source)})
		require.NoError(t, err)
		var out bytes.Buffer
		drawLayouts(&out, doc)
		require.Equal(t, strings.TrimRight(out.String(), "\n"), strings.Trim(blocks[i+2], "\n"))
		pictures++
	}
	require.Equal(t, 2, pictures)
}

const laidOut = `
listeners:
  - {name: a, address: "127.0.0.1:1", protocol: frame, layout: {length: {width: 4, header: 4}, key: {at: 4, kind: string8}}}
  - {name: b, address: "127.0.0.1:2", protocol: frame, layout: {length: {width: 4, header: 4, order: little}, key: {at: 4, kind: string8}}}
services:
  - {name: s, protocol: frame, layout: {length: {width: 4, header: 4}, key: {at: 4, kind: string8}}}
  - {name: other, protocol: frame, layout: {length: {width: 2, header: 2}}}
`

func compileText(t *testing.T, text string, c *Compiler, prev *snapshot.Snapshot) *snapshot.Snapshot {
	t.Helper()
	doc, err := Parse(File{Name: "a.yaml", Text: []byte(text)})
	require.NoError(t, err)
	next, _, err := c.Compile(doc, prev)
	require.NoError(t, err)
	return next
}

func TestEqualLayoutsAreOneProtocol(t *testing.T) {
	c := NewCompiler(pool.NewRegistry())
	first := compileText(t, laidOut, c, nil)
	a, b := first.Listeners["a"].Protocol, first.Listeners["b"].Protocol
	require.Same(t, a, first.Services["s"].Protocol, "what comes in that layout leaves in it as it is")
	require.NotSame(t, a, b)
	require.Equal(t, "layout:a", a.Name())

	// Both a and s change in something else, and the layout of other goes to s.
	text := strings.Replace(laidOut, `"127.0.0.1:1",`, `"127.0.0.1:1", limits: {connections: 9},`, 1)
	second := compileText(t, strings.Replace(text, "name: s,", "name: s, slow_start: 1s,", 1), c, first)
	require.NotSame(t, first.Listeners["a"], second.Listeners["a"])
	require.NotSame(t, first.Services["s"], second.Services["s"])
	require.Same(t, a, second.Listeners["a"].Protocol)
	require.Same(t, a, second.Services["s"].Protocol)
	require.Same(t, b, second.Listeners["b"].Protocol)

	third := compileText(t, strings.Replace(text, "layout: {length: {width: 4, header: 4}", "layout: {length: {width: 3, header: 4}", 1), c, second)
	require.NotSame(t, a, third.Listeners["a"].Protocol)
	require.Same(t, a, third.Services["s"].Protocol, "the service still has it")
}

func TestALayoutOfAListenerNeedsARestart(t *testing.T) {
	old, err := Parse(File{Name: "a.yaml", Text: []byte(laidOut)})
	require.NoError(t, err)
	next, err := Parse(File{Name: "a.yaml", Text: []byte(strings.Replace(laidOut, "order: little", "order: big", 1))})
	require.NoError(t, err)
	assert.Equal(t, []string{"listeners[1].layout (of b)"}, needsRestart(old, next))
	assert.Empty(t, needsRestart(old, old))
}

func TestHexAndCodes(t *testing.T) {
	for text, want := range map[string]string{"": "", "0x": "", "0xDABB": "\xda\xbb", "0x0": "!", "da": "!", "0xzz": "!", "0X01": "!"} {
		var h Hex
		if err := h.UnmarshalText([]byte(text)); want == "!" {
			assert.Error(t, err, text)
		} else {
			assert.NoError(t, err, text)
			assert.Equal(t, want, string(h.decoded()))
		}
	}
	for text, want := range map[string]string{"0": "0x0", "0xC0": "0xc0", "255": "0xff", "18446744073709551615": "0xffffffffffffffff"} {
		var c Code
		assert.NoError(t, c.UnmarshalText([]byte(text)))
		assert.Equal(t, want, c.String())
	}
	for _, text := range []string{"", "-1", "0x", "1.5", "18446744073709551616", "c0"} {
		assert.Error(t, new(Code).UnmarshalText([]byte(text)), text)
	}
}
