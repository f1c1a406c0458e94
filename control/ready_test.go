package control

import (
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// keeping forwards everything to an endpoint to which connections are kept.
const keeping = `
services: [{name: kept, endpoints: [{address: "KEPT"}], timeouts: {connect: 60s}, pool: {min_idle: 3}}]
routes: [{id: all, match: {prefix: /}, service: kept}]
`

// silent returns an address that does not answer SYNs: its backlog is full.
func silent(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { ln.Close() })
	raw, err := ln.(*net.TCPListener).SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Control(func(fd uintptr) { err = unix.Listen(int(fd), 0) }))
	require.NoError(t, err)
	for range 3 {
		c, err := net.DialTimeout("tcp", ln.Addr().String(), 100*time.Millisecond)
		if err != nil {
			break
		}
		t.Cleanup(func() { c.Close() })
	}
	return ln.Addr().String()
}

func TestNodeIsReadyWhenItsConnectionsAreOpen(t *testing.T) {
	var requests atomic.Int64
	r := serve(t, strings.ReplaceAll(keeping, "KEPT", "ORIGIN"), func(http.ResponseWriter, *http.Request) { requests.Add(1) })
	eventually(t, "ready", func() bool { return r.admin(http.MethodGet, "/readyz", "", nil) == 200 })
	var services servicesAnswer
	require.Equal(t, 200, r.admin(http.MethodGet, "/api/v1/services", "", &services))
	require.EqualValues(t, 3, services.Services[0].Endpoints[0].Connections)
	require.Zero(t, requests.Load())
}

func TestNodeIsNotReadyWhileItsConnectionsAreBeingOpened(t *testing.T) {
	r := serve(t, strings.ReplaceAll(keeping, "KEPT", silent(t)), func(http.ResponseWriter, *http.Request) {})
	var ready readiness
	require.Equal(t, 503, r.admin(http.MethodGet, "/readyz", "", &ready))
	require.Equal(t, "starting", ready.Reason)
	require.Contains(t, ready.Message, "pool.min_idle")
	require.Contains(t, ready.Message, "endpoint 127.0.0.1:", "whoever waits is told for whom")
}
