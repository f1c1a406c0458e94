package config_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/config"
	_ "github.com/corelane/corelane/filters/headers"
	_ "github.com/corelane/corelane/filters/iplist"
	_ "github.com/corelane/corelane/filters/maintenance"
	_ "github.com/corelane/corelane/filters/redirect"
	_ "github.com/corelane/corelane/filters/requestid"
	_ "github.com/corelane/corelane/filters/respond"
)

func TestExamples(t *testing.T) {
	for name, want := range map[string]string{
		"../examples/quickstart.yaml": "ok: 1 listener, 1 service, 0 filter sets, 4 routes\n",
		"../examples/full.yaml":       "ok: 1 listener, 1 service, 1 filter set, 5 routes\n",
	} {
		var out bytes.Buffer
		assert.Equal(t, 0, config.Check(&out, name), "%s", out.String())
		assert.Equal(t, want, out.String())
	}
}

func TestCheck(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for name, c := range map[string]struct {
		path, want string
	}{
		"missing":       {filepath.Join(folder, "nowhere.yaml"), "no such file or directory"},
		"broken":        {write("broken.yaml", "listeners:\n  - {name: web, address: 127.0.0.1:http}\n"), "broken.yaml:2:26: listeners[0].address"},
		"problem count": {filepath.Join(folder, "broken.yaml"), "broken.yaml: 1 problem\n"},
		"empty name":    {"", "no configuration file is named"},
		"empty folder":  {t.TempDir(), "holds no *.yaml"},
		"not a file":    {os.DevNull, "is not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			assert.Equal(t, 1, config.Check(&out, c.path))
			assert.Contains(t, out.String(), c.want)
		})
	}
}

func TestAFolderIsMerged(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"10-base.yaml":   "listeners: [{name: web, address: 127.0.0.1:8080}]\nservices: [{name: a}]\n",
		"20-routes.yml":  "routes:\n  - {id: x, updated_at: 2026-01-01, match: {path: /x}, service: a}\n",
		"30-routes.yaml": "routes:\n  - {id: x, updated_at: 2025-01-01, match: {path: /older}, service: a}\n",
		".hidden.yaml":   "nonsense",
		"notes.txt":      "nonsense",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	doc, err := config.Load(folder)
	require.NoError(t, err)
	require.Len(t, doc.Routes, 1)
	assert.Equal(t, "/x", doc.Routes[0].Match.Path)
	require.Len(t, doc.Warnings(), 1)
	assert.Contains(t, doc.Warnings()[0], "30-routes.yaml, line 2 is left out")
}

// What two documents of a folder give twice is reported with both places.
func TestAFolderWithConflicts(t *testing.T) {
	folder := t.TempDir()
	const text = `listeners:
  - {name: web, address: "127.0.0.1:8080"}
engine:
  loops: 1
services:
  - {name: a, endpoints: [{address: "127.0.0.1:9000"}]}
filter_sets:
  app:
    - request_id: {}
routes:
  - {id: x, match: {path: /x}, service: a, use: [app]}
`
	a, b := filepath.Join(folder, "a.yaml"), filepath.Join(folder, "b.yaml")
	require.NoError(t, os.WriteFile(a, []byte(text), 0o600))
	require.NoError(t, os.WriteFile(b, []byte(text), 0o600))
	_, err := config.Load(folder)
	var problems config.Problems
	require.ErrorAs(t, err, &problems)
	var got []string
	for _, p := range problems {
		got = append(got, p.String())
	}
	assert.Equal(t, []string{
		b + `:2:12: listeners[0].name: "web" stands already in ` + a + ", line 2",
		b + `:2:26: listeners[0].address: this address is taken by the listener in ` + a + ", line 2",
		b + `:3:1: engine: this section stands already in ` + a + ", line 3",
		b + `:6:12: services[0].name: "a" stands already in ` + a + ", line 6",
		b + `:8:3: filter_sets.app: a filter set of this name stands already in ` + a + ", line 8",
		b + `:11:10: routes[0].id: a route with the id "x" stands already in ` + a + ", line 11; two different times in updated_at would say which is newer",
	}, got)
}
