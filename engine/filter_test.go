package engine

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
)

// probe is a filter made of functions.
type probe struct {
	request  func(*filters.Context) filters.Verdict
	body     func(*filters.Context, []byte, bool) filters.Verdict
	response func(*filters.Context) filters.Verdict
	respBody func([]byte, bool)
	resume   func(*filters.Context, any) filters.Verdict
	logged   func(*filters.Context)
}

func (p *probe) OnRequest(ctx *filters.Context) filters.Verdict {
	if p.request == nil {
		return filters.Continue
	}
	return p.request(ctx)
}

func (p *probe) OnRequestBody(ctx *filters.Context, b []byte, last bool) filters.Verdict {
	if p.body == nil {
		return filters.Continue
	}
	return p.body(ctx, b, last)
}

func (p *probe) OnResponse(ctx *filters.Context) filters.Verdict {
	if p.response == nil {
		return filters.Continue
	}
	return p.response(ctx)
}

func (p *probe) OnResponseBody(_ *filters.Context, b []byte, last bool) {
	if p.respBody != nil {
		p.respBody(b, last)
	}
}

func (p *probe) OnResume(ctx *filters.Context, v any) filters.Verdict { return p.resume(ctx, v) }

func (p *probe) OnLog(ctx *filters.Context) {
	if p.logged != nil {
		p.logged(ctx)
	}
}

func TestFiltersRunInOrderAndBack(t *testing.T) {
	var seen []string
	mark := func(name string) *probe {
		note := func(what string) func(*filters.Context) filters.Verdict {
			return func(*filters.Context) filters.Verdict {
				seen = append(seen, name+what)
				return filters.Continue
			}
		}
		return &probe{
			request: note(" request"), response: note(" response"),
			logged: func(*filters.Context) { seen = append(seen, name+" log") },
		}
	}
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.listening = []any{mark("listener")}
	s.filters = []any{mark("a"), mark("b")}
	g := s.start(t)
	warm(g, o, g.dial())
	g.records.next(t)
	require.Equal(t, []string{
		"listener request", "a request", "b request", "b response", "a response", "listener response",
		"a log", "b log", "listener log",
	}, seen)
}

func TestFilterAnswers(t *testing.T) {
	s := newSetup(refusing(t))
	reached := false
	s.filters = []any{
		&probe{response: func(ctx *filters.Context) filters.Verdict {
			ctx.Response.SetString("X-Seen", "yes")
			return filters.Continue
		}},
		&probe{request: func(ctx *filters.Context) filters.Verdict {
			return ctx.Respond(418, []byte("teapot"), filters.ReplyField{Name: "X-A", Value: "b"})
		}},
		&probe{request: func(*filters.Context) filters.Verdict { reached = true; return filters.Continue }},
	}
	g := s.start(t)
	c := g.dial().get("/")
	head := c.expect(418, "teapot")
	require.Equal(t, "b", head.Get("X-A"))
	require.Equal(t, "yes", head.Get("X-Seen"))
	require.False(t, reached)
	c.get("/again")
	c.expect(418, "teapot")
}

// An answer may have both a reason and a body of its own.
func TestFilterAnswersForAReason(t *testing.T) {
	s := newSetup(refusing(t))
	again := filters.ReplyField{Name: "Retry-After", Value: "60"}
	s.filters = []any{&probe{request: func(ctx *filters.Context) filters.Verdict {
		reply := filters.Reply{Status: 503, Reason: codec.Maintenance, Message: "later", Fields: []filters.ReplyField{again}}
		if string(ctx.Request.Path()) == "/own" {
			reply.Status, reply.Body = 200, []byte("closed")
		}
		return ctx.Answer(reply)
	}}}
	g := s.start(t)
	c := g.dial().get("/own")
	require.Equal(t, "60", c.expect(200, "closed").Get("Retry-After"))
	require.Contains(t, g.records.next(t), `"reason":"maintenance"`)
	c.get("/")
	status, head, body := c.response("GET")
	require.Equal(t, 503, status)
	require.Equal(t, "60", head.Get("Retry-After"))
	require.Equal(t, []string{"application/json"}, head.Values("Content-Type"))
	require.Contains(t, body, `"error":"maintenance","message":"later"`)
	require.Contains(t, g.records.next(t), `"reason":"maintenance"`)
	require.Equal(t, uint64(2), g.stats().Reasons[codec.Maintenance])
}

func TestFilterPanics(t *testing.T) {
	boom := func(*filters.Context) filters.Verdict { panic("boom") }
	for name, f := range map[string]*probe{
		"in the request":  {request: boom},
		"in the response": {response: boom},
		"in the log":      {logged: func(*filters.Context) { panic("boom") }},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t).serve(echoOK)
			s := newSetup(o.addr)
			s.filters = []any{f}
			g := s.start(t)
			c := g.dial().get("/")
			if name == "in the log" {
				c.expect(200, "ok")
			} else {
				c.expectReason(codec.InternalError)
			}
			g.records.next(t)
			events, _ := g.server.TakeEvents()
			require.NotEmpty(t, events)
			require.Equal(t, EventFilterPanic, events[0].Kind)
			require.Equal(t, "test", events[0].Name)
			require.Contains(t, string(events[0].Stack), "filter_test.go")
			require.Equal(t, uint64(1), g.stats().FilterPanics)
			c.get("/again") // the loop goes on
			status, _, _ := c.response("GET")
			require.NotZero(t, status)
		})
	}
}

