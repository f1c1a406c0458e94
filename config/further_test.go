package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFurtherPath(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"absent", "config: {cache: c}\n", ""},
		{"named", "config: {file: {path: routes}}\n", "routes"},
		{"with mistakes", "config: {file: {path: routes}}\nroutes: [{id: a, match: {path: /a}, service: elsewhere}]\n", "routes"},
		{"no YAML", "config: {file: {path: routes}\n\t]", ""},
		{"secret from a file", "admin: {token: \"${file:/nowhere}\"}\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.yaml")
			require.NoError(t, os.WriteFile(path, []byte(tt.text), 0o600))
			assert.Equal(t, tt.want, FurtherPath(path))
		})
	}
	assert.Empty(t, FurtherPath("/no/such/file"))
}

// check and diff read what a node would: the path, and what it names besides.
func TestCheckAndCompareFollowTheFurtherPath(t *testing.T) {
	folder := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	check := func(path string) string {
		var out strings.Builder
		Check(&out, path)
		return out.String()
	}
	base := put("base.yaml", "config: {file: {path: "+folder+"/routes}}\nroutes: [{id: a, match: {path: /a}, service: s}]\n")
	assert.Contains(t, check(base), "no such file")
	put("routes/a.yaml", "listeners: [{name: w, address: \"127.0.0.1:80\"}]\nservices: [{name: s, endpoints: [{address: \"10.0.0.1:80\"}]}]\nroutes: [{id: b, match: {path: /b}, service: s}]\n")
	assert.Contains(t, check(base), "ok: 1 listener, 1 service, 0 filter sets, 2 routes")
	put("routes/b.yaml", "routes: [{id: c, match: {path: /c}, service: t}]\n")
	assert.Contains(t, check(base), "b.yaml:1:46: routes[0].service: unknown service \"t\"")
	put("routes/b.yaml", "routes: [{id: c, match: {path: /c}, service: s}]\n")
	c, err := Compare(folder+"/routes", base)
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, c.Routes.Added)
	assert.Empty(t, c.Routes.Removed)
}

// A file that the folder holds as well is read once.
func TestFolderAroundTheFileThatNamesIt(t *testing.T) {
	folder := t.TempDir()
	base := filepath.Join(folder, "base.yaml")
	require.NoError(t, os.WriteFile(base, []byte("config: {file: {path: "+folder+"/.}}\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "more.yaml"), []byte("log: {level: warn}\n"), 0o600))
	files, err := readWhole(base)
	require.NoError(t, err)
	assert.Len(t, files, 2)
}
