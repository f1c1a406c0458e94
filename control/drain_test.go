package control

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// gate is an origin whose answers wait until the test opens it.
type gate struct {
	arrived chan struct{}
	open    chan struct{}
}

func newGate() *gate { return &gate{arrived: make(chan struct{}, 8), open: make(chan struct{})} }

func (g *gate) serve(w http.ResponseWriter, r *http.Request) {
	g.arrived <- struct{}{}
	select {
	case <-g.open:
		ok(w, r)
	case <-r.Context().Done():
	}
}

// slowRequest sends a request that the origin holds, and returns the way to
// read its answer.
func (r *rig) slowRequest(g *gate) (net.Conn, *bufio.Reader) {
	r.t.Helper()
	c, err := net.Dial("tcp", r.node.Addresses()[0])
	require.NoError(r.t, err)
	r.t.Cleanup(func() { c.Close() })
	fmt.Fprintf(c, "GET /o/slow HTTP/1.1\r\nHost: x\r\n\r\n")
	<-g.arrived
	return c, bufio.NewReader(c)
}

func TestDrainLetsExchangesEnd(t *testing.T) {
	g := newGate()
	r := serve(t, routes, g.serve)
	_, answer := r.slowRequest(g)
	r.signals <- syscall.SIGTERM
	eventually(t, "not ready", func() bool {
		var ready readiness
		return r.admin(http.MethodGet, "/readyz", "", &ready) == 503 && ready.Reason == "draining"
	})
	eventually(t, "nobody new", func() bool {
		c, err := net.Dial("tcp", r.node.Addresses()[0])
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	assert.Equal(t, 200, r.admin(http.MethodGet, "/healthz", "", nil))
	close(g.open)
	res, err := http.ReadResponse(answer, nil)
	require.NoError(t, err)
	assert.Equal(t, 200, res.StatusCode)
	assert.True(t, res.Close, "the last answer of its connection says so")
	r.ended()
	assert.Contains(t, r.log.String(), `"msg":"drained"`)
	assert.Contains(t, r.out.String(), `"path":"/o/slow"`, "the record of the last exchange is written")
}

func TestDrainHasADeadline(t *testing.T) {
	g := newGate()
	r := newRig(t, g.serve)
	r.write(strings.Replace(r.document(routes), "drain_timeout: 20s", "drain_timeout: 50ms", 1))
	n, err := r.start()
	require.NoError(t, err)
	r.node = n
	_, answer := r.slowRequest(g)
	r.signals <- syscall.SIGINT
	n.Serve(t.Context(), r.signals)
	res, err := http.ReadResponse(answer, nil)
	require.NoError(t, err)
	assert.Equal(t, 503, res.StatusCode, "the exchange was given up")
	assert.Contains(t, r.log.String(), "the drain's time is up")
}

func TestSecondSignalCuts(t *testing.T) {
	g := newGate()
	r := serve(t, routes, g.serve)
	r.slowRequest(g)
	r.signals <- syscall.SIGTERM
	r.signals <- syscall.SIGHUP // not a reason to stop
	r.signals <- syscall.SIGTERM
	r.ended()
	assert.Contains(t, r.log.String(), "stopping at once")
	assert.NotContains(t, r.log.String(), `"msg":"reloaded"`)
}
