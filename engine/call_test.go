package engine

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/pool"
)

// asking returns a filter that calls the service auth and passes on what it says.
func asking(request *filters.CallRequest, timeout time.Duration) *probe {
	return &probe{
		request: func(ctx *filters.Context) filters.Verdict { return ctx.Call("auth", request, timeout) },
		resume:  onAnswer,
	}
}

// onAnswer lets the exchange go on after 200, and shows what else came.
func onAnswer(ctx *filters.Context, v any) filters.Verdict {
	r := v.(*filters.CallResult)
	switch {
	case r.Err != codec.ReasonNone:
		return ctx.Respond(503, []byte(r.Err.String()))
	case r.Status != 200:
		return ctx.Respond(r.Status, append([]byte(nil), r.Body...))
	}
	ctx.Request.Set([]byte("X-User"), r.Head.GetName("X-User"))
	ctx.Request.Set([]byte("X-Said"), r.Body)
	return filters.Continue
}

// callSetup is a gateway with an origin and a service auth.
func callSetup(t *testing.T, f ...any) (s *setup, o, auth *origin) {
	o, auth = newOrigin(t), newOrigin(t)
	s = newSetup(o.addr)
	s.others = map[string][]string{"auth": {auth.addr}}
	s.filters = f
	return s, o, auth
}

func TestFilterCalls(t *testing.T) {
	s, o, auth := callSetup(t, asking(&filters.CallRequest{Path: "/check?a", Fields: []filters.CallField{{Name: "X-A", Value: []byte("b")}}}, 0))
	g := s.start(t)
	c := g.dial().get("/orders", "traceparent: 00-0123456789abcdef0123456789abcdef-0123456789abcdef-00\r\n", "tracestate: v=1\r\n")
	a := auth.accept()
	r := a.request()
	require.Equal(t, "GET /check?a auth b", r.Method+" "+r.RequestURI+" "+r.Host+" "+r.Header.Get("X-A"))
	parent := r.Header.Get("Traceparent")
	require.Regexp(t, "^00-0123456789abcdef0123456789abcdef-[0-9a-f]{16}-00$", parent)
	require.NotContains(t, parent, "-0123456789abcdef-")
	require.Equal(t, "v=1", r.Header.Get("Tracestate"))
	a.send("HTTP/1.1 200 OK\r\nX-User: ada\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nyes\r\n", "3\r\n, 1\r\n0\r\n\r\n")
	up := o.accept()
	r = up.request()
	require.Equal(t, "/orders", r.URL.Path)
	require.Equal(t, "ada", r.Header.Get("X-User"))
	require.Equal(t, "yes, 1", r.Header.Get("X-Said"))
	require.NotEqual(t, parent, r.Header.Get("Traceparent"), "each is a child of its own")
	up.send(ok)
	c.expect(200, "ok")
	require.Regexp(t, `"tries":1,"calls":1,"call_ms":\d+\.\d{3},"generation":1`, g.records.next(t))

	c.get("/again") // over the same connections
	a.request()
	a.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 4\r\n\r\nnope")
	c.expect(403, "nope")
	require.Contains(t, g.records.next(t), `"endpoint":"","status":403`)
	stats := g.stats()
	require.Equal(t, []uint64{2, 0, 2}, []uint64{stats.Calls, stats.CallsFailed, stats.Requests})
	require.Zero(t, stats.LiveExchanges)
	require.Equal(t, 2, stats.Pool.Idle)
}

func TestFilterCallsWithABody(t *testing.T) {
	body := strings.Repeat("0123456789abcdef", 4<<10) // several blocks
	s, o, auth := callSetup(t, asking(&filters.CallRequest{Path: "/", Method: "PUT", Body: []byte(body)}, 0))
	s.retries.Statuses = snapshot.StatusSet(0).With(503)
	o.serve(echoOK)
	g := s.start(t)
	c := g.dial().send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi")
	for _, status := range []string{"503 No", "200 OK"} { // the service's retries apply
		a := auth.accept()
		r := a.request()
		got, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		require.Equal(t, body, string(got))
		a.send("HTTP/1.1 " + status + "\r\nContent-Length: 0\r\n\r\n")
	}
	c.expect(200, "ok")
	require.Equal(t, uint64(1), g.stats().Retries)
}

