package filters_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/filters/filtertest"
)

// diary is where scripted filters write what they saw.
type diary struct{ lines []string }

func (d *diary) note(line string) { d.lines = append(d.lines, line) }

// take returns what was written since the last take.
func (d *diary) take() []string {
	lines := d.lines
	d.lines = nil
	return lines
}

// scripted has every phase; a phase without a function says Continue.
type scripted struct {
	name                                string
	diary                               *diary
	request, response, resume           func(ctx *filters.Context) filters.Verdict
	requestBody                         func(ctx *filters.Context) filters.Verdict
	responseBody, log                   func()
	values                              []any
	answers                             bool
	lastRequestPiece, lastResponsePiece bool
}

func (f *scripted) act(phase string, fn func(*filters.Context) filters.Verdict, ctx *filters.Context) filters.Verdict {
	f.diary.note(phase + " " + f.name)
	if fn == nil {
		return filters.Continue
	}
	return fn(ctx)
}

func (f *scripted) OnRequest(ctx *filters.Context) filters.Verdict {
	return f.act("request", f.request, ctx)
}

func (f *scripted) OnRequestBody(ctx *filters.Context, piece []byte, last bool) filters.Verdict {
	f.lastRequestPiece = last
	return f.act("request body "+string(piece), f.requestBody, ctx)
}

func (f *scripted) OnResponse(ctx *filters.Context) filters.Verdict {
	return f.act("response", f.response, ctx)
}

func (f *scripted) OnResponseBody(_ *filters.Context, piece []byte, last bool) {
	f.lastResponsePiece = last
	f.diary.note("response body " + string(piece) + " " + f.name)
	if f.responseBody != nil {
		f.responseBody()
	}
}

func (f *scripted) OnLog(*filters.Context) {
	f.diary.note("log " + f.name)
	if f.log != nil {
		f.log()
	}
}

func (f *scripted) OnResume(ctx *filters.Context, value any) filters.Verdict {
	f.values = append(f.values, value)
	return f.act("resume", f.resume, ctx)
}

func (f *scripted) Answers() bool { return f.answers }

// requestOnly, responseOnly and logOnly have one phase each.
type (
	requestOnly  struct{}
	responseOnly struct{}
	logOnly      struct{}
)

func (requestOnly) OnRequest(*filters.Context) filters.Verdict   { return filters.Continue }
func (responseOnly) OnResponse(*filters.Context) filters.Verdict { return filters.Continue }
func (logOnly) OnLog(*filters.Context)                           {}

// abc makes a chain of the scripted filters a, b and c.
func abc(d *diary) (chain *filters.Chain, a, b, c *scripted) {
	a, b, c = &scripted{name: "a", diary: d}, &scripted{name: "b", diary: d}, &scripted{name: "c", diary: d}
	return chainOf(a, b, c), a, b, c
}

func chainOf(list ...any) *filters.Chain {
	var entries []*filters.Entry
	for _, f := range list {
		name := "plain"
		if s, ok := f.(*scripted); ok {
			name = s.name
		}
		entries = append(entries, filters.NewEntry(name, f))
	}
	return filters.NewChain(entries)
}

func get(t testing.TB) *filtertest.Exchange {
	t.Helper()
	return filtertest.New(t, "GET / HTTP/1.1", "Host: a.example")
}

func answer(ctx *filters.Context) filters.Verdict { return ctx.Respond(418, []byte("tea")) }
func explode(*filters.Context) filters.Verdict    { panic("kettle") }
func wait(ctx *filters.Context) filters.Verdict   { ctx.Wait(0); return filters.Wait }

