package control

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/engine"
	"github.com/corelane/corelane/pool"
)

// checked sends everything below /o to an origin that is asked how it is.
func checked(health string) string {
	return `
services: [{name: origin, endpoints: [{address: "ORIGIN"}], health: {active: {path: /healthz, interval: 10ms, rise: 1, fall: 1}` + health + `}}]
routes: [{id: forward, match: {prefix: /o}, service: origin}]
`
}

// patient is an origin with a state of health.
type patient struct {
	sick atomic.Bool
	rig  *rig
}

func newPatient(t *testing.T, health string) *patient {
	p := new(patient)
	p.rig = serve(t, checked(health), func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" && p.sick.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		ok(w, r)
	})
	return p
}

// is waits until the endpoint has a state of health.
func (p *patient) is(state string) endpointAnswer {
	p.rig.t.Helper()
	var answer servicesAnswer
	eventually(p.rig.t, state, func() bool {
		answer = servicesAnswer{}
		p.rig.admin(http.MethodGet, "/api/v1/services", "", &answer)
		return answer.Services[0].Endpoints[0].Health == state
	})
	return answer.Services[0].Endpoints[0]
}

func (r *rig) endpointPath() string {
	return "/api/v1/services/origin/endpoints/" + strings.TrimPrefix(r.origin.URL, "http://")
}

func (r *rig) metrics() string {
	_, text := r.do(http.MethodGet, "http://"+r.node.AdminAddress()+"/metrics", "")
	return text
}

func TestAnUnhealthyEndpointGetsNothing(t *testing.T) {
	p := newPatient(t, "")
	assert.Empty(t, p.is("healthy").LeftOut)
	status, _ := p.rig.get("/o")
	require.Equal(t, 200, status)

	p.sick.Store(true)
	assert.Equal(t, "unhealthy", p.is("unhealthy").LeftOut)
	status, body := p.rig.get("/o")
	assert.Equal(t, 503, status)
	assert.Contains(t, body, "no_endpoint")
	eventually(t, "no idle connection", func() bool { return p.is("unhealthy").Connections == 0 })
	text := p.rig.metrics()
	assert.Contains(t, text, `corelane_endpoints{service="origin",state="unhealthy"} 1`)
	assert.Contains(t, text, `corelane_endpoints{service="origin",state="healthy"} 0`)
	assert.Regexp(t, `corelane_health_probes_total\{result="status"\} [1-9]`, text)

	p.sick.Store(false)
	p.is("healthy")
	status, _ = p.rig.get("/o")
	assert.Equal(t, 200, status)
	for _, line := range []string{`"msg":"an endpoint is unhealthy"`, `"reason":"status 503"`, `"msg":"an endpoint is healthy"`, `"was":"unhealthy"`} {
		assert.Contains(t, p.rig.log.String(), line)
	}
}

func TestAPanicLetsTrafficFlow(t *testing.T) {
	p := newPatient(t, ", panic: 50")
	p.is("healthy")
	p.sick.Store(true)
	p.is("unhealthy")
	status, _ := p.rig.get("/o")
	assert.Equal(t, 200, status)
	var answer servicesAnswer
	p.rig.admin(http.MethodGet, "/api/v1/services", "", &answer)
	assert.True(t, answer.Services[0].Panic)
	assert.Zero(t, answer.Services[0].Usable)
	text := p.rig.metrics()
	assert.Contains(t, text, `corelane_service_panic{service="origin"} 1`)
	assert.Contains(t, text, `corelane_upstream_panic_choices_total 1`)
	eventually(t, "the line", func() bool { return strings.Contains(p.rig.log.String(), "so their health is ignored") })
	p.sick.Store(false)
	eventually(t, "its end", func() bool { return strings.Contains(p.rig.log.String(), "health counts again") })
	assert.Contains(t, p.rig.metrics(), `corelane_service_panic{service="origin"} 0`)
}

