package e2e_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const second = hello + `
  - {id: second, match: {path: /second}, filters: [{respond: {status: 200, body: second}}]}
`

func TestHangUpReloads(t *testing.T) {
	p := start(t, head+hello)
	p.write(head + second)
	p.signal(syscall.SIGHUP)
	p.await("the second route", func() bool { code, _ := p.get("/second"); return code == 200 })
	assert.Equal(t, uint64(2), p.status().Generation)
}

func TestSavedFileReloads(t *testing.T) {
	p := start(t, head+hello)
	p.write(head + second)
	p.await("the second route", func() bool { code, _ := p.get("/second"); return code == 200 })
}

// A broken file is saved over a good one: the old stays in force, and the
// status names the line and the column until the file is good again.
func TestBrokenFileOverAGoodOne(t *testing.T) {
	p := start(t, head+hello)
	p.write(head + "routes:\n  - id: hello\n    match: {path: hello}\n")
	p.await("the refusal", func() bool { return strings.Contains(p.status().Config.LastError, "corelane.yaml:7:19") })
	s := p.status()
	assert.Equal(t, uint64(1), s.Generation)
	assert.Contains(t, s.Config.LastError, "match.path")
	code, _ := p.get("/hello")
	assert.Equal(t, 200, code)
	assert.Equal(t, 422, p.ask(http.MethodPost, "/api/v1/reload", nil))

	p.write(head + second)
	p.await("the good one", func() bool { return p.status().Config.LastError == "" })
	code, _ = p.get("/second")
	assert.Equal(t, 200, code)
}

// Emptied by accident: as broken.
func TestEmptyFile(t *testing.T) {
	p := start(t, head+hello)
	require.NoError(t, os.WriteFile(p.config(), nil, 0o600))
	p.await("the refusal", func() bool { return p.status().Config.LastError != "" })
	code, _ := p.get("/hello")
	assert.Equal(t, 200, code)
}

func TestStartsFromTheLastGoodCopy(t *testing.T) {
	const configuration = head + hello
	p := start(t, configuration)
	p.signal(syscall.SIGTERM)
	require.Equal(t, 0, p.exit())

	good, err := os.ReadFile(p.config())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(p.config(), append(good, "nonsense: 1\n"...), 0o600))
	next := newProgram(t, configuration)
	next.launch("run", "-c", p.config())
	next.await("serving", next.serving)
	code, _ := next.get("/hello")
	assert.Equal(t, 200, code)
	s := next.status()
	assert.True(t, s.Config.FromCache)
	assert.Contains(t, s.Config.LastError, "nonsense")
}

// A copy of another configuration must never be served in the place of a broken
// one. With --cache the folder is known even if the file cannot be read.
func TestCopiesBelongToTheirConfiguration(t *testing.T) {
	p := start(t, head+hello)
	p.signal(syscall.SIGTERM)
	require.Equal(t, 0, p.exit())
	cache := filepath.Join(p.folder, "cache")
	require.NoError(t, os.WriteFile(p.config(), []byte("routes: ["), 0o600))

	other := newProgram(t, "routes: [")
	other.launch("run", "-c", other.config(), "--cache", cache)
	require.Equal(t, 1, other.exit())
	require.Contains(t, other.stderr.String(), "is a copy of another configuration")

	own := newProgram(t, "")
	own.launch("run", "-c", p.config(), "--cache", cache)
	own.await("serving", own.serving)
	code, _ := own.get("/hello")
	require.Equal(t, 200, code)
}

// Rotation: the file is renamed, SIGHUP makes a new one.
func TestHangUpReopensTheAccessLog(t *testing.T) {
	p := start(t, head+hello+"log: {access: {path: FOLDER/access.log}}\n")
	path := filepath.Join(p.folder, "access.log")
	p.get("/hello")
	p.await("the record", func() bool { return records(path) == 1 })
	require.NoError(t, os.Rename(path, path+".1"))
	p.signal(syscall.SIGHUP)
	p.await("the new file", func() bool { return records(path) == 0 })
	p.get("/hello")
	p.await("a record in the new file", func() bool { return records(path) == 1 })
	assert.Equal(t, 1, records(path+".1"))
	assert.Empty(t, p.stdout.String())
}

// records counts the lines of a log, -1 if there is none.
func records(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return -1
	}
	return strings.Count(string(text), "\n")
}
