package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// anyCPU lets a run work on a machine with one processor as well.
var anyCPU = []string{"-proxy-cpu=-1", "-origin-cpu=-1", "-load-cpu=-1", "-rounds=1", "-duration=1s", "-connections=4", "-size=128"}

func shortRun(t *testing.T, args ...string) *result {
	t.Helper()
	out := t.TempDir()
	o, err := parseOptions(append(append(args, "-out="+out), anyCPU...))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), o.bound())
	defer cancel()
	r, err := measure(ctx, o)
	require.NoError(t, err)
	require.NoError(t, publish(o, r))
	files, err := filepath.Glob(filepath.Join(out, "*"))
	require.NoError(t, err)
	assert.Len(t, files, 2)
	return r
}

// TestRunInEveryMode is a whole run against real proxies, as short as it can be.
func TestRunInEveryMode(t *testing.T) {
	r := shortRun(t, "-rivals=nginx,haproxy,goproxy,reverseproxy", "-log", "-strace=false")
	require.Len(t, r.Cells, 1)
	for _, name := range r.Order {
		got := r.Cells[0].Rounds[0][name]
		assert.Positive(t, got.Requests, name)
		assert.Zero(t, got.Failures, name)
		assert.Positive(t, r.Proxies[name].PeakKiB, name)
	}
	r = shortRun(t, "-rivals=goproxy", "-mode=latency", "-rate=200")
	assert.InDelta(t, 200, r.Cells[0].AskedRate, 0)
	assert.Positive(t, r.Cells[0].Rounds[0]["goproxy"].Requests)
	// Not every user may trace a process; then the result says so.
	about := r.Proxies["goproxy"]
	assert.True(t, len(about.Syscalls) > 0 || about.Note != "")
}

func TestMissingProgram(t *testing.T) {
	o, err := parseOptions(append([]string{"-rivals=corelane", "-corelane=does/not/exist", "-out="}, anyCPU...))
	require.NoError(t, err)
	_, err = measure(t.Context(), o)
	assert.ErrorContains(t, err, "run `make build`")
}

func TestVerify(t *testing.T) {
	answer := map[string]string{
		"/3":    "abc",
		"/4":    "abc",
		"/echo": "GET /echo HTTP/1.1\r\nx-forwarded-for: 127.0.0.1\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: a\r\n",
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, ok := answer[r.URL.Path]; ok {
			_, _ = io.WriteString(w, body)
			return
		}
		http.NotFound(w, r)
	}))
	defer server.Close()
	address := server.Listener.Addr().String()

	require.NoError(t, verify(t.Context(), address, []int{3}))
	assert.ErrorContains(t, verify(t.Context(), address, []int{4}), "asked for 4 bytes, got 3")
	assert.ErrorContains(t, verify(t.Context(), address, []int{5}), "404")
	answer["/echo"] = "GET /echo HTTP/1.1\r\n"
	assert.ErrorContains(t, verify(t.Context(), address, nil), "X-Forwarded-For")
}
