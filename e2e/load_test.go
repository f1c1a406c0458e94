package e2e_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// clients is the number of clients that send one request after the other while
// something happens: many more than the retries that the budget always allows.
const clients = 48

// load is what the clients have seen.
type load struct {
	done  sync.WaitGroup
	stop  atomic.Bool
	sent  atomic.Int64
	wrong sync.Map // what was wrong → how it looked
}

// under starts the clients on a path.
func (p *program) under(path string) *load {
	l := new(load)
	for range clients {
		l.done.Go(func() {
			for !l.stop.Load() {
				l.one(p.client, "http://"+p.web+path)
			}
		})
	}
	return l
}

func (l *load) one(client *http.Client, url string) {
	res, err := client.Get(url)
	if err != nil {
		l.wrong.Store(err.Error(), true)
		return
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		l.wrong.Store(fmt.Sprint(res.StatusCode, " ", string(body), " ", err), true)
	}
	l.sent.Add(1)
}

// end stops the clients and wants every request answered 200.
func (l *load) end(t *testing.T) {
	t.Helper()
	l.stop.Store(true)
	l.done.Wait()
	l.wrong.Range(func(what, _ any) bool {
		t.Error("a request failed: ", what)
		return true
	})
	assert.Positive(t, l.sent.Load())
}

func TestHundredChangesUnderLoad(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") }))
	defer origin.Close()
	address := strings.TrimPrefix(origin.URL, "http://")
	generation := func(i int) string {
		return fmt.Sprintf(head+`
engine: {loops: 2}
log: {access: {path: none}}
services: [{name: origin, endpoints: [{address: %q, weight: %d}], timeouts: {first_byte: %ds}}]
routes:
  - {id: kept, match: {prefix: /kept}, service: origin}
  - {id: new-%d, match: {path: /new/%d}, service: origin}
`, address, i%7+1, i+10, i, i)
	}
	p := start(t, generation(0))
	l := p.under("/kept")
	for i := 1; i <= 100; i++ {
		p.write(generation(i))
		require.Equal(t, 200, p.ask(http.MethodPost, "/api/v1/reload", nil))
		code, _ := p.get(fmt.Sprint("/new/", i))
		require.Equal(t, 200, code, "the new route is served")
		code, _ = p.get(fmt.Sprint("/new/", i-1))
		require.Equal(t, 404, code, "the old route is not")
	}
	l.end(t)
	assert.Equal(t, uint64(101), p.status().Generation)
}

// No GET fails while one endpoint of two is healthy.
func TestEndpointDiesUnderLoad(t *testing.T) {
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	stays := httptest.NewServer(answer)
	defer stays.Close()
	dies := httptest.NewServer(answer)
	address := dies.Listener.Addr().String()
	p := start(t, fmt.Sprintf(head+`
engine: {loops: 2}
log: {access: {path: none}}
services: [{name: pair, endpoints: [{address: %q}, {address: %q}], health: {passive: {eject: 200ms}}}]
routes: [{id: all, match: {prefix: /}, service: pair}]
`, stays.Listener.Addr().String(), address))
	l := p.under("/")
	for range 3 {
		before := l.sent.Load()
		p.await("traffic", func() bool { return l.sent.Load() > before+200 })
		dies.CloseClientConnections()
		dies.Close()
		before = l.sent.Load()
		p.await("traffic without it", func() bool { return l.sent.Load() > before+200 })
		ln, err := net.Listen("tcp", address)
		require.NoError(t, err)
		dies = &httptest.Server{Listener: ln, Config: &http.Server{Handler: answer}}
		dies.Start()
	}
	l.end(t)
	dies.Close()
}