func TestOrder(t *testing.T) {
	var d diary
	chain, _, _, c := abc(&d)
	x := get(t)

	at, v := chain.Request(&x.Context, 0)
	assert.Equal(t, 3, at)
	assert.Equal(t, filters.Continue, v)
	assert.Equal(t, []string{"request a", "request b", "request c"}, d.take(), "the written order")

	assert.Equal(t, filters.Continue, chain.RequestBody(&x.Context, []byte("1"), true))
	assert.Equal(t, []string{"request body 1 a", "request body 1 b", "request body 1 c"}, d.take())
	assert.True(t, c.lastRequestPiece)

	below, v := chain.Response(&x.Context, at)
	assert.Equal(t, -1, below)
	assert.Equal(t, filters.Continue, v)
	assert.Equal(t, []string{"response c", "response b", "response a"}, d.take(), "the reverse")

	assert.Equal(t, filters.Continue, chain.ResponseBody(&x.Context, at, []byte("2"), true))
	assert.Equal(t, []string{"response body 2 c", "response body 2 b", "response body 2 a"}, d.take())
	assert.True(t, c.lastResponsePiece)

	chain.Log(&x.Context, at)
	assert.Equal(t, []string{"log a", "log b", "log c"}, d.take())
	assert.Len(t, x.Calls(), 15, "each call is measured")
}

// TestLocalAnswer is the onion: only filters that the request reached see the
// answer, and the one that gave it is among them.
func TestLocalAnswer(t *testing.T) {
	var d diary
	chain, _, b, _ := abc(&d)
	b.request = answer
	x := get(t)

	at, v := chain.Request(&x.Context, 0)
	require.Equal(t, filters.Respond, v)
	require.Equal(t, 1, at)
	reply, ok := x.Reply()
	require.True(t, ok)
	assert.Equal(t, 418, reply.Status)
	assert.Equal(t, "tea", string(reply.Body))

	chain.Response(&x.Context, at)
	chain.ResponseBody(&x.Context, at, []byte("tea"), true)
	chain.Log(&x.Context, at)
	assert.Equal(t, []string{
		"request a", "request b",
		"response b", "response a",
		"response body tea b", "response body tea a",
		"log a", "log b",
	}, d.take())
}

func TestAnswerInAResponsePhase(t *testing.T) {
	var d diary
	chain, _, b, _ := abc(&d)
	b.response = answer
	x := get(t)
	at, v := chain.Response(&x.Context, chain.Len())
	assert.Equal(t, filters.Respond, v)
	assert.Equal(t, 1, at)
	at, v = chain.Response(&x.Context, at-1)
	assert.Equal(t, filters.Continue, v)
	assert.Equal(t, -1, at)
	assert.Equal(t, []string{"response c", "response b", "response a"}, d.take(), "each filter once")
}

func TestAnswerInABodyPhase(t *testing.T) {
	var d diary
	chain, _, b, _ := abc(&d)
	b.requestBody = func(ctx *filters.Context) filters.Verdict { return ctx.Fail(codec.BodyTooLarge, "too much") }
	x := get(t)
	assert.Equal(t, filters.Respond, chain.RequestBody(&x.Context, []byte("1"), false))
	assert.Equal(t, []string{"request body 1 a", "request body 1 b"}, d.take())
	reply, _ := x.Reply()
	assert.Equal(t, filters.Reply{Status: 413, Reason: codec.BodyTooLarge, Message: "too much"}, public(reply))
}

// public is the part of a reply that a test can write down.
func public(r *filters.Reply) filters.Reply {
	return filters.Reply{Status: r.Status, Reason: r.Reason, Message: r.Message, Body: r.Body, Fields: r.Fields}
}

