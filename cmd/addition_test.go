package cmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseAddition(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "go.mod"), []byte("// a module\nmodule \"example.com/hello/v2\" // here\n"), 0o600))
	empty := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(empty, "go.mod"), []byte("go 1.26\n"), 0o600))
	tests := []struct {
		text string
		want addition
		err  string
	}{
		{"example.com/hello", addition{path: "example.com/hello"}, ""},
		{"example.com/hello@v1.2.3", addition{path: "example.com/hello", version: "v1.2.3"}, ""},
		{"gopkg.in/hello.v2@latest", addition{path: "gopkg.in/hello.v2", version: "latest"}, ""},
		{"example.com/hello/v2=" + folder, addition{path: "example.com/hello/v2", folder: folder, module: "example.com/hello/v2"}, ""},
		{"example.com/hello/v2/part@v2.0.1=" + folder, addition{path: "example.com/hello/v2/part", version: "v2.0.1", folder: folder, module: "example.com/hello/v2"}, ""},
		{"example.com/hello=" + folder, addition{}, "is example.com/hello/v2"},
		{"example.com/hello/v2more=" + folder, addition{}, "is example.com/hello/v2"},
		{"example.com/hello=" + empty, addition{}, "names no module"},
		{"example.com/hello=" + folder + "/none", addition{}, "there is no go.mod"},
		{"", addition{}, "is not a module path"},
		{"hello", addition{}, "is not a module path"},
		{"./hello", addition{}, "is not a module path"},
		{"/srv/hello", addition{}, "is not a module path"},
		{"-x.com/a", addition{}, "is not a module path"},
		{"https://example.com/hello", addition{}, "is not a module path"},
		{"example.com/a b", addition{}, "is not a module path"},
		{"example.com/../a", addition{}, "is not a module path"},
		{"example.com/a\"b", addition{}, "is not a module path"},
	}
	for _, tt := range tests {
		got, err := parseAddition(tt.text)
		if tt.err != "" {
			require.ErrorContains(t, err, tt.err, tt.text)
			continue
		}
		require.NoError(t, err, tt.text)
		assert.Equal(t, tt.want, got, tt.text)
	}
}

func TestAdditionsOwnTheirPackages(t *testing.T) {
	a := addition{path: "example.com/a/part", module: "example.com/a"}
	assert.True(t, a.owns("example.com/a"))
	assert.True(t, a.owns("example.com/a/other"))
	assert.False(t, a.owns("example.com/ab"))
	b := addition{path: "example.com/b"}
	assert.True(t, b.owns("example.com/b/inside"))
	assert.False(t, b.owns(productModule+"/filters/respond"))
}

func TestPlaceholder(t *testing.T) {
	for module, want := range map[string]string{"example.com/a": "v0.0.0", "example.com/a/v2": "v2.0.0", "gopkg.in/a.v3": "v3.0.0", "example.com/v": "v0.0.0"} {
		assert.Equal(t, want, placeholder(module), module)
	}
}

func TestSourceTree(t *testing.T) {
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	assert.Equal(t, root, sourceTree("."))
	assert.Equal(t, root, sourceTree("../examples/plugin"), "through another module")
	assert.Empty(t, sourceTree(t.TempDir()))
}
