package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// stormRequests is how many requests meet endpoints that answer 503 to all.
var stormRequests = 20000

const stormClients = 64

// stormWave is how many tries the endpoints let gather before they answer.
const stormWave = stormClients * 3 / 4

// waves answers to many tries at once, so that all take about the same time and
// most clients always have one under way, however slow the machine is.
type waves struct {
	mu      sync.Mutex
	waiting int
	wave    chan struct{}
}

func (w *waves) wait() {
	w.mu.Lock()
	wave := w.wave
	if w.waiting++; w.waiting >= stormWave {
		w.answer()
	}
	w.mu.Unlock()
	<-wave
}

func (w *waves) answer() {
	close(w.wave)
	w.waiting, w.wave = 0, make(chan struct{})
}

// newWaves also answers now and then, for the last who are too few.
func newWaves(t *testing.T) *waves {
	w := &waves{wave: make(chan struct{})}
	tick, end := time.NewTicker(200*time.Millisecond), make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		for {
			select {
			case <-tick.C:
				w.mu.Lock()
				w.answer()
				w.mu.Unlock()
			case <-end:
				return
			}
		}
	})
	t.Cleanup(func() {
		tick.Stop()
		close(end)
		done.Wait()
	})
	return w
}

// When everything fails, retries must not be what breaks the service for good:
// the endpoints get no more than the budget on top.
func TestRetryStorm(t *testing.T) {
	for _, attempts := range []int{1, 3} {
		t.Run(strconv.Itoa(attempts), func(t *testing.T) { retryStorm(t, attempts, stormRequests/2) })
	}
}

func retryStorm(t *testing.T, attempts, requests int) {
	w := newWaves(t)
	var tries atomic.Int64
	busy := http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		tries.Add(1)
		w.wait()
		rw.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(rw, "busy")
	})
	a, b := httptest.NewServer(busy), httptest.NewServer(busy)
	defer b.Close()
	defer a.Close()
	p := start(t, fmt.Sprintf(head+`
engine: {loops: 2}
log: {access: {path: none}}
services:
  - name: busy
    endpoints: [{address: %q}, {address: %q}]
    pool: {max_connections: 0}
    retries: {attempts: %d, on: [503], budget: 20}
    health: {passive: {consecutive_failures: 0}}
routes: [{id: all, match: {prefix: /}, service: busy}]
`, strings.TrimPrefix(a.URL, "http://"), strings.TrimPrefix(b.URL, "http://"), attempts))
	var left atomic.Int64
	left.Store(int64(requests))
	var clients sync.WaitGroup
	for range stormClients {
		clients.Go(func() {
			for left.Add(-1) >= 0 {
				res, err := p.client.Get("http://" + p.web + "/")
				if !assert.NoError(t, err) {
					return
				}
				body, _ := io.ReadAll(res.Body)
				res.Body.Close()
				assert.Equal(t, "503 busy", fmt.Sprint(res.StatusCode, " ", string(body)))
			}
		})
	}
	clients.Wait()
	// The last few have the floor of the budget: three, and their attempts.
	got, most := int(tries.Load()), requests+requests/5+3*attempts+10
	t.Logf("%d requests, %d tries, at most %d", requests, got, most)
	assert.LessOrEqual(t, got, most)
	assert.Greater(t, got, requests+requests/20, "there are retries within the budget")
	assert.EqualValues(t, got-requests, p.metric(`corelane_retries_total{cause="status"}`))
	assert.Positive(t, p.metric("corelane_retries_denied_total"))
}

// The endpoint that got the request first never answers, and nobody notices.
func TestHedging(t *testing.T) {
	var arrived atomic.Int64
	gaveUp := make(chan struct{}, 1)
	stuck := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if arrived.Add(1) == 1 {
			<-r.Context().Done()
			gaveUp <- struct{}{}
			return
		}
		_, _ = io.WriteString(w, "answered")
	})
	a, b := httptest.NewServer(stuck), httptest.NewServer(stuck)
	defer b.Close()
	defer a.Close()
	p := start(t, fmt.Sprintf(head+`
services:
  - name: two
    endpoints: [{address: %q}, {address: %q}]
    retries: {hedge: 20ms}
routes: [{id: all, match: {prefix: /}, service: two}]
`, strings.TrimPrefix(a.URL, "http://"), strings.TrimPrefix(b.URL, "http://")))
	code, body := p.get("/")
	assert.Equal(t, "200 answered", fmt.Sprint(code, " ", body))
	<-gaveUp
	p.await("the record", func() bool { return strings.Contains(p.stdout.String(), `"retried":["hedge_won 127.0.0.1:`) })
	assert.EqualValues(t, 1, p.metric("corelane_hedges_total"))
	assert.EqualValues(t, 1, p.metric("corelane_hedges_won_total"))
}
