package filters_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/codec/http1"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/filters/filtertest"
)

// asker calls a service and passes its answer on.
type asker struct{ request filters.CallRequest }

func (a *asker) OnRequest(ctx *filters.Context) filters.Verdict {
	return ctx.Call("auth", &a.request, time.Second)
}

func (a *asker) OnResume(ctx *filters.Context, value any) filters.Verdict {
	r := value.(*filters.CallResult)
	switch {
	case r.Err != codec.ReasonNone:
		return ctx.Fail(codec.FilterUnavailable, r.Err.String())
	case r.Status == 303: // ask once more
		return ctx.Call("auth", &filters.CallRequest{Path: string(r.Head.GetName("Location"))}, 0)
	case r.Status != 200:
		return ctx.Respond(r.Status, append([]byte(nil), r.Body...))
	}
	ctx.Request.Set([]byte("X-User"), r.Head.GetName("X-User"))
	return filters.Continue
}

// auditor calls a service in the response phase.
type auditor struct{ done *filters.CallResult }

func (a *auditor) OnResponse(ctx *filters.Context) filters.Verdict {
	return ctx.Call("audit", &filters.CallRequest{Path: "/"}, 0)
}

func (a *auditor) OnResume(_ *filters.Context, value any) filters.Verdict {
	a.done = value.(*filters.CallResult)
	return filters.Continue
}

func TestCall(t *testing.T) {
	for name, tc := range map[string]struct {
		answer filtertest.Answer
		status int
		body   string
		user   string
	}{
		"accepted":    {filtertest.Answer{Status: 200, Fields: []string{"X-User: ada"}}, 200, "", "ada"},
		"refused":     {filtertest.Answer{Status: 403, Body: "no"}, 403, "no", ""},
		"no answer":   {filtertest.Answer{Err: codec.TotalTimeout}, 503, "total_timeout", ""},
		"a huge body": {filtertest.Answer{Status: 200, Body: strings.Repeat("x", filters.DefaultCallBody+1)}, 503, "upstream_bad_response", ""},
	} {
		t.Run(name, func(t *testing.T) {
			x := get(t)
			x.Serve("auth", func(c *filtertest.Called) filtertest.Answer {
				assert.Equal(t, "POST /check?a=b HTTP/1.1", c.Line())
				assert.Equal(t, []string{"Host: auth", "X-A: 1"}, filtertest.Fields(c.Head))
				assert.Equal(t, "who?", c.Body)
				assert.Equal(t, time.Second, c.Timeout)
				return tc.answer
			})
			got := x.Run(&asker{filters.CallRequest{
				Method: "POST", Path: "/check?a=b", Body: []byte("who?"),
				Fields: []filters.CallField{{Name: "X-A", Value: []byte("1")}, {Name: "X-Absent", Value: x.Request.GetName("X-Absent")}},
			}})
			assert.Equal(t, tc.status, got.Status)
			assert.Equal(t, tc.body, got.Body)
			assert.Equal(t, tc.user, got.Sent("X-User"))
			assert.Equal(t, tc.status == 200, got.Forwarded)
		})
	}
}

func TestCallsOneAfterTheOther(t *testing.T) {
	x := get(t)
	var lines []string
	x.Serve("auth", func(c *filtertest.Called) filtertest.Answer {
		lines = append(lines, c.Line())
		if len(lines) < 3 {
			return filtertest.Answer{Status: 303, Fields: []string{"Location: /next"}}
		}
		return filtertest.Answer{Status: 200}
	})
	assert.True(t, x.Run(&asker{filters.CallRequest{Path: "/first"}}).Forwarded)
	assert.Equal(t, []string{"GET /first HTTP/1.1", "GET /next HTTP/1.1", "GET /next HTTP/1.1"}, lines)
	assert.Zero(t, x.Dropped())
}

func TestCallInTheResponsePhase(t *testing.T) {
	x, f := get(t), &auditor{}
	x.Run(f)
	assert.Equal(t, codec.NoEndpoint, f.done.Err, "nobody serves audit")
	x.Serve("audit", func(c *filtertest.Called) filtertest.Answer {
		assert.Equal(t, filters.DefaultWait, c.Timeout)
		return filtertest.Answer{Status: 204}
	})
	x.Run(f)
	assert.Equal(t, 204, f.done.Status)
}

func TestCallThatIsTakenBack(t *testing.T) {
	call := func(ctx *filters.Context) filters.Verdict {
		return ctx.Call("auth", &filters.CallRequest{Path: "/"}, 0)
	}
	after := func(then func(*filters.Context) filters.Verdict) func(*filters.Context) filters.Verdict {
		return func(ctx *filters.Context) filters.Verdict { call(ctx); return then(ctx) }
	}
	for name, tc := range map[string]struct {
		request func(*filters.Context) filters.Verdict
		want    filters.Verdict
		dropped int
	}{
		"goes on":       {after(func(*filters.Context) filters.Verdict { return filters.Continue }), filters.Continue, 1},
		"answers":       {after(answer), filters.Respond, 1},
		"panics":        {after(explode), filters.Respond, 1},
		"waits instead": {after(wait), filters.Wait, 1},
		"calls anew":    {after(call), filters.Wait, 2},
		"is aborted":    {call, filters.Wait, 1},
	} {
		t.Run(name, func(t *testing.T) {
			chain, a, _, _ := abc(new(diary))
			a.request = tc.request
			x := get(t)
			_, v := chain.Request(&x.Context, 0)
			assert.Equal(t, tc.want, v)
			assert.True(t, x.ExpireWait(), "the exchange ends")
			assert.False(t, x.Suspended())
			assert.Equal(t, tc.dropped, x.Dropped())
		})
	}
}

