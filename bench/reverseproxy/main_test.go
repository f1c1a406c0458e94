package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHandler(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, r.URL.Path+" "+r.Header.Get("X-Forwarded-For")+" "+r.Header.Get("X-Forwarded-Proto")+" "+r.Host)
	}))
	defer origin.Close()
	path := filepath.Join(t.TempDir(), "access.log")
	for _, access := range []string{"", path} {
		handler, err := newHandler(origin.Listener.Addr().String(), access)
		require.NoError(t, err)
		front := httptest.NewServer(handler)
		res, err := http.Get(front.URL + "/a")
		require.NoError(t, err)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		res.Body.Close()
		front.Close()
		assert.Equal(t, http.StatusAccepted, res.StatusCode)
		assert.Equal(t, "/a 127.0.0.1 http "+front.Listener.Addr().String(), string(body))
	}
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Contains(t, string(written), `"path":"/a","status":202`)
}
