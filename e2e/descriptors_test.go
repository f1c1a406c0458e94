package e2e_test

import (
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Out of descriptors the gateway turns clients away, one after the other, and
// serves again as soon as there are some.
func TestDescriptorsExhausted(t *testing.T) {
	p := newProgram(t, head+"engine: {loops: 1}\n"+hello)
	p.command("sh", "-c", `ulimit -n 64; exec "$0" run -c "$1"`, binary, p.config())
	p.await("serving", p.serving)

	var done sync.WaitGroup
	turnedAway := make(chan struct{}, 1)
	conns := make([]net.Conn, 0, 100)
	for range cap(conns) {
		c, err := net.Dial("tcp", p.web)
		require.NoError(t, err)
		conns = append(conns, c)
		done.Go(func() {
			if _, err := c.Read(make([]byte, 1)); err != nil {
				select {
				case turnedAway <- struct{}{}:
				default:
				}
			}
		})
	}
	select {
	case <-turnedAway:
	case <-time.After(patience):
		t.Error("nobody was turned away")
	}
	for _, c := range conns {
		c.Close()
	}
	done.Wait()

	code, _ := p.get("/hello")
	assert.Equal(t, 200, code)
	code, metrics := p.call(http.MethodGet, "http://"+p.admin+"/metrics")
	require.Equal(t, 200, code)
	assert.Regexp(t, regexp.MustCompile(`(?m)^corelane_accept_errors_total [1-9]`), metrics)
	assert.False(t, strings.Contains(p.stderr.String(), "panic"))
}
