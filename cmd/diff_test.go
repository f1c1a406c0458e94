package cmd

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/config"
)

// diffed runs `corelane diff` on two texts.
func diffed(t *testing.T, old, next string, flags ...string) (string, int) {
	t.Helper()
	folder := t.TempDir()
	a, b := filepath.Join(folder, "a.yaml"), filepath.Join(folder, "b.yaml")
	require.NoError(t, os.WriteFile(a, []byte(old), 0o600))
	require.NoError(t, os.WriteFile(b, []byte(next), 0o600))
	var out bytes.Buffer
	root := newRoot()
	root.SetArgs(append([]string{"diff", a, b}, flags...))
	root.SetOut(&out)
	err := root.Execute()
	if err == nil {
		return out.String(), exitClean
	}
	var code exit
	require.ErrorAs(t, err, &code)
	return out.String(), int(code)
}

const (
	diffOld = `
listeners: [{name: web, address: 127.0.0.1:8080}]
routes:
- {id: gone, match: {path: /gone}, filters: [{respond: {}}]}
- {id: hello, match: {path: /hello}, filters: [{respond: {status: 200}}]}
`
	diffNew = `
engine: {loops: 2}
listeners: [{name: web, address: 127.0.0.1:8081}]
routes:
- {id: hello, match: {path: /hello, methods: [GET]}, timeouts: {total: 90s}, filters: [{respond: {status: 404}}]}
- {id: new, match: {path: /new}, filters: [{respond: {}}]}
`
)

func TestDiff(t *testing.T) {
	out, code := diffed(t, diffOld, diffNew)
	assert.Equal(t, exitDifferent, code)
	assert.Equal(t, `routes:
  + new
  - gone
  ~ hello
      match.methods: [] → [GET]
      timeouts: added {total: 1m30s}
      filters.respond.status: 200 → 404
listeners:
  ~ web
      address: 127.0.0.1:8080 → 127.0.0.1:8081
settings:
  engine.loops: auto → 2
needs a restart: engine.loops, listeners[0].address (of web)
`, out)
	out, code = diffed(t, diffNew, diffOld)
	assert.Equal(t, exitDifferent, code)
	assert.Contains(t, out, "timeouts: removed {total: 1m30s}")
}

func TestDiffOfTheSame(t *testing.T) {
	out, code := diffed(t, diffOld, "# the same\n"+diffOld+"engine: {loops: auto}\n")
	assert.Equal(t, exitClean, code)
	assert.Equal(t, "nothing differs\n", out)
}

func TestDiffAsJSON(t *testing.T) {
	out, code := diffed(t, diffOld, diffNew, "--json")
	assert.Equal(t, exitDifferent, code)
	var c config.Comparison
	require.NoError(t, json.Unmarshal([]byte(out), &c))
	assert.Equal(t, []string{"new"}, c.Routes.Added)
	assert.Equal(t, []string{"gone"}, c.Routes.Removed)
	assert.Equal(t, config.KeyChange{Key: "filters.respond.status", Old: "200", New: "404"}, c.Routes.Changed[0].Keys[2])
	assert.Contains(t, out, `"filter_sets": {`)
	assert.Contains(t, out, `"changed": []`)
}

func TestDiffOfWhatIsWrong(t *testing.T) {
	out, code := diffed(t, diffOld, "nonsense: 1\n")
	assert.Equal(t, exitTrouble, code)
	assert.Empty(t, out)
	assert.Equal(t, exitTrouble, execute([]string{"diff", "nowhere.yaml", "nowhere.yaml"}))
	assert.Equal(t, exitUsage, execute([]string{"diff", "one.yaml"}))
}