func TestCallWhileAWakeIsOnItsWay(t *testing.T) {
	chain, a, b, _ := abc(new(diary))
	a.request = func(ctx *filters.Context) filters.Verdict {
		ctx.Wait(0).Resume(1)
		return filters.Continue // it changed its mind
	}
	b.request = func(ctx *filters.Context) filters.Verdict {
		return ctx.Call("auth", &filters.CallRequest{Path: "/"}, 0)
	}
	x := get(t)
	at, v := chain.Request(&x.Context, 0)
	assert.Equal(t, 1, at)
	assert.Equal(t, filters.Respond, v, "500: the node is not free")
	assert.Zero(t, x.Dropped())
	x.AwaitWake()
	x.SettleWait()
}

// TestCallInABodyPhase: only head phases may wait.
func TestCallInABodyPhase(t *testing.T) {
	chain, a, _, _ := abc(new(diary))
	a.requestBody = func(ctx *filters.Context) filters.Verdict {
		return ctx.Call("auth", &filters.CallRequest{Path: "/"}, 0)
	}
	x := get(t)
	assert.Equal(t, filters.Respond, chain.RequestBody(&x.Context, nil, true))
	assert.Equal(t, 1, x.Dropped())
}

// deaf asks and does not look at the answer.
type deaf struct{}

func (deaf) OnRequest(ctx *filters.Context) filters.Verdict {
	return ctx.Call("auth", &filters.CallRequest{Path: "/"}, 0)
}

func TestCallWithoutResumerFails(t *testing.T) {
	x := get(t)
	x.Serve("auth", func(*filtertest.Called) filtertest.Answer { return filtertest.Answer{Status: 403} })
	got := x.Run(deaf{})
	assert.False(t, got.Forwarded)
	assert.Equal(t, codec.InternalError, got.Reason)
}

func TestFillRequest(t *testing.T) {
	for name, tc := range map[string]struct {
		request filters.CallRequest
		want    string // empty: it cannot be sent
	}{
		"defaults":        {filters.CallRequest{Path: "/"}, "GET / HTTP/1.1\r\nHost: auth\r\n\r\n"},
		"host and query":  {filters.CallRequest{Path: "/a?b", Host: "a.example"}, "GET /a?b HTTP/1.1\r\nHost: a.example\r\n\r\n"},
		"an empty POST":   {filters.CallRequest{Path: "/", Method: "POST"}, "POST / HTTP/1.1\r\nHost: auth\r\nContent-Length: 0\r\n\r\n"},
		"a GET with body": {filters.CallRequest{Path: "/", Body: []byte("12")}, "GET / HTTP/1.1\r\nHost: auth\r\nContent-Length: 2\r\n\r\n"},
		"a broken path":   {filters.CallRequest{Path: "/a b\r\nX: y"}, "GET /a%20b%0D%0AX:%20y HTTP/1.1\r\nHost: auth\r\n\r\n"},
		"a broken value": {
			filters.CallRequest{Path: "/", Fields: []filters.CallField{{"X-A", []byte("b\r\nX-C: d")}}},
			"GET / HTTP/1.1\r\nHost: auth\r\nX-A: b  X-C: d\r\n\r\n",
		},
		"no path":       {request: filters.CallRequest{}},
		"not a path":    {request: filters.CallRequest{Path: "http://a/"}},
		"not a method":  {request: filters.CallRequest{Path: "/", Method: "G T"}},
		"CONNECT":       {request: filters.CallRequest{Path: "/", Method: "CONNECT"}},
		"a long body":   {request: filters.CallRequest{Path: "/", Body: make([]byte, filters.MaxCallBody+1)}},
		"not a name":    {request: filters.CallRequest{Path: "/", Fields: []filters.CallField{{"X A", []byte("")}}}},
		"own framing":   {request: filters.CallRequest{Path: "/", Fields: []filters.CallField{{"content-length", []byte("7")}}}},
		"a second host": {request: filters.CallRequest{Path: "/", Fields: []filters.CallField{{"Host", []byte("b")}}}},
	} {
		t.Run(name, func(t *testing.T) {
			var h codec.Head
			h.Reset()
			ok := tc.request.Fill(&h, "auth")
			require.Equal(t, tc.want != "", ok)
			if ok {
				assert.Equal(t, tc.want, string(http1.AppendRequest(nil, &h)))
			}
		})
	}
}

func TestFillAllocatesNothing(t *testing.T) {
	r := filters.CallRequest{
		Method: "PUT", Path: "/a/path/that/is/longer/than/what/fits/the/stack?and=a&query=too",
		Fields: []filters.CallField{{"X-A", []byte("1")}, {"Authorization", []byte("Bearer x")}},
	}
	var h codec.Head
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		h.Reset()
		r.Fill(&h, "auth")
	}))
}

func TestBound(t *testing.T) {
	for asked, want := range map[int]int{0: filters.DefaultCallBody, -1: filters.DefaultCallBody, 7: 7, 1 << 30: filters.MaxCallBody} {
		assert.Equal(t, want, (&filters.CallRequest{MaxBody: asked}).Bound())
	}
}
