package e2e_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ward is an origin that is asked at /healthz how it is.
type ward struct {
	*httptest.Server
	sick, hangs atomic.Bool
	served      atomic.Int64 // requests other than checks
	asked       atomic.Int64
}

func newWard(t *testing.T) *ward {
	w := new(ward)
	w.Server = httptest.NewServer(w)
	t.Cleanup(w.Close)
	return w
}

// ServeHTTP implements http.Handler.
func (w *ward) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/healthz" {
		w.served.Add(1)
		fmt.Fprint(out, "ok")
		return
	}
	w.asked.Add(1)
	switch {
	case w.hangs.Load():
		<-r.Context().Done()
	case w.sick.Load():
		out.WriteHeader(http.StatusServiceUnavailable)
	}
}

func (w *ward) address() string { return w.Listener.Addr().String() }

// wards is a service of some of them.
func wards(more string, all ...*ward) string {
	var endpoints []string
	for _, w := range all {
		endpoints = append(endpoints, fmt.Sprintf("{address: %q}", w.address()))
	}
	return fmt.Sprintf(head+`
engine: {loops: 2}
log: {access: {path: none}}
services:
  - name: ward
    endpoints: [%s]
    health: {active: {interval: 20ms, timeout: 100ms, rise: 2, fall: 2}%s}
routes: [{id: all, match: {prefix: /}, service: ward}]
`, strings.Join(endpoints, ", "), more)
}

// state is what the admin API tells of an endpoint.
func (p *program) state(w *ward) (s struct {
	Endpoint struct {
		Health      string
		Connections int
		Draining    bool
	}
	LastProbe struct{ Result string } `json:"last_probe"`
},
) {
	p.t.Helper()
	require.Equal(p.t, 200, p.ask(http.MethodGet, "/api/v1/services/ward/endpoints/"+w.address(), &s))
	return s
}

func (p *program) awaitHealth(w *ward, health string) {
	p.t.Helper()
	p.await(health, func() bool { return p.state(w).Endpoint.Health == health })
}

// traffic waits for a number of requests more at an origin.
func (p *program) traffic(w *ward) {
	p.t.Helper()
	before := w.served.Load()
	p.await("traffic", func() bool { return w.served.Load() > before+100 })
}

func TestUnhealthyUnderLoad(t *testing.T) {
	stays, fails := newWard(t), newWard(t)
	p := start(t, wards("", stays, fails))
	p.awaitHealth(fails, "healthy")
	l := p.under("/")
	for range 3 {
		p.traffic(fails)
		fails.sick.Store(true)
		p.awaitHealth(fails, "unhealthy")
		p.await("no connection", func() bool { return p.state(fails).Endpoint.Connections == 0 })
		rest := fails.served.Load()
		p.traffic(stays)
		assert.Equal(t, rest, fails.served.Load(), "nobody goes there")
		fails.sick.Store(false)
		p.awaitHealth(fails, "healthy")
	}
	p.traffic(fails)
	l.end(t)
}

// It dies, and its checks find it before or after its requests do.
func TestCheckedEndpointDiesUnderLoad(t *testing.T) {
	stays, dies := newWard(t), newWard(t)
	p := start(t, wards("", stays, dies))
	l := p.under("/")
	p.traffic(dies)
	dies.CloseClientConnections()
	dies.Close()
	p.awaitHealth(dies, "unhealthy")
	p.traffic(stays)
	l.end(t)
}

func TestDrainUnderLoad(t *testing.T) {
	stays, leaves := newWard(t), newWard(t)
	p := start(t, wards("", stays, leaves))
	l := p.under("/")
	path := "/api/v1/services/ward/endpoints/" + leaves.address()
	for range 3 {
		p.traffic(leaves)
		require.Equal(t, 200, p.ask(http.MethodPost, path+"/drain", nil))
		p.await("no connection", func() bool { return p.state(leaves).Endpoint.Connections == 0 })
		rest := leaves.served.Load()
		p.traffic(stays)
		assert.Equal(t, rest, leaves.served.Load())
		require.Equal(t, 200, p.ask(http.MethodPost, path+"/undrain", nil))
	}
	p.traffic(leaves)
	l.end(t)
}

func TestAllUnhealthy(t *testing.T) {
	for panics, want := range map[string]int{"": 503, ", panic: 50": 200} {
		one, other := newWard(t), newWard(t)
		one.sick.Store(true)
		other.sick.Store(true)
		p := start(t, wards(panics, one, other))
		p.awaitHealth(one, "unhealthy")
		p.awaitHealth(other, "unhealthy")
		code, body := p.get("/")
		assert.Equal(t, want, code)
		if want == 503 {
			assert.Contains(t, body, "no_endpoint")
		}
	}
}

// A health endpoint that hangs is unhealthy, and the others are asked as before.
func TestHealthEndpointHangs(t *testing.T) {
	good, hangs := newWard(t), newWard(t)
	hangs.hangs.Store(true)
	p := start(t, wards("", good, hangs))
	p.awaitHealth(hangs, "unhealthy")
	assert.Equal(t, "timeout", p.state(hangs).LastProbe.Result)
	before := good.asked.Load()
	p.await("checks of the other", func() bool { return good.asked.Load() > before+10 })
	assert.Equal(t, "healthy", p.state(good).Endpoint.Health)
	code, _ := p.get("/")
	assert.Equal(t, 200, code)
	hangs.hangs.Store(false)
	p.awaitHealth(hangs, "healthy")
}
