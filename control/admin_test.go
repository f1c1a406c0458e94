package control

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIsLoopbackHost(t *testing.T) {
	for _, host := range []string{"localhost", "LocalHost:9900", "127.0.0.1", "127.9.8.7:1", "[::1]:9900", "[::1]", "::1", "::ffff:127.0.0.1"} {
		assert.True(t, isLoopbackHost(host), host)
	}
	for _, host := range []string{"", "localhost.evil.com", "evil.com:9900", "10.0.0.1:9900", "0.0.0.0", "[::]:1", "127.0.0.1.evil.com", "localhost@evil.com"} {
		assert.False(t, isLoopbackHost(host), host)
	}
}

// testGuard is the guard of a server bound to an address.
func testAdmin(t *testing.T, address string) *admin {
	t.Helper()
	tcp, err := net.ResolveTCPAddr("tcp", address)
	require.NoError(t, err)
	a := &admin{guard: newGuard(tcp, "right"), calls: map[string]call{}, below: map[string]call{}}
	say := func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, "done") }
	a.get("/read", say)
	a.change("/change", say)
	a.addProfiles()
	return a
}

func TestAdminLetsIn(t *testing.T) {
	const local, public = "127.0.0.1:9900", "192.0.2.1:9900"
	tests := []struct {
		name, bound, method, path, host, authorization string
		status                                         int
		want                                           string
	}{
		{"read", local, "GET", "/read", local, "", 200, "done"},
		{"head", local, "HEAD", "/read", local, "", 200, ""},
		{"by name", local, "GET", "/read", "localhost:9900", "", 200, "done"},
		{"foreign name", local, "GET", "/read", "rebound.example:9900", "", 421, "foreign_host"},
		{"foreign name with the token", local, "POST", "/change", "rebound.example", "Bearer right", 421, "foreign_host"},
		{"no name", local, "GET", "/read", "", "", 421, "foreign_host"},
		{"change without token", local, "POST", "/change", local, "", 401, "unauthenticated"},
		{"change with another token", local, "POST", "/change", local, "Bearer wrong", 401, "unauthenticated"},
		{"change with another scheme", local, "POST", "/change", local, "Basic right", 401, "unauthenticated"},
		{"change with an empty token", local, "POST", "/change", local, "Bearer ", 401, "unauthenticated"},
		{"change", local, "POST", "/change", local, "bearer right", 200, "done"},
		{"wrong method", local, "GET", "/change", local, "Bearer right", 405, "method_not_allowed"},
		{"wrong method to read", local, "DELETE", "/read", local, "", 405, "method_not_allowed"},
		{"unknown", local, "GET", "/nothing", local, "", 404, "not_found"},
		{"public without token", public, "GET", "/read", "any.example", "", 401, "unauthenticated"},
		{"public, unknown without token", public, "GET", "/nothing", "any.example", "", 401, "unauthenticated"},
		{"public", public, "GET", "/read", "any.example", "Bearer right", 200, "done"},
		{"profiles", local, "GET", "/debug/pprof/cmdline", local, "", 200, ""},
		{"index of profiles", local, "GET", "/debug/pprof/", local, "", 200, "goroutine"},
		{"one profile", local, "GET", "/debug/pprof/goroutine?debug=1", local, "", 200, "goroutine profile"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := httptest.NewRequest(tt.method, "http://x"+tt.path, nil)
			req.Host = tt.host
			req.Header.Set("Authorization", tt.authorization)
			w := httptest.NewRecorder()
			testAdmin(t, tt.bound).ServeHTTP(w, req)
			assert.Equal(t, tt.status, w.Code)
			assert.Contains(t, w.Body.String(), tt.want)
			if w.Code >= 400 {
				assert.Equal(t, "application/json", w.Header().Get("Content-Type"))
			}
			switch tt.status {
			case 401:
				assert.Equal(t, "Bearer", w.Header().Get("WWW-Authenticate"))
			case 405:
				assert.NotEmpty(t, w.Header().Get("Allow"))
			}
		})
	}
}

func TestAdminRefusesToBeOpen(t *testing.T) {
	_, err := listenAdmin("0.0.0.0:0", "", quiet())
	assert.ErrorContains(t, err, "admin.token must be set")
	_, err = listenAdmin("no address", "t", quiet())
	assert.ErrorContains(t, err, "admin server")
}

func TestAdminBoundsHeads(t *testing.T) {
	r := serve(t, routes, ok)
	req, err := http.NewRequest(http.MethodGet, "http://"+r.node.AdminAddress()+"/healthz", nil)
	require.NoError(t, err)
	req.Header.Set("X-Long", strings.Repeat("x", 64<<10))
	res, err := r.client.Do(req)
	require.NoError(t, err)
	res.Body.Close()
	assert.Equal(t, http.StatusRequestHeaderFieldsTooLarge, res.StatusCode)
}
