package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/sdk/frame"
)

// Connections that carry many requests are opened ahead of need as others are.
func TestConnectionsOfFramesAreOpenAhead(t *testing.T) {
	s := serveFrames(t, echoes)
	p := start(t, callsHead+`
engine: {loops: 2}
services: [{name: orders, protocol: frame, pool: {min_idle: 2}, endpoints: [{address: "`+s.address+`"}]}]
routes: [{id: call, match: {rpc: {interface: Order}}, service: orders}]
`)
	p.await("ready", func() bool { return p.ask(http.MethodGet, "/readyz", nil) == 200 })
	assert.Equal(t, 2, p.services()[0].Endpoints[0].Connections)
	c, ctx := frameClient(t, p.listeners[1]), soon(t)
	var clients sync.WaitGroup
	for range 32 {
		clients.Go(func() {
			r, err := c.Call(ctx, &frame.Message{Call: frame.Method("Order", "create"), Body: []byte("body")})
			assert.Equal(t, "200 body", answer(r, err))
		})
	}
	clients.Wait()
	assert.Equal(t, 2, p.services()[0].Endpoints[0].Connections, "they are used, and there are no more")
	assert.EqualValues(t, 2, p.metric("corelane_upstream_dialed_total"))
}

// With one connection in all, two loops take turns, and nobody fails for it.
func TestLoopsShareOneConnectionOfFrames(t *testing.T) {
	s := serveFrames(t, echoes)
	p := start(t, callsHead+`
engine: {loops: 2}
log: {access: {path: none}}
services: [{name: orders, protocol: frame, pool: {max_connections: 1, wait: 20s}, endpoints: [{address: "`+s.address+`"}]}]
routes: [{id: call, match: {rpc: {interface: Order}}, service: orders}]
`)
	l := underCalls(t, p.listeners[1], frame.Method("Order", "create"))
	for range 5 {
		l.more(p)
		assert.LessOrEqual(t, p.services()[0].Endpoints[0].Connections, 1)
	}
	l.end(t)
}

// A connection that no request needs is given up for another loop.
func TestIdleConnectionOfFramesIsGivenUp(t *testing.T) {
	s := serveFrames(t, echoes)
	p := start(t, callsHead+`
engine: {loops: 2}
services: [{name: orders, protocol: frame, pool: {max_connections: 1}, endpoints: [{address: "`+s.address+`"}]}]
routes: [{id: call, match: {rpc: {interface: Order}}, service: orders}]
`)
	ctx := soon(t)
	for range 8 {
		c := frameClient(t, p.listeners[1])
		r, err := c.Call(ctx, &frame.Message{Call: frame.Method("Order", "create"), Body: []byte("body")})
		assert.Equal(t, "200 body", answer(r, err))
	}
}

// The endpoint that got the call first never answers, and nobody notices.
func TestHedgedCalls(t *testing.T) {
	var arrived atomic.Int64
	gaveUp := make(chan struct{}, 1)
	stuck := frame.HandlerFunc(func(ctx context.Context, _ *frame.Request, w *frame.Responder) error {
		if arrived.Add(1) == 1 {
			<-ctx.Done()
			gaveUp <- struct{}{}
			return ctx.Err()
		}
		return w.Reply([]byte("answered"))
	})
	p := start(t, callsHead+fmt.Sprintf(`
services: [{name: pair, protocol: frame, endpoints: [{address: %q}, {address: %q}], retries: {hedge: 20ms}}]
routes: [{id: path, match: {prefix: /}, service: pair}]
`, serveFrames(t, stuck).address, serveFrames(t, stuck).address))
	c := frameClient(t, p.listeners[1])
	r, err := c.Call(soon(t), &frame.Message{Call: frame.Path("GET", "/")})
	assert.Equal(t, "200 answered", answer(r, err))
	<-gaveUp
	p.await("the record", func() bool { return strings.Contains(p.stdout.String(), `"retried":["hedge_won 127.0.0.1:`) })
	assert.EqualValues(t, 1, p.metric("corelane_hedges_won_total"))
}

// An answer that the route repeats is repeated for what is safe, and told for
// what is not.
func TestRetriedCalls(t *testing.T) {
	busy := serveFrames(t, frame.HandlerFunc(func(context.Context, *frame.Request, *frame.Responder) error {
		return frame.Errorf(503, "busy")
	}))
	p := start(t, callsHead+fmt.Sprintf(`
services: [{name: pair, protocol: frame, endpoints: [{address: %q}, {address: %q, priority: 1}], retries: {on: [503]}}]
routes:
  - {id: path, match: {prefix: /}, service: pair}
  - {id: call, match: {rpc: {interface: Order}}, service: pair}
`, busy.address, serveFrames(t, echoes).address))
	c, ctx := frameClient(t, p.listeners[1]), soon(t)
	r, err := c.Call(ctx, &frame.Message{Call: frame.Path("PUT", "/"), Body: []byte("body")})
	assert.Equal(t, "200 body", answer(r, err))
	r, err = c.Call(ctx, &frame.Message{Call: frame.Method("Order", "create"), Body: []byte("body")})
	assert.Equal(t, "503 busy", answer(r, err))
	assert.EqualValues(t, 1, p.metric(`corelane_retries_total{cause="status"}`))
}