func TestCallsThatFail(t *testing.T) {
	whole := func(h string) func(*peer) { return func(a *peer) { a.request(); a.send(h) } }
	for name, tc := range map[string]struct {
		answer  func(*peer)
		service []string
		timeout time.Duration
		want    string
	}{
		"unknown service":  {want: "no_endpoint"},
		"no endpoint":      {service: []string{}, want: "no_endpoint"},
		"refused":          {service: []string{refusing(t)}, want: "upstream_refused"},
		"malformed":        {answer: whole("HTTP/1.1 2000 OK\r\n\r\n"), want: "upstream_bad_response"},
		"switches":         {answer: whole("HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), want: "upstream_bad_response"},
		"reset in body":    {answer: whole("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), want: "upstream_reset"},
		"said to be large": {answer: whole("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n"), want: "upstream_bad_response"},
		"large in chunks":  {answer: whole("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n12345678\r\n8\r\n12345678\r\n0\r\n\r\n"), want: "upstream_bad_response"},
		"goes on and on": {answer: func(a *peer) {
			a.request()
			a.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n12345678\r\n8\r\n12345678\r\n")
			a.expectCut()
		}, want: "upstream_bad_response"},
		"is to be long":    {answer: func(a *peer) { a.request(); a.send("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n"); a.expectCut() }, want: "upstream_bad_response"},
		"too late":         {answer: func(a *peer) { a.request(); a.expectCut() }, timeout: time.Millisecond, want: "total_timeout"},
		"late in the body": {answer: func(a *peer) { a.request(); a.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"); a.expectCut() }, timeout: 50 * time.Millisecond, want: "total_timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			s, o, auth := callSetup(t, asking(&filters.CallRequest{Path: "/", MaxBody: 10}, tc.timeout))
			o.serve(echoOK)
			if tc.answer == nil {
				delete(s.others, "auth")
			}
			if tc.service != nil {
				s.others["auth"] = tc.service
			}
			s.retries.Attempts = 0
			g := s.start(t)
			c := g.dial().get("/")
			if tc.answer != nil {
				a := auth.accept()
				tc.answer(a)
				a.close()
			}
			c.expect(503, tc.want)
			c.get("/again") // and the loop goes on
			if tc.answer == nil {
				c.expect(503, tc.want)
			}
			g.records.next(t)
			require.NotZero(t, g.stats().CallsFailed)
		})
	}
}

func TestCallThatCannotBeSent(t *testing.T) {
	s, _, _ := callSetup(t, asking(&filters.CallRequest{Path: "no path"}, 0))
	g := s.start(t)
	g.dial().get("/").expect(503, "internal_error")
	require.Zero(t, g.stats().Pool.Dialed)
}

// TestCallWhenOutOfBuffers: what the gateway has no memory for fails at once.
func TestCallWhenOutOfBuffers(t *testing.T) {
	var memory atomic.Pointer[reactor.Memory]
	f := asking(&filters.CallRequest{Path: "/"}, 0)
	call := f.request
	f.request = func(ctx *filters.Context) filters.Verdict {
		memory.Load().Add(2 << 20)
		return call(ctx)
	}
	s, _, _ := callSetup(t, f)
	s.options.Memory = 1 << 20
	g := s.start(t)
	memory.Store(g.server.memory)
	g.dial().get("/").expect(503, "overloaded")
}

func TestClientLeavesDuringACall(t *testing.T) {
	s, _, auth := callSetup(t, asking(&filters.CallRequest{Path: "/"}, 0))
	g := s.start(t)
	c := g.dial().get("/")
	a := auth.accept()
	a.request()
	c.reset()
	a.expectCut() // the call is cancelled
	require.Regexp(t, `client_aborted.*"tries":0,"calls":1`, g.records.next(t))
	require.Eventually(t, func() bool {
		stats := g.stats()
		return stats.LiveExchanges == 0 && stats.Pool.Busy == 0
	}, patience, time.Millisecond)
}

func TestTotalTimeoutDuringACall(t *testing.T) {
	s, _, auth := callSetup(t, asking(&filters.CallRequest{Path: "/"}, 0))
	s.timeouts.Total = 20 * time.Millisecond
	g := s.start(t)
	c := g.dial().get("/")
	a := auth.accept()
	a.request()
	c.expectReason(codec.TotalTimeout)
	a.expectCut()
	require.Zero(t, g.stats().LiveExchanges)
}

func TestCallInBothPhases(t *testing.T) {
	request := &filters.CallRequest{Path: "/"}
	f := asking(request, 0)
	f.response = func(ctx *filters.Context) filters.Verdict { return ctx.Call("auth", request, 0) }
	f.resume = func(ctx *filters.Context, v any) filters.Verdict {
		r := v.(*filters.CallResult)
		if ctx.Response != nil {
			ctx.Response.Set([]byte("X-Late"), r.Head.GetName("X-Count"))
		}
		return filters.Continue
	}
	s, o, auth := callSetup(t, f)
	o.serve(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 300<<10)) })
	g := s.start(t)
	c := g.dial()
	var a *peer
	for i, count := range []string{"1", "2", "3", "4"} {
		if i%2 == 0 {
			c.get("/")
		}
		if a == nil {
			a = auth.accept()
		}
		a.request()
		a.send("HTTP/1.1 200 OK\r\nX-Count: ", count, "\r\nContent-Length: 0\r\n\r\n")
		if i%2 == 1 {
			status, head, body := c.response("GET")
			require.Equal(t, 200, status)
			require.Len(t, body, 300<<10)
			require.Equal(t, count, head.Get("X-Late"))
			require.Contains(t, g.records.next(t), `"calls":2`)
		}
	}
}

func TestCallAfterCall(t *testing.T) {
	n := 0
	f := asking(&filters.CallRequest{Path: "/"}, 0)
	f.resume = func(ctx *filters.Context, v any) filters.Verdict {
		if n++; n%3 != 0 {
			return ctx.Call("auth", &filters.CallRequest{Path: "/" + string(v.(*filters.CallResult).Body)}, 0)
		}
		return ctx.Respond(200, append([]byte(nil), v.(*filters.CallResult).Body...))
	}
	s, _, auth := callSetup(t, f)
	auth.serve(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path[1:]+"x") })
	g := s.start(t)
	c := g.dial()
	for range 3 {
		c.get("/").expect(200, "xxx")
		require.Contains(t, g.records.next(t), `"calls":3`)
	}
	require.Equal(t, uint64(9), g.stats().Calls)
}

