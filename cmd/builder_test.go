package cmd

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestChoose(t *testing.T) {
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	tests := []struct {
		name, self, folder, named string
		source, version, err      string
	}{
		{"inside the source", "v1.0.0", ".", "", root, "", ""},
		{"a named folder", "devel", t.TempDir(), root, root, "", ""},
		{"a named version", "devel", ".", "v1.2.3-rc.1", "", "v1.2.3-rc.1", ""},
		{"the program's own release", "v1.2.3", t.TempDir(), "", "", "v1.2.3", ""},
		{"no release", "4051fea-dirty", t.TempDir(), "", "", "", "this program (4051fea-dirty) is no release"},
		{"another module", "devel", ".", filepath.Join(root, "examples", "plugin"), "", "", "is example.com/corelane-hello"},
		{"no folder", "devel", ".", "nowhere", "", "", "there is no go.mod"},
	}
	defer func(v string) { version = v }(version)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(tt.folder)
			version = tt.self
			var b builder
			err := b.choose(tt.named)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.source, b.source)
			assert.Equal(t, tt.version, b.version)
		})
	}
}

func TestGoRelease(t *testing.T) {
	assert.Equal(t, "1.26.8", goRelease("go1.26.8"))
	assert.Equal(t, "1.26.8", goRelease("go1.26.8 X:synctest"))
	assert.Equal(t, "1.27", goRelease("devel go1.27-abcdef"))
	assert.NotEmpty(t, goRelease("unknown"))
}

func TestWhyNot(t *testing.T) {
	exit := errors.New("exit status 2")
	assert.Equal(t, `the filter "a" is registered twice, by x and by y: a name belongs to one of them`,
		whyNot("panic: filters: \"a\" is registered twice, by x and by y\n\ngoroutine 1 [running]:\n", exit))
	assert.Equal(t, `the protocol "a" is registered twice, or its name is not free`,
		whyNot("panic: codec: the protocol \"a\" is registered twice, or its name is not free\n\ngoroutine 1 [running]:\n", exit))
	assert.Equal(t, "the program was built but does not start: a filter needs a name and a constructor",
		whyNot("panic: filters: a filter needs a name and a constructor\n\ngoroutine 1", exit))
	assert.Equal(t, "the program was built but does not start (exit status 2): no\nway", whyNot("no\nway\n", exit))
}

func TestReportOfWhatWasBuilt(t *testing.T) {
	var out, warnings bytes.Buffer
	b := builder{output: "bin/x", stdout: &out, stderr: &warnings, additions: []addition{{path: "example.com/a"}, {path: "example.com/b"}}}
	b.report([]part{{Name: "one", Package: "example.com/a"}, {Name: "two", Package: "example.com/a/two"}, {Name: "respond", Package: productModule + "/filters/respond"}})
	assert.Equal(t, "bin/x: with example.com/a: one, two\n", out.String())
	assert.Equal(t, "corelane: warning: example.com/b registers no filter and no protocol\n", warnings.String())
}
