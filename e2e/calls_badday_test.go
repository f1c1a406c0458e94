package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/sdk/frame"
)

// greeter runs examples/greeter-frame as a process of its own, which can be
// killed.
func greeter(t *testing.T) (address string, kill func()) {
	t.Helper()
	built := filepath.Join(filepath.Dir(binary), "greeter")
	out, err := exec.Command("go", "build", "-o", built, "../examples/greeter-frame").CombinedOutput()
	require.NoError(t, err, string(out))
	address = "127.0.0.1:" + freePort(t)
	c := exec.Command(built, "-listen", address)
	require.NoError(t, c.Start())
	kill = sync.OnceFunc(func() {
		_ = c.Process.Kill()
		_ = c.Wait() // killed
	})
	t.Cleanup(kill)
	return address, kill
}

// answers counts answers by their looks.
type answers struct {
	mu   sync.Mutex
	seen map[string]int
}

func (a *answers) add(what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.seen == nil {
		a.seen = map[string]int{}
	}
	a.seen[what]++
}

// answer is how a response looks.
func answer(r *frame.Response, err error) string {
	if err != nil {
		return err.Error()
	}
	if reason := r.Metadata.Get("x-corelane-reason"); reason != "" {
		return fmt.Sprint(r.Status, " ", reason)
	}
	return fmt.Sprint(r.Status, " ", string(r.Body))
}

// A process is killed with a thousand requests in flight on its connection. Those
// that may be repeated are, at the endpoint that is left; the others are told, in
// their own protocol.
func TestServiceIsKilledWithAThousandInFlight(t *testing.T) {
	for _, served := range []bool{false, true} {
		t.Run(fmt.Sprint("served before ", served), func(t *testing.T) { killInFlight(t, served) })
	}
}

func killInFlight(t *testing.T, served bool) {
	const each, web = 480, 20
	address, kill := greeter(t)
	other := serveFrames(t, frame.HandlerFunc(func(_ context.Context, _ *frame.Request, w *frame.Responder) error {
		return w.Reply([]byte("other"))
	}))
	p := start(t, callsHead+fmt.Sprintf(`
engine: {loops: 1}
services:
  - {name: pair, protocol: frame, endpoints: [{address: %q}, {address: %q, priority: 1}]}
routes:
  - {id: path, match: {prefix: /Greeter}, service: pair}
  - {id: call, match: {rpc: {interface: Greeter}}, service: pair}
`, address, other.address))
	c := frameClient(t, p.listeners[1])
	ctx := soon(t)
	if served {
		r, err := c.Call(ctx, &frame.Message{Call: frame.Method("Greeter", "Hello"), Body: []byte("you")})
		require.Equal(t, "200 hello, you", answer(r, err))
	}
	delay := frame.Metadata{{Name: "x-delay", Value: "1h"}}
	var clients sync.WaitGroup
	var safe, unsafe answers
	for range each {
		clients.Go(func() {
			safe.add(answer(c.Call(ctx, &frame.Message{Call: frame.Path("GET", "/Greeter/Slow"), Metadata: delay})))
		})
		clients.Go(func() {
			unsafe.add(answer(c.Call(ctx, &frame.Message{Call: frame.Method("Greeter", "Slow"), Metadata: delay})))
		})
	}
	for range web {
		clients.Go(func() { safe.add(slowly(p, http.MethodGet)) })
		clients.Go(func() { unsafe.add(slowly(p, http.MethodPost)) })
	}
	p.await("all in flight", func() bool { return p.metric("corelane_exchanges") == 2*(each+web) })
	assert.EqualValues(t, 1, p.metric(fmt.Sprintf(`corelane_upstream_connections{endpoint=%q,service="pair",state="busy"}`, address)))
	kill()
	clients.Wait()
	assert.Equal(t, map[string]int{"200 other": each + web}, safe.seen)
	assert.Equal(t, map[string]int{"502 upstream_reset": each + web}, unsafe.seen)

	retried, told := fmt.Sprintf(`"endpoint":%q,"status":200`, other.address), fmt.Sprintf(`"endpoint":%q,"status":502,"reason":"upstream_reset"`, address)
	p.await("the records", func() bool {
		log := p.stdout.String()
		return strings.Count(log, retried) == each+web && strings.Count(log, told) == each+web
	})
	assert.EqualValues(t, each+web, p.metric(`corelane_reasons_total{reason="upstream_reset"}`))
	assert.Zero(t, p.metric("corelane_exchanges"))
}

// slowly calls the greeter over HTTP, to be answered when it is killed.
func slowly(p *program, method string) string {
	req, err := http.NewRequest(method, "http://"+p.web+"/Greeter/Slow", nil)
	if err != nil {
		return err.Error()
	}
	req.Header.Set("X-Delay", "1h")
	res, err := p.client.Do(req)
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err.Error()
	}
	var told struct{ Error string }
	if json.Unmarshal(body, &told) == nil {
		return fmt.Sprint(res.StatusCode, " ", told.Error)
	}
	return fmt.Sprint(res.StatusCode, " ", string(body))
}