// A check that only connects tells of services that speak anything.
func TestFrameServicesAreChecked(t *testing.T) {
	s := serveFrames(t, echoes)
	p := start(t, callsHead+`
services:
  - name: orders
    protocol: frame
    endpoints: [{address: "`+s.address+`"}]
    health: {active: {kind: tcp, interval: 10ms, timeout: 1s, rise: 1, fall: 1}}
routes: [{id: call, match: {rpc: {interface: Order}}, service: orders}]
`)
	health := func() string { return p.services()[0].Endpoints[0].Health }
	p.await("healthy", func() bool { return health() == "healthy" })
	c, ctx := frameClient(t, p.listeners[1]), soon(t)
	m := &frame.Message{Call: frame.Method("Order", "create"), Body: []byte("body")}
	r, err := c.Call(ctx, m)
	assert.Equal(t, "200 body", answer(r, err))
	s.stop()
	p.await("unhealthy", func() bool { return health() == "unhealthy" })
	r, err = c.Call(ctx, m)
	assert.Equal(t, "503 no_endpoint", answer(r, err))
	serveFramesAt(t, s.address, echoes)
	p.await("healthy again", func() bool { return health() == "healthy" })
	r, err = c.Call(ctx, m)
	assert.Equal(t, "200 body", answer(r, err))
}

// What operators see of calls.
func TestCallsAreShown(t *testing.T) {
	o := newOrders()
	s := serveFrames(t, o)
	p := startCalls(t, s.address)
	c, ctx := frameClient(t, p.listeners[1]), soon(t)
	_, err := c.Call(ctx, &frame.Message{Call: frame.Method("Order", "find"), Body: []byte("seven")})
	require.NoError(t, err)
	_, err = c.Call(ctx, &frame.Message{Call: frame.Method("Unknown", "find")})
	require.NoError(t, err)
	require.NoError(t, c.OneWay(ctx, &frame.Message{Call: frame.Key("order-key"), Body: []byte("note")}))
	<-o.notified
	p.get("/Order/find")

	waiting, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = c.Call(waiting, &frame.Message{Call: frame.Method("Order", "wait")})
	}()
	<-o.waiting
	e := p.services()[0].Endpoints[0]
	assert.Equal(t, 0, e.Idle)
	assert.Positive(t, e.Busy)
	assert.EqualValues(t, 1, p.metric("corelane_exchanges"))
	cancel()
	<-ended
	<-o.ended

	assert.EqualValues(t, 1, p.metric(`corelane_listener_info{listener="frames",protocol="frame"}`))
	assert.EqualValues(t, 1, p.metric(`corelane_service_info{protocol="frame",service="orders"}`))
	assert.EqualValues(t, 1, p.metric(`corelane_listener_connections{listener="frames"}`))
	assert.EqualValues(t, 1, p.metric(`corelane_requests_total{code_class="2xx",route="path"}`))
	assert.EqualValues(t, 1, p.metric(`corelane_requests_total{code_class="2xx",route="key"}`))
	assert.EqualValues(t, 1, p.metric(`corelane_reasons_total{reason="route_not_found"}`))
	p.await("the records", func() bool { return strings.Count(p.stdout.String(), "\n") == 5 })
	want := map[string]string{
		"call /Order/find": "POST frame  200 " + s.address,
		"call /Order/wait": "POST frame  499 " + s.address,
		" /Unknown/find":   "POST frame  404 ",
		"key order-key":    "POST frame  202 " + s.address,
		"path /Order/find": "GET  frame 200 " + s.address,
	}
	got := map[string]string{}
	for line := range strings.Lines(p.stdout.String()) {
		var r struct {
			Route, Method, Path, Protocol, Endpoint string
			ServiceProtocol                         string `json:"service_protocol"`
			Status                                  int
		}
		require.NoError(t, json.Unmarshal([]byte(line), &r), line)
		got[r.Route+" "+r.Path] = fmt.Sprint(r.Method, " ", r.Protocol, " ", r.ServiceProtocol, " ", r.Status, " ", r.Endpoint)
	}
	assert.Equal(t, want, got)

	out := p.explainCall(`{"rpc": {"interface": "Order", "method": "find"}, "listener": "frames"}`)
	assert.Equal(t, "call", out.Route)
	assert.Equal(t, "frame", out.Service.Protocol)
	assert.Equal(t, s.address, out.Service.Chosen)
	out = p.explainCall(`{"rpc": {"interface": "Order"}, "listener": "web"}`)
	assert.NotEmpty(t, out.Error)
}

// explained is the part of an explanation that tests look at.
type explained struct {
	Route   string
	Service struct{ Protocol, Chosen string }
	Error   string
}

func (p *program) explainCall(question string) (out explained) {
	p.t.Helper()
	res, err := p.client.Post("http://"+p.admin+"/api/v1/explain", "application/json", strings.NewReader(question))
	require.NoError(p.t, err)
	defer res.Body.Close()
	require.NoError(p.t, json.NewDecoder(res.Body).Decode(&out))
	return out
}
