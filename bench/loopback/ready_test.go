package loopback

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReady(t *testing.T) {
	var asked atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n := asked.Add(1); {
		case r.URL.Path != "/readyz":
			w.WriteHeader(http.StatusNotFound)
		case n < 3:
			w.WriteHeader(http.StatusServiceUnavailable)
		case n > 3:
			cancel()
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer admin.Close()
	address := strings.TrimPrefix(admin.URL, "http://")
	require.NoError(t, Ready(ctx, address))
	require.EqualValues(t, 3, asked.Load())
	require.ErrorIs(t, Ready(ctx, address), context.Canceled)
	admin.Close()
	require.ErrorContains(t, Ready(t.Context(), address), "does not become ready")
}