func TestPanicIsThatOfOneExchange(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		name string
		fail func(f *scripted)
		run  func(c *filters.Chain, ctx *filters.Context) filters.Verdict
	}{
		{
			"request", func(f *scripted) { f.request = explode },
			func(c *filters.Chain, ctx *filters.Context) filters.Verdict { _, v := c.Request(ctx, 0); return v },
		},
		{
			"request body", func(f *scripted) { f.requestBody = explode },
			func(c *filters.Chain, ctx *filters.Context) filters.Verdict { return c.RequestBody(ctx, nil, true) },
		},
		{
			"response", func(f *scripted) { f.response = func(*filters.Context) filters.Verdict { panic(broken) } },
			func(c *filters.Chain, ctx *filters.Context) filters.Verdict { _, v := c.Response(ctx, 9); return v },
		},
		{
			"response body", func(f *scripted) { f.responseBody = func() { panic(broken) } },
			func(c *filters.Chain, ctx *filters.Context) filters.Verdict { return c.ResponseBody(ctx, 9, nil, true) },
		},
		{
			"resume", func(f *scripted) {
				f.resume = func(*filters.Context) filters.Verdict { var value any = "kettle"; return value.(filters.Verdict) }
			},
			func(c *filters.Chain, ctx *filters.Context) filters.Verdict { return c.Resume(ctx, 1) },
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			chain, _, b, _ := abc(new(diary))
			test.fail(b)
			x := get(t)
			require.Equal(t, filters.Respond, test.run(chain, &x.Context))
			reply, ok := x.Reply()
			require.True(t, ok)
			assert.Equal(t, filters.Reply{Status: 500, Reason: codec.InternalError, Message: "a filter failed"}, public(reply))
			assert.Len(t, x.Panics(), 1)
			calls := x.Calls()
			assert.Equal(t, "b", calls[len(calls)-1], "its time is measured too")

			x.NewRequest("GET /next HTTP/1.1", "Host: a.example")
			_, ok = x.Reply()
			assert.False(t, ok, "the next exchange knows nothing of it")
		})
	}
}

func TestPanicInLogStopsNobody(t *testing.T) {
	var d diary
	chain, a, _, _ := abc(&d)
	a.log = func() { panic("kettle") }
	x := get(t)
	chain.Log(&x.Context, 2)
	assert.Equal(t, []string{"log a", "log b", "log c"}, d.take())
	assert.Equal(t, []any{"kettle"}, x.Panics())
}

// TestVerdictWithoutSubstance: what a filter promised and did not do must not
// let the request through, nor leave it waiting for ever.
func TestVerdictWithoutSubstance(t *testing.T) {
	say := func(v filters.Verdict) func(*filters.Context) filters.Verdict {
		return func(*filters.Context) filters.Verdict { return v }
	}
	for name, request := range map[string]func(*filters.Context) filters.Verdict{
		"respond without an answer": say(filters.Respond),
		"wait without a handle":     say(filters.Wait),
		"no verdict at all":         say(99),
	} {
		t.Run(name, func(t *testing.T) {
			chain, _, b, _ := abc(new(diary))
			b.request = request
			x := get(t)
			at, v := chain.Request(&x.Context, 0)
			assert.Equal(t, 1, at)
			require.Equal(t, filters.Respond, v)
			reply, _ := x.Reply()
			assert.Equal(t, codec.InternalError, reply.Reason)
		})
	}
	t.Run("wait in a body phase", func(t *testing.T) {
		chain, _, b, _ := abc(new(diary))
		b.requestBody = wait
		x := get(t)
		require.Equal(t, filters.Respond, chain.RequestBody(&x.Context, nil, true))
		reply, _ := x.Reply()
		assert.Equal(t, codec.InternalError, reply.Reason)
		assert.False(t, x.Suspended())
	})
}

// guard takes part in connections only.
type guard struct {
	name    string
	diary   *diary
	verdict func(ctx *filters.Context) filters.Verdict
}

func (g *guard) OnConnection(ctx *filters.Context) filters.Verdict {
	g.diary.note("connection " + g.name)
	return g.verdict(ctx)
}

