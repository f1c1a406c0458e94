package e2e_test

import (
	"context"
	"errors"
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

	"github.com/corelane/corelane/sdk/frame"
)

// underCalls starts clients that call until the end, sixteen on each connection; every
// answer must be 200.
func underCalls(t *testing.T, address string, call frame.Call) *load {
	t.Helper()
	l := new(load)
	for range clients / 16 {
		c := frameClient(t, address)
		for range 16 {
			l.done.Go(func() {
				for !l.stop.Load() {
					l.sent.Add(1)
					r, err := c.Call(context.Background(), &frame.Message{Call: call, Body: []byte("body")})
					if err != nil || r.Status != 200 || string(r.Body) != "body" {
						l.wrong.Store(answer(r, err), true)
					}
				}
			})
		}
	}
	return l
}

// more waits for another few hundred requests.
func (l *load) more(p *program) {
	p.t.Helper()
	before := l.sent.Load()
	p.await("traffic", func() bool { return l.sent.Load() > before+300 })
}

// echoes is a service that answers with what it gets.
var echoes = frame.HandlerFunc(func(_ context.Context, r *frame.Request, w *frame.Responder) error {
	body, err := r.Body.Bytes()
	if err != nil {
		return err
	}
	return w.Reply(body)
})

// Services are restarted one after the other: each says that it goes away, and
// not one request is lost, whether it may be repeated or not.
func TestServicesRestart(t *testing.T) {
	a, b := serveFrames(t, echoes), serveFrames(t, echoes)
	p := start(t, callsHead+fmt.Sprintf(`
engine: {loops: 2}
log: {access: {path: none}}
services: [{name: pair, protocol: frame, endpoints: [{address: %q}, {address: %q}], health: {passive: {eject: 50ms}}}]
routes: [{id: call, match: {rpc: {interface: Order}}, service: pair}]
`, a.address, b.address))
	l := underCalls(t, p.listeners[1], frame.Method("Order", "create"))
	for range 4 {
		for _, s := range []**frameService{&a, &b} {
			l.more(p)
			(*s).stop()
			l.more(p)
			*s = serveFramesAt(t, (*s).address, echoes)
			p.await("both are used again", func() bool { return p.services()[0].Usable == 2 })
		}
	}
	l.end(t)
	assert.GreaterOrEqual(t, p.metric("corelane_upstream_go_aways_total"), 4.0)
}

// Routes, endpoints and the protocol of the service change while calls run.
func TestConfigurationChangesUnderCalls(t *testing.T) {
	a, b := serveFrames(t, echoes), serveFrames(t, echoes)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }))
	defer web.Close()
	generation := func(i int, protocol string, endpoints ...string) string {
		text := callsHead + "engine: {loops: 2}\nlog: {access: {path: none}}\nservices:\n  - name: orders\n    protocol: " + protocol + "\n    endpoints:\n"
		for _, e := range endpoints {
			text += fmt.Sprintf("      - {address: %q}\n", e)
		}
		return text + fmt.Sprintf(`
routes:
  - {id: call, match: {rpc: {interface: Order}}, service: orders}
  - {id: new-%d, match: {rpc: {interface: New, method: n%d}}, service: orders}
`, i, i)
	}
	p := start(t, generation(0, "frame", a.address))
	c, ctx := frameClient(t, p.listeners[1]), soon(t)
	l := underCalls(t, p.listeners[1], frame.Method("Order", "create"))
	page := strings.TrimPrefix(web.URL, "http://")
	for i := 1; i <= 20; i++ {
		next := [...]string{
			generation(i, "frame", a.address, b.address), generation(i, "frame", b.address),
			generation(i, "http", page), generation(i, "frame", a.address),
		}[i%4]
		p.write(next)
		require.Equal(t, 200, p.ask(http.MethodPost, "/api/v1/reload", nil))
		r, err := c.Call(ctx, &frame.Message{Call: frame.Method("New", fmt.Sprint("n", i))})
		require.NoError(t, err)
		require.Equal(t, 200, r.Status, "the new route is served")
		r, err = c.Call(ctx, &frame.Message{Call: frame.Method("New", fmt.Sprint("n", i-1))})
		require.NoError(t, err)
		require.Equal(t, 404, r.Status, "the old route is not")
		l.more(p)
	}
	l.end(t)
	assert.Equal(t, uint64(21), p.status().Generation)
	assert.Equal(t, "frame", p.services()[0].Protocol)
}