func TestCallByAListenerFilter(t *testing.T) {
	s, o, auth := callSetup(t)
	s.listening = []any{asking(&filters.CallRequest{Path: "/"}, 0)}
	o.serve(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Header.Get("X-User")) })
	auth.serve(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-User", "ada") })
	g := s.start(t)
	g.dial().get("/").expect(200, "ada")
}

// TestFilterThatBreaksOnItsAnswer: only its own exchange ends, and the call is
// not leaked.
func TestFilterThatBreaksOnItsAnswer(t *testing.T) {
	f := asking(&filters.CallRequest{Path: "/"}, 0)
	f.resume = func(*filters.Context, any) filters.Verdict { panic(errors.New("kettle")) }
	s, _, auth := callSetup(t, f)
	auth.serve(echoOK)
	g := s.start(t)
	c := g.dial()
	for range 3 {
		c.get("/").expectReason(codec.InternalError)
	}
	stats := g.stats()
	require.Equal(t, []uint64{3, 3, 0}, []uint64{stats.FilterPanics, stats.Calls, uint64(stats.LiveExchanges)})
}

// TestCallThatIsNotAwaited: a filter that does not wait after all sends nothing.
func TestCallThatIsNotAwaited(t *testing.T) {
	f := asking(&filters.CallRequest{Path: "/"}, 0)
	f.request = func(ctx *filters.Context) filters.Verdict {
		ctx.Call("auth", &filters.CallRequest{Path: "/"}, 0)
		return filters.Continue
	}
	s, o, _ := callSetup(t, f)
	o.serve(echoOK)
	g := s.start(t)
	c := g.dial()
	for range 3 {
		c.get("/").expect(200, "ok")
	}
	stats := g.stats()
	require.Equal(t, []uint64{1, 0}, []uint64{stats.Pool.Dialed, uint64(stats.LiveExchanges)})
}