func TestConnections(t *testing.T) {
	goOn := func(*filters.Context) filters.Verdict { return filters.Continue }
	deny := func(ctx *filters.Context) filters.Verdict { return ctx.Fail(codec.IPDenied, "no") }
	wait := func(ctx *filters.Context) filters.Verdict { ctx.Wait(0); return filters.Wait }
	tests := []struct {
		name   string
		second func(*filters.Context) filters.Verdict
		at     int
		reason codec.Reason
		called []string
	}{
		{"all say continue", goOn, 4, codec.ReasonNone, []string{"connection a", "connection b", "connection c"}},
		{"one answers", deny, 2, codec.IPDenied, []string{"connection a", "connection b"}},
		{"nobody can wait", wait, 2, codec.InternalError, []string{"connection a", "connection b"}},
		{"one panics", func(*filters.Context) filters.Verdict { panic("oops") }, 2, codec.InternalError, []string{"connection a", "connection b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := new(diary)
			x := get(t)
			chain := chainOf(&guard{"a", d, goOn}, requestOnly{}, &guard{"b", d, tt.second}, &guard{"c", d, goOn})
			at, v := chain.Connection(&x.Context)
			assert.Equal(t, tt.at, at)
			assert.Equal(t, tt.called, d.take())
			reply, answered := x.Reply()
			assert.Equal(t, tt.reason, reply.Reason)
			assert.Equal(t, v == filters.Respond, answered)
		})
	}
}

func TestEmptyChains(t *testing.T) {
	x := get(t)
	for _, chain := range []*filters.Chain{nil, filters.NewChain(nil)} {
		at, v := chain.Request(&x.Context, 0)
		assert.Equal(t, 0, at)
		assert.Equal(t, filters.Continue, v)
		at, v = chain.Connection(&x.Context)
		assert.Equal(t, 0, at)
		assert.Equal(t, filters.Continue, v)
		at, v = chain.Response(&x.Context, 0)
		assert.Equal(t, -1, at)
		assert.Equal(t, filters.Continue, v)
		chain.Log(&x.Context, 5)
		assert.Zero(t, chain.Len())
		assert.Empty(t, chain.Entries())
		assert.False(t, chain.HasRequestBody())
		assert.False(t, chain.HasResponseBody())
	}
}

func TestPhasesThatAFilterLacksAreNotCalled(t *testing.T) {
	chain := chainOf(requestOnly{}, responseOnly{}, logOnly{})
	x := get(t)
	chain.Request(&x.Context, 0)
	chain.RequestBody(&x.Context, nil, true)
	chain.Response(&x.Context, 3)
	chain.ResponseBody(&x.Context, 3, nil, true)
	chain.Log(&x.Context, 3)
	assert.Len(t, x.Calls(), 3)
	assert.False(t, chain.HasRequestBody())
	assert.False(t, chain.HasResponseBody())

	all, _, _, _ := abc(new(diary))
	assert.True(t, all.HasRequestBody())
	assert.True(t, all.HasResponseBody())
	assert.Len(t, all.Entries(), 3)
}

func TestEntry(t *testing.T) {
	f := &scripted{}
	e := filters.NewEntry("name", f)
	assert.Equal(t, "name", e.Name())
	assert.Same(t, f, e.Filter())
	assert.False(t, e.Answers(), "it has the method and says no")
	f.answers = true
	assert.True(t, e.Answers())
	assert.False(t, filters.NewEntry("name", requestOnly{}).Answers())
}

func TestChainAllocatesNothing(t *testing.T) {
	chain := chainOf(requestOnly{}, responseOnly{}, logOnly{})
	var ctx filters.Context
	ctx.Attach(silent{})
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		at, _ := chain.Request(&ctx, 0)
		chain.RequestBody(&ctx, nil, true)
		chain.Response(&ctx, at)
		chain.ResponseBody(&ctx, at, nil, true)
		chain.Log(&ctx, at)
		ctx.Recycle()
	}))
}

// silent is a host that records nothing.
type silent struct{}

func (silent) Clock() int64                               { return 0 }
func (silent) Wake()                                      {}
func (silent) SetWaitDeadline(int64)                      {}
func (silent) FilterTime(*filters.Entry, int64)           {}
func (silent) FilterPanicked(*filters.Entry, any, []byte) {}
func (silent) FilterLength(*filters.Entry)                {}
func (silent) ResumedTwice()                              {}

func (silent) Call(string, *filters.CallRequest, int64) {}
func (silent) DropCall()                                {}
