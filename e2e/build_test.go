package e2e_test

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// building runs `corelane build` in a folder of its own, with the source tree
// named, and returns it when it has ended.
func building(t *testing.T, args ...string) *program {
	t.Helper()
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	p := newProgram(t, head+hello)
	for i, arg := range args {
		args[i] = strings.Replace(arg, "=ROOT/", "="+root+"/", 1)
	}
	p.launch(append([]string{"build", "--corelane", root, "-o", "bin/gateway"}, args...)...)
	p.exitWithin(10 * patience) // a compiler without a cache takes its time
	return p
}

const plugin = "example.com/corelane-hello"

// The example of docs/filters.md: a filter of another module, compiled in,
// listed, checked and serving.
func TestBuildWithAPlugin(t *testing.T) {
	p := building(t, "--with", plugin+"=ROOT/examples/plugin", "--with", "example.com/silent=ROOT/e2e/testdata/plugins/silent")
	require.Zero(t, p.exit(), p.stderr.String())
	built := filepath.Join(p.folder, "bin", "gateway")
	assert.Equal(t, built+": with "+plugin+": hello\n", p.stdout.String())
	assert.Contains(t, p.stderr.String(), "warning: example.com/silent registers no filter")

	out, err := exec.Command(built, "filters", "hello", "--json").Output()
	require.NoError(t, err)
	var listed struct {
		Package string
		Options []struct{ Name, Type, Default, Doc string }
	}
	require.NoError(t, json.Unmarshal(out, &listed))
	assert.Equal(t, plugin, listed.Package)
	require.Len(t, listed.Options, 1)
	assert.Equal(t, "The word before the name.", listed.Options[0].Doc)
	out, err = exec.Command(built, "schema").Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), `"filter.hello"`)

	const greets = "\nroutes:\n  - {id: greet, match: {path: /greet}, filters: [{hello: {greeting: good day}}, {respond: {}}]}\n"
	old := newProgram(t, head+greets)
	old.launch("check", "-c", old.config())
	assert.Equal(t, 1, old.exit(), "the program without the filter refuses it")
	g := newProgram(t, head+greets)
	g.command(built, "run", "-c", g.config())
	g.await("serving", g.serving)
	code, body := g.get("/greet")
	assert.Equal(t, 200, code)
	assert.Equal(t, "good day, world\n", body)
}

// The example of docs/codecs.md: a protocol of another module.
func TestBuildWithAProtocol(t *testing.T) {
	p := building(t, "--with", "example.com/corelane-resp=ROOT/examples/resp")
	require.Zero(t, p.exit(), p.stderr.String())
	built := filepath.Join(p.folder, "bin", "gateway")
	assert.Equal(t, built+": with example.com/corelane-resp: resp\n", p.stdout.String())
	out, err := exec.Command(built, "protocols").Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), "resp   one exchange at a time on a connection, translated for other protocols\n")
	redisThrough(t, built)
}

// Modules of their own are not among the packages that are tested here.
func TestExampleModules(t *testing.T) {
	for _, folder := range []string{"plugin", "resp"} {
		c := exec.Command("go", "test", "-mod=mod", ".")
		c.Dir = filepath.Join("..", "examples", folder)
		c.Env = append(os.Environ(), "GOWORK=off")
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s: %s", folder, out)
	}
}

