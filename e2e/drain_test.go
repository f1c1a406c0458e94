package e2e_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// slowOrigin holds every request until the test lets it go on.
type slowOrigin struct {
	*httptest.Server
	arrived, goOn chan struct{}
}

func newSlowOrigin(t *testing.T) *slowOrigin {
	o := &slowOrigin{arrived: make(chan struct{}, 8), goOn: make(chan struct{})}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.arrived <- struct{}{}
		select {
		case <-o.goOn:
			_, _ = io.WriteString(w, "late, but whole")
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(o.Close)
	return o
}

// configuration sends everything to the origin.
func (o *slowOrigin) configuration(engine string) string {
	return head + "engine: " + engine + `
services: [{name: slow, endpoints: [{address: "` + strings.TrimPrefix(o.URL, "http://") + `"}]}]
routes: [{id: slow, match: {prefix: /}, service: slow}]
`
}

// begin sends a request and returns when the origin has it.
func (o *slowOrigin) begin(t *testing.T, p *program) *bufio.Reader {
	t.Helper()
	c, err := net.Dial("tcp", p.web)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	<-o.arrived
	return bufio.NewReader(c)
}

func TestDrainFinishesWhatRuns(t *testing.T) {
	o := newSlowOrigin(t)
	p := start(t, o.configuration("{drain_timeout: 30s}"))
	answer := o.begin(t, p)
	p.signal(syscall.SIGTERM)
	var ready struct{ Reason string }
	p.await("not ready", func() bool { return p.ask(http.MethodGet, "/readyz", &ready) == 503 })
	assert.Equal(t, "draining", ready.Reason)
	p.await("no new clients", func() bool {
		c, err := net.Dial("tcp", p.web)
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	close(o.goOn)
	res, err := http.ReadResponse(answer, nil)
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	assert.Equal(t, "late, but whole", string(body))
	assert.Equal(t, 0, p.exit())
	assert.Contains(t, p.stdout.String(), `"status":200`)
}

func TestDrainDeadline(t *testing.T) {
	o := newSlowOrigin(t)
	p := start(t, o.configuration("{drain_timeout: 100ms}"))
	answer := o.begin(t, p)
	p.signal(syscall.SIGTERM)
	assert.Equal(t, 0, p.exit())
	res, err := http.ReadResponse(answer, nil)
	require.NoError(t, err)
	assert.Equal(t, 503, res.StatusCode)
	assert.True(t, res.Close)
	assert.Contains(t, p.stderr.String(), "the drain's time is up")
}

func TestSecondSignal(t *testing.T) {
	o := newSlowOrigin(t)
	p := start(t, o.configuration("{drain_timeout: 0}"))
	o.begin(t, p)
	p.signal(syscall.SIGTERM)
	p.await("draining", func() bool { return strings.Contains(p.stderr.String(), `"msg":"draining"`) })
	p.signal(syscall.SIGINT)
	assert.Equal(t, 0, p.exit())
	assert.Contains(t, p.stderr.String(), "stopping at once")
}