// One endpoint keeps its address and changes what it speaks, there and back, like
// one behind a port that is handed over.
func TestProtocolOfAnEndpointChanges(t *testing.T) {
	s := serveFrames(t, echoes)
	address := s.address
	configuration := func(protocol string) string {
		return callsHead + `
services: [{name: orders, protocol: ` + protocol + `, endpoints: [{address: "` + address + `"}]}]
routes: [{id: call, match: {rpc: {interface: Order}}, service: orders}]
`
	}
	p := start(t, configuration("frame"))
	c, ctx := frameClient(t, p.listeners[1]), soon(t)
	call := func() string {
		return answer(c.Call(ctx, &frame.Message{Call: frame.Method("Order", "create"), Body: []byte("body")}))
	}
	require.Equal(t, "200 body", call())
	s.stop()
	web := serveWebAt(t, address)
	p.write(configuration("http"))
	require.Equal(t, 200, p.ask(http.MethodPost, "/api/v1/reload", nil))
	require.Equal(t, "200 http body", call())
	web.CloseClientConnections()
	web.Close()
	serveFramesAt(t, address, echoes)
	p.write(configuration("frame"))
	require.Equal(t, 200, p.ask(http.MethodPost, "/api/v1/reload", nil))
	require.Equal(t, "200 body", call())
}

// SIGTERM under load: clients are told to go, and everything that was taken is
// answered. What was not is for another gateway, as the client can tell.
func TestDrainUnderCalls(t *testing.T) {
	s := serveFrames(t, echoes)
	configuration := callsHead + `
engine: {loops: 2, drain_timeout: 30s}
log: {access: {path: none}}
services: [{name: orders, protocol: frame, endpoints: [{address: "` + s.address + `"}]}]
routes: [{id: call, match: {rpc: {interface: Order}}, service: orders}]
`
	p := start(t, configuration)
	l := new(load)
	for range 4 {
		c := frameClient(t, p.listeners[1])
		for range 8 {
			l.done.Go(func() {
				for {
					r, err := c.Call(context.Background(), &frame.Message{Call: frame.Method("Order", "create"), Body: []byte("body")})
					if goneAway(r, err) {
						return
					}
					l.sent.Add(1)
					if err != nil || r.Status != 200 || string(r.Body) != "body" {
						l.wrong.Store(answer(r, err), true)
						return
					}
				}
			})
		}
	}
	idle := dialWire(t, p.listeners[1])
	l.more(p)
	p.signal(syscall.SIGTERM)
	told := make([]byte, 4)
	_, err := io.ReadFull(idle.in, told)
	require.NoError(t, err)
	assert.Equal(t, "CL\x01\x05", string(told), "a go-away")
	require.NoError(t, idle.conn.Close())
	assert.Equal(t, 0, p.exit())
	l.end(t)
	assert.NotContains(t, p.stderr.String(), "the drain's time is up")
}

// goneAway says that nobody has looked at a call, since there is no gateway any
// more that takes calls.
func goneAway(r *frame.Response, err error) bool {
	if err == nil {
		return r.Status == 503 && r.Metadata.Get("x-corelane-reason") == "draining"
	}
	return errors.Is(err, &frame.Error{Kind: frame.GoneAway}) || errors.Is(err, &frame.Error{Kind: frame.Unreachable})
}

// serveWebAt is an HTTP server at an address that others have used.
func serveWebAt(t *testing.T, address string) *httptest.Server {
	t.Helper()
	l, err := net.Listen("tcp", address)
	require.NoError(t, err)
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			fmt.Fprintf(w, "http %s", body)
		}
	})}}
	s.Start()
	return s
}

// service is the part of /api/v1/services that tests look at.
type service struct {
	Protocol  string
	Usable    int
	Endpoints []struct {
		Address, Health         string
		Connections, Idle, Busy int
		Waiting, MaxConnections int
	}
}

func (p *program) services() []service {
	p.t.Helper()
	var answer struct{ Services []service }
	require.Equal(p.t, 200, p.ask(http.MethodGet, "/api/v1/services", &answer))
	return answer.Services
}