// TestCallTakesThePlaceOfAWait: the deadline of the wait does not end the call.
func TestCallTakesThePlaceOfAWait(t *testing.T) {
	f := asking(&filters.CallRequest{Path: "/"}, 0)
	call := f.request
	f.request = func(ctx *filters.Context) filters.Verdict {
		ctx.Wait(time.Nanosecond)
		return call(ctx)
	}
	s, o, auth := callSetup(t, f)
	o.serve(echoOK)
	g := s.start(t)
	c := g.dial().get("/")
	a := auth.accept()
	a.request()
	g.stats() // a turn has passed
	a.send(ok)
	c.expect(200, "ok")
}

// TestServerStopsDuringACall leaves nothing behind: TestMain looks.
func TestServerStopsDuringACall(t *testing.T) {
	s, _, auth := callSetup(t, asking(&filters.CallRequest{Path: "/"}, 0))
	g := s.start(t)
	g.dial().get("/")
	a := auth.accept()
	a.request()
	require.NoError(t, g.server.Stop())
	a.expectCut()
	require.Zero(t, g.server.workers[0].live)
}

func TestCallsAllocateNothing(t *testing.T) {
	s, o, auth := callSetup(t, asking(&filters.CallRequest{Path: "/check"}, 0))
	for _, at := range []*origin{o, auth} {
		go answerForEver(at.ln, []byte("\r\n\r\n"), []byte(ok))
	}
	g := s.start(t)
	c := g.dial()
	requireNoAllocations(t, c, "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
}

// An endpoint that is told of clients is told of the one that the call is for.
func TestCallTellsOfTheClient(t *testing.T) {
	s, o, auth := callSetup(t, asking(&filters.CallRequest{Path: "/check"}, 0))
	s.proxy = snapshot.ProxyV2
	g := s.start(t)
	c := g.dial().get("/")
	for _, end := range []*origin{auth, o} {
		up := end.accept()
		told := up.proxyHeader()
		require.Equal(t, c.conn.LocalAddr().String(), told.Source.String())
		require.Equal(t, g.addr, told.Destination.String())
		up.request()
		up.send(ok)
	}
	c.expect(200, "ok")
}

// A service that goes by a part of the request goes by that of the call.
func TestCallIsBalancedByItsKey(t *testing.T) {
	s, o, auth := callSetup(t, asking(&filters.CallRequest{Path: "/check?user=7"}, 0))
	o.serve(echoOK)
	s.balance, s.balancing = pool.Hash, snapshot.Balance{Key: snapshot.KeyQuery, Name: "user"}
	other := newOrigin(t)
	s.others["auth"] = append(s.others["auth"], other.addr)
	var asked [2]atomic.Int32
	for i, end := range []*origin{auth, other} {
		end.serve(func(w http.ResponseWriter, r *http.Request) {
			asked[i].Add(1)
			echoOK(w, r)
		})
	}
	c := s.start(t).dial()
	for range 20 {
		c.get("/")
		c.expect(200, "ok")
	}
	require.Contains(t, []int32{0, 20}, asked[0].Load())
}
