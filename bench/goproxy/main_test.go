package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/bench/loopback"
)

// start runs the proxy in front of a handler and returns its URL.
func start(t *testing.T, access string, handler http.HandlerFunc) (string, *httptest.Server) {
	t.Helper()
	origin := httptest.NewServer(handler)
	t.Cleanup(origin.Close)
	free, err := loopback.FreeAddresses(1)
	require.NoError(t, err)
	failed := make(chan error, 1)
	go func() { failed <- run(free[0], origin.Listener.Addr().String(), access) }()
	require.NoError(t, loopback.Wait(t.Context(), free[0], failed))
	return "http://" + free[0], origin
}

func get(t *testing.T, url string) string {
	t.Helper()
	res, err := http.Get(url)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.StatusCode)
	return string(body)
}

func TestForwards(t *testing.T) {
	body := strings.Repeat("0123456789", 100_000)
	var seen atomic.Pointer[http.Request]
	url, _ := start(t, "", func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r)
		w.Header().Set("Content-Length", "1000000")
		_, _ = io.WriteString(w, body)
	})
	assert.Equal(t, body, get(t, url+"/a?b"))
	assert.Equal(t, "/a?b", seen.Load().RequestURI)
	assert.Equal(t, "127.0.0.1", seen.Load().Header.Get("X-Forwarded-For"))
	assert.Equal(t, "http", seen.Load().Header.Get("X-Forwarded-Proto"))
	assert.Equal(t, strings.TrimPrefix(url, "http://"), seen.Load().Header.Get("X-Forwarded-Host"))
}

func TestForwardsRequestBody(t *testing.T) {
	url, _ := start(t, "", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	})
	res, err := http.Post(url, "text/plain", strings.NewReader("hello"))
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	assert.Equal(t, "hello", string(body))
}

func TestReusesAndReplacesUpstreamConnections(t *testing.T) {
	var peers atomic.Pointer[string]
	url, origin := start(t, "", func(_ http.ResponseWriter, r *http.Request) { peers.Store(&r.RemoteAddr) })
	get(t, url)
	first := *peers.Load()
	get(t, url)
	assert.Equal(t, first, *peers.Load(), "the second request uses the same connection")
	origin.CloseClientConnections()
	get(t, url)
	assert.NotEqual(t, first, *peers.Load())
}

func TestBadGateway(t *testing.T) {
	url, origin := start(t, "", func(http.ResponseWriter, *http.Request) {})
	origin.Close()
	res, err := http.Get(url)
	require.NoError(t, err)
	defer res.Body.Close()
	assert.Equal(t, http.StatusBadGateway, res.StatusCode)
}

func TestAccessLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	url, _ := start(t, path, func(http.ResponseWriter, *http.Request) {})
	for range 2 * logBuffer / 100 {
		get(t, url)
	}
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Contains(t, string(written), `"request":"GET / HTTP/1.1"`)
}

func TestAppendRecord(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	got := appendRecord(nil, at, 1500*time.Microsecond, &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 5}, []byte(`GET /" HTTP/1.1`), 128)
	assert.Equal(t, `{"time":"2026-01-02T03:04:05Z","client":"10.0.0.1","request":"GET /\" HTTP/1.1","bytes":128,"ms":1.500}`+"\n", string(got))
}
