package extauth_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/control"
)

// start runs a whole gateway with the filter in front of every request.
func start(t *testing.T, auth, origin string) (address string) {
	t.Helper()
	dir := t.TempDir()
	text := fmt.Sprintf(`
engine: {loops: 2, pin: none}
admin: {address: 127.0.0.1:0}
log: {access: {path: none}}
listeners: [{name: web, address: 127.0.0.1:0}]
services:
  - {name: auth, endpoints: [{address: %q}]}
  - {name: origin, endpoints: [{address: %q}]}
routes:
  - id: all
    match: {prefix: /}
    service: origin
    filters: [{example_ext_auth: {service: auth, forward: [Authorization], accept: [X-User-Id]}}]
`, host(auth), host(origin))
	path := filepath.Join(dir, "corelane.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	n, err := control.Start(t.Context(), control.Options{Path: path, Cache: dir, Stderr: io.Discard, Stdout: io.Discard})
	require.NoError(t, err)
	t.Cleanup(n.Stop)
	return "http://" + n.Addresses()[0]
}

func host(url string) string { return strings.TrimPrefix(url, "http://") }

// TestGateway: many clients at once, each gets what the service says of it.
func TestGateway(t *testing.T) {
	var asked atomic.Int64
	auth := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		name, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		w.Header().Set("X-User-Id", name)
	}))
	defer auth.Close()
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s says %s", r.Header.Get("X-User-Id"), body)
	}))
	defer origin.Close()
	gateway := start(t, auth.URL, origin.URL)

	status, body := post(t, gateway, "", "hi")
	require.Equal(t, "401 who are you?\n", fmt.Sprint(status, " ", body))
	const clients, requests = 8, 25
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			for n := range requests {
				status, body := post(t, gateway, fmt.Sprintf("user-%d", i), fmt.Sprint(n))
				if status != http.StatusOK || body != fmt.Sprintf("user-%d says %d", i, n) {
					t.Errorf("client %d, request %d: %d %q", i, n, status, body)
					return
				}
			}
		})
	}
	all.Wait()
	require.EqualValues(t, clients*requests+1, asked.Load())
	auth.Close()
	status, body = post(t, gateway, "ada", "hi")
	require.Equal(t, http.StatusServiceUnavailable, status, "nobody passes unasked")
	require.Contains(t, body, "filter_unavailable")
}

func post(t *testing.T, url, user, body string) (int, string) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	if user != "" {
		r.Header.Set("Authorization", "Bearer "+user)
	}
	r.Header.Set("X-User-Id", "forged")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return resp.StatusCode, string(b)
}