func TestEndpointAPI(t *testing.T) {
	p := newPatient(t, "")
	p.is("healthy")
	p.sick.Store(true)
	p.is("unhealthy")
	var d endpointDetail
	require.Equal(t, 200, p.rig.admin(http.MethodGet, p.rig.endpointPath(), "", &d))
	assert.Equal(t, "origin", d.Service)
	assert.Equal(t, "unhealthy", d.Endpoint.Health)
	assert.Equal(t, &checkAnswer{
		Kind: "http", Path: "/healthz", Interval: 10, Timeout: 1000, Rise: 1, Fall: 1, Expect: "200-399",
	}, d.Check)
	require.NotNil(t, d.LastProbe)
	assert.Equal(t, "status", d.LastProbe.Result)
	assert.Equal(t, "status 503", d.LastProbe.Reason)
	assert.Positive(t, d.LastProbe.Latency)
	assert.Positive(t, d.Fails)
	require.Len(t, d.History, 2)
	assert.Equal(t, "healthy", d.History[0].State)
	assert.Equal(t, "unhealthy", d.History[1].State)
	assert.False(t, d.History[1].At.Before(d.History[0].At))

	for _, path := range []string{"origin/endpoints/127.0.0.1:1", "origin/endpoints/nobody", "nobody/endpoints/127.0.0.1:1"} {
		assert.Equal(t, 404, p.rig.admin(http.MethodGet, "/api/v1/services/"+path, "", nil), path)
	}
	assert.Equal(t, 405, p.rig.admin(http.MethodPost, p.rig.endpointPath(), testToken, nil))
}

func TestDrainAndUndrain(t *testing.T) {
	r := serve(t, routes, ok)
	r.get("/o")
	assert.Equal(t, 401, r.admin(http.MethodPost, r.endpointPath()+"/drain", "", nil))
	assert.Equal(t, 404, r.admin(http.MethodPost, "/api/v1/services/origin/endpoints/127.0.0.1:1/drain", testToken, nil))
	assert.Equal(t, 404, r.admin(http.MethodPost, "/api/v1/services/origin/endpoints/127.0.0.1:1/undrain", testToken, nil))
	var o overridesAnswer
	r.admin(http.MethodGet, "/api/v1/overrides", "", &o)
	assert.Equal(t, overridesAnswer{Overrides: []overrideAnswer{}}, o)

	var d endpointDetail
	for range 2 { // the second changes nothing
		require.Equal(t, 200, r.admin(http.MethodPost, r.endpointPath()+"/drain", testToken, &d))
		assert.True(t, d.Endpoint.Draining)
		assert.Equal(t, "draining", d.Endpoint.LeftOut)
		assert.Nil(t, d.Check)
		assert.Len(t, d.History, 1)
	}
	status, _ := r.get("/o")
	assert.Equal(t, 503, status)
	eventually(t, "no idle connection", func() bool {
		r.admin(http.MethodGet, r.endpointPath(), "", &d)
		return d.Endpoint.Connections == 0
	})
	assert.Contains(t, r.metrics(), `corelane_endpoints{service="origin",state="draining"} 1`)
	r.admin(http.MethodGet, "/api/v1/overrides", "", &o)
	require.Len(t, o.Overrides, 1)
	assert.Equal(t, "drain", o.Overrides[0].Kind)
	assert.Equal(t, "origin", o.Overrides[0].Service)
	assert.Equal(t, strings.TrimPrefix(r.origin.URL, "http://"), o.Overrides[0].Endpoint)
	assert.WithinDuration(t, time.Now(), o.Overrides[0].Since, patience)

	for range 2 {
		require.Equal(t, 200, r.admin(http.MethodPost, r.endpointPath()+"/undrain", testToken, &d))
		assert.False(t, d.Endpoint.Draining)
		assert.Len(t, d.History, 2)
	}
	status, _ = r.get("/o")
	assert.Equal(t, 200, status)
	o = overridesAnswer{}
	r.admin(http.MethodGet, "/api/v1/overrides", "", &o)
	assert.Empty(t, o.Overrides)
	assert.Contains(t, r.log.String(), `"msg":"an endpoint drains"`)
	assert.Contains(t, r.log.String(), `"msg":"an endpoint is back"`)
}

// A drain lasts until a publish that changes the service, not any other.
func TestDrainsEndWithTheirService(t *testing.T) {
	r := serve(t, routes, ok)
	var d endpointDetail
	drain := func() {
		require.Equal(t, 200, r.admin(http.MethodPost, r.endpointPath()+"/drain", testToken, &d))
	}
	publish := func(sections string) {
		var answer reloadAnswer
		r.write(r.document(sections))
		require.Equal(t, 200, r.admin(http.MethodPost, "/api/v1/reload", testToken, &answer))
	}
	draining := func() bool {
		r.admin(http.MethodGet, r.endpointPath(), "", &d)
		return d.Endpoint.Draining
	}
	drain()
	publish(strings.Replace(routes, "body: hello", "body: other", 1))
	assert.True(t, draining(), "a route has changed")
	publish(strings.Replace(routes, `"ORIGIN"}]`, `"ORIGIN", weight: 2}]`, 1))
	assert.False(t, draining(), "its service has changed")
	drain()
	publish(strings.NewReplacer("origin", "renamed").Replace(routes))
	publish(routes)
	assert.False(t, draining(), "its service was gone")
	assert.Contains(t, r.log.String(), `"reason":"a change of its service"`)
}