func TestFilterOverrunIsReported(t *testing.T) {
	o := newOrigin(t).serve(echoOK)
	s := newSetup(o.addr)
	s.options.FilterBudget = time.Nanosecond
	s.filters = []any{&probe{}}
	g := s.start(t)
	g.dial().get("/").expect(200, "ok")
	g.records.next(t)
	events, _ := g.server.TakeEvents()
	require.NotEmpty(t, events)
	require.Equal(t, EventFilterOverrun, events[0].Kind)
	require.Equal(t, "all", events[0].Route)
}

// waiting returns a filter that hands its handle over and goes on when resumed.
func waiting(handles chan filters.Handle, timeout time.Duration) *probe {
	return &probe{
		request: func(ctx *filters.Context) filters.Verdict {
			handles <- ctx.Wait(timeout)
			return filters.Wait
		},
		resume: func(ctx *filters.Context, v any) filters.Verdict {
			if err, bad := v.(error); bad {
				return ctx.Fail(codec.Forbidden, err.Error())
			}
			return filters.Continue
		},
	}
}

func TestFilterWaits(t *testing.T) {
	handles := make(chan filters.Handle, 10)
	o := newOrigin(t).serve(echoOK)
	s := newSetup(o.addr)
	s.filters = []any{waiting(handles, 0)}
	g := s.start(t)
	c := g.dial().send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi")
	h := <-handles
	require.True(t, h.Resume(nil))
	require.False(t, h.Resume(nil), "a handle counts once")
	c.expect(200, "ok")
	require.Equal(t, uint64(1), g.server.ResumedTwice())

	c.get("/denied")
	require.True(t, (<-handles).Resume(errors.New("not today")))
	c.expectReason(codec.Forbidden)
	require.False(t, h.Resume(nil), "a handle of an exchange that is gone")
}

func TestFilterWaitsTooLong(t *testing.T) {
	handles := make(chan filters.Handle, 10)
	s := newSetup(refusing(t))
	s.filters = []any{waiting(handles, time.Millisecond)}
	g := s.start(t)
	c := g.dial().get("/")
	c.expectReason(codec.FilterUnavailable)
	require.False(t, (<-handles).Resume(nil))
}

func TestClientLeavesWhileAFilterWaits(t *testing.T) {
	handles := make(chan filters.Handle, 10)
	s := newSetup(refusing(t))
	s.filters = []any{waiting(handles, 0)}
	g := s.start(t)
	c := g.dial().get("/")
	h := <-handles
	c.reset()
	require.Contains(t, g.records.next(t), "client_aborted")
	require.False(t, h.Resume(nil))
	require.Zero(t, g.stats().LiveExchanges)
}

func TestResponseFilterWaits(t *testing.T) {
	handles := make(chan filters.Handle, 10)
	o := newOrigin(t).serve(echoOK)
	s := newSetup(o.addr)
	s.filters = []any{&probe{
		response: func(ctx *filters.Context) filters.Verdict {
			handles <- ctx.Wait(0)
			return filters.Wait
		},
		resume: func(ctx *filters.Context, _ any) filters.Verdict {
			ctx.Response.SetString("X-Late", "1")
			return filters.Continue
		},
	}}
	g := s.start(t)
	c := g.dial().get("/")
	(<-handles).Resume(nil)
	require.Equal(t, "1", c.expect(200, "ok").Get("X-Late"))
	c.get("/again")
	(<-handles).Resume(nil)
	c.expect(200, "ok")
}

func TestResponseFilterReplaces(t *testing.T) {
	o := newOrigin(t).serve(echoOK)
	s := newSetup(o.addr)
	s.filters = []any{&probe{response: func(ctx *filters.Context) filters.Verdict {
		if ctx.Response.Status() != 200 {
			return filters.Continue
		}
		return ctx.Respond(203, []byte("other"))
	}}}
	g := s.start(t)
	c := g.dial().get("/")
	c.expect(203, "other")
	c.get("/again")
	c.expect(203, "other")
}

func TestBodyFilters(t *testing.T) {
	var up, down string
	lastUp, lastDown := false, false
	o := newOrigin(t).serve(echoOK)
	s := newSetup(o.addr)
	s.filters = []any{&probe{
		body: func(_ *filters.Context, b []byte, last bool) filters.Verdict {
			up += string(b)
			lastUp = lastUp || last
			return filters.Continue
		},
		respBody: func(b []byte, last bool) { down += string(b); lastDown = lastDown || last },
	}}
	g := s.start(t)
	c := g.dial().send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhe", "llo")
	c.expect(200, "ok")
	g.records.next(t)
	require.Equal(t, "hello", up)
	require.Equal(t, "ok", down)
	require.True(t, lastUp && lastDown)
}

func TestBodyFilterRefuses(t *testing.T) {
	o := newOrigin(t).serve(echoOK)
	s := newSetup(o.addr)
	s.filters = []any{&probe{body: func(ctx *filters.Context, _ []byte, _ bool) filters.Verdict {
		return ctx.Fail(codec.Forbidden, "not this body")
	}}}
	g := s.start(t)
	c := g.dial().send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello")
	c.expectReason(codec.Forbidden)
}