func TestBuildThatFails(t *testing.T) {
	tests := []struct {
		name string
		with string
		exit int
		want []string
	}{
		{"does not compile", "example.com/broken=ROOT/e2e/testdata/plugins/broken", 1, []string{"undefined: filters.Sort", "broken.go:6:", "go build failed"}},
		{
			"a name taken", "example.com/twice=ROOT/e2e/testdata/plugins/twice", 1,
			[]string{`the filter "respond" is registered twice, by `, "filters/respond", "example.com/twice"},
		},
		{"another module", plugin + "=ROOT/e2e/testdata/plugins/silent", 2, []string{"is example.com/silent"}},
		{"no module there", plugin + "=ROOT/e2e/testdata", 2, []string{"there is no go.mod"}},
		{"no path", "./examples/plugin", 2, []string{"is not a module path"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := building(t, "--with", tt.with)
			assert.Equal(t, tt.exit, p.exit())
			for _, want := range tt.want {
				assert.Contains(t, p.stderr.String(), want)
			}
			assert.NotContains(t, p.stderr.String(), "goroutine 1")
			left, err := filepath.Glob(filepath.Join(p.folder, "bin", "*"))
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

func TestBuildKeepsTheProgramThatWasThere(t *testing.T) {
	p := newProgram(t, head+hello)
	require.NoError(t, os.WriteFile(filepath.Join(p.folder, "gateway"), []byte("old"), 0o700))
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	p.launch("build", "--corelane", root, "-o", "gateway", "--with", "example.com/broken="+root+"/e2e/testdata/plugins/broken")
	assert.Equal(t, 1, p.exit())
	text, err := os.ReadFile(filepath.Join(p.folder, "gateway"))
	require.NoError(t, err)
	assert.Equal(t, "old", string(text))
}

func TestBuildWithoutGo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	p := building(t)
	assert.Equal(t, 1, p.exit())
	assert.Contains(t, p.stderr.String(), "Go is not installed")
}

// A program that is no release cannot fetch itself.
func TestBuildOutsideTheSource(t *testing.T) {
	p := newProgram(t, head+hello)
	p.launch("build")
	assert.Equal(t, 1, p.exit())
	assert.Contains(t, p.stderr.String(), "name the product by --corelane")
	p = newProgram(t, head+hello)
	p.launch("build", "--corelane", p.folder)
	assert.Equal(t, 1, p.exit())
	assert.Contains(t, p.stderr.String(), "there is no go.mod")
}

// The example's own test runs where its author would run it.
func TestThePluginsOwnTest(t *testing.T) {
	c := exec.Command("go", "test", "./...")
	c.Dir = "../examples/plugin"
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
}

// goEnv asks Go for one of its settings.
func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

// A module is fetched as the environment of Go says: here from a proxy that is a
// folder, into a cache of the test's own.
func TestBuildFetchesAVersion(t *testing.T) {
	folder := t.TempDir()
	versions := filepath.Join(folder, "example.com", "fetched", "@v")
	require.NoError(t, os.MkdirAll(versions, 0o700))
	const mod = "module example.com/fetched\n\ngo 1.26.0\n"
	source := `// Package fetched has one filter.
package fetched

import "github.com/corelane/corelane/filters"

// Filter does nothing.
type Filter struct{}

func init() {
	filters.Register(filters.Kind{Name: "fetched", Doc: "Does nothing.", New: func() any { return new(Filter) }})
}
`
	archive, err := os.Create(filepath.Join(versions, "v1.2.3.zip"))
	require.NoError(t, err)
	z := zip.NewWriter(archive)
	for name, text := range map[string]string{"go.mod": mod, "fetched.go": source} {
		w, err := z.Create("example.com/fetched@v1.2.3/" + name)
		require.NoError(t, err)
		_, err = w.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, errors.Join(z.Close(), archive.Close()))
	for name, text := range map[string]string{"v1.2.3.mod": mod, "v1.2.3.info": `{"Version":"v1.2.3"}`, "list": "v1.2.3\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(versions, name), []byte(text), 0o600))
	}
	t.Setenv("GOPROXY", "file://"+folder+",file://"+filepath.Join(goEnv(t, "GOMODCACHE"), "cache", "download"))
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GONOSUMDB", "example.com")
	t.Setenv("GOFLAGS", "-modcacherw")

	p := building(t, "--with", "example.com/fetched")
	require.Zero(t, p.exit(), p.stderr.String())
	assert.Contains(t, p.stdout.String(), "with example.com/fetched: fetched")
	p = building(t, "--with", "example.com/fetched@v9.9.9")
	assert.Equal(t, 1, p.exit())
	assert.Contains(t, p.stderr.String(), "go get failed")
	assert.Contains(t, p.stderr.String(), "v9.9.9")
}