func TestAddressesInPathsAreEscaped(t *testing.T) {
	const socket = "unix:/run/no where.sock"
	r := serve(t, `
services: [{name: a/b, endpoints: [{address: "`+socket+`"}, {address: "[::1]:80"}]}]
routes: []
`, ok)
	for _, address := range []string{socket, "[::1]:80", "[0:0::1]:80"} {
		var d endpointDetail
		path := "/api/v1/services/a%2Fb/endpoints/" + url.PathEscape(address)
		require.Equal(t, 200, r.admin(http.MethodGet, path, "", &d), address)
		assert.Equal(t, "a/b", d.Service)
	}
}

func TestEjectionsAreLoggedAndKept(t *testing.T) {
	r := serve(t, `
services:
  - name: origin
    endpoints: [{address: "ORIGIN"}, {address: "127.0.0.1:1"}]
    health: {passive: {consecutive_failures: 1, eject: 60s}}
    slow_start: 60s
routes: [{id: forward, match: {prefix: /o}, service: origin}]
`, ok)
	var d endpointDetail
	eventually(t, "the ejection", func() bool {
		r.get("/o")
		r.admin(http.MethodGet, "/api/v1/services/origin/endpoints/127.0.0.1:1", "", &d)
		return len(d.History) > 0
	})
	assert.Equal(t, "ejected", d.History[0].State)
	assert.Contains(t, d.History[0].Reason, "for 1m0s")
	assert.Equal(t, "ejected", d.Endpoint.LeftOut)
	assert.EqualValues(t, 1, d.Endpoint.Ejections)
	require.NotNil(t, d.Endpoint.EjectedUntil)
	assert.InDelta(t, 0.1, d.Endpoint.Share, 1e-9)
	assert.Contains(t, r.log.String(), "an endpoint was ejected, its requests failed")
	assert.Contains(t, r.metrics(), `corelane_endpoints{service="origin",state="ejected"} 1`)
}

func TestWhoJoinsStartsSlowly(t *testing.T) {
	document := func(more string) string {
		return fmt.Sprintf(`
services: [{name: origin, endpoints: [{address: "ORIGIN"}%s], slow_start: 1h, warm_up: 1h}]
routes: [{id: forward, match: {prefix: /o}, service: origin}]
`, more)
	}
	r := serve(t, document(""), ok)
	r.write(r.document(document(`, {address: "127.0.0.1:1"}`)))
	require.Equal(t, 200, r.admin(http.MethodPost, "/api/v1/reload", testToken, nil))
	var answer servicesAnswer
	r.admin(http.MethodGet, "/api/v1/services", "", &answer)
	old, fresh := answer.Services[0].Endpoints[0], answer.Services[0].Endpoints[1]
	assert.False(t, old.WarmingUp)
	assert.InDelta(t, 1, old.Share, 1e-9)
	assert.True(t, fresh.WarmingUp)
	assert.Zero(t, fresh.Share)
	assert.Equal(t, "warming_up", fresh.LeftOut)
	for range 50 {
		status, _ := r.get("/o")
		require.Equal(t, 200, status)
	}
	assert.Contains(t, r.metrics(), `corelane_endpoints{service="origin",state="warming_up"} 1`)
}

func TestEjectionsInTheEventLog(t *testing.T) {
	e, err := pool.NewRegistry().Endpoint("s", "127.0.0.1:1", "")
	require.NoError(t, err)
	var told []int64
	l := newEventLog(nil, quiet())
	l.ejected = func(_ *pool.Endpoint, nanos int64) { told = append(told, nanos) }
	for i := range int64(3) {
		l.note(&engine.Event{Kind: engine.EventEjected, Name: e.Address(), Endpoint: e, Nanos: i}, time.Unix(1000, 0))
	}
	assert.Equal(t, []int64{0, 1, 2}, told, "also of those that are not logged")
	assert.Equal(t, "ejected", eventName(engine.EventEjected))
	assert.Equal(t, "endpoint", subject(engine.EventEjected))
	assert.Equal(t, "filter", subject(engine.EventFilterPanic))
}
