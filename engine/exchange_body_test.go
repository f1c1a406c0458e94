package engine

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/filters"
)

// editor is a filter that changes bodies: what it makes of each piece lies in one
// buffer, as a filter's does that keeps it for each loop.
type editor struct {
	says     bool // that lengths change
	request  func([]byte, bool) []byte
	response func([]byte, bool) []byte
	buf      []byte
}

func (e *editor) head(ctx *filters.Context) filters.Verdict {
	if e.says {
		ctx.BodyChanges()
	}
	return filters.Continue
}

func (e *editor) OnRequest(ctx *filters.Context) filters.Verdict  { return e.head(ctx) }
func (e *editor) OnResponse(ctx *filters.Context) filters.Verdict { return e.head(ctx) }

func (e *editor) OnRequestBody(ctx *filters.Context, b []byte, last bool) filters.Verdict {
	if e.request != nil {
		e.buf = append(e.buf[:0], e.request(b, last)...)
		ctx.ReplaceBody(e.buf)
	}
	return filters.Continue
}

func (e *editor) OnResponseBody(ctx *filters.Context, b []byte, last bool) {
	if e.response != nil {
		e.buf = append(e.buf[:0], e.response(b, last)...)
		ctx.ReplaceBody(e.buf)
	}
}

func upper(b []byte, _ bool) []byte { return bytes.ToUpper(b) }

// twice doubles every byte and ends the body with a full stop.
func twice(b []byte, last bool) []byte {
	var out []byte
	for _, c := range b {
		out = append(out, c, c)
	}
	if last {
		out = append(out, '.')
	}
	return out
}

func nothing([]byte, bool) []byte { return nil }

func TestFilterReplacesTheRequestBody(t *testing.T) {
	const length, chunked = "Content-Length: 5\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n1\r\nl\r\n1\r\no\r\n0\r\n\r\n"
	for name, tt := range map[string]struct {
		body   string
		edit   editor
		want   string
		length int64
	}{
		"same length":              {length, editor{request: upper}, "HELLO", 5},
		"same length in chunks":    {chunked, editor{request: upper}, "HELLO", -1},
		"other length":             {length, editor{says: true, request: twice}, "hheelllloo.", -1},
		"other length in chunks":   {chunked, editor{says: true, request: twice}, "hheelllloo.", -1},
		"nothing is left":          {length, editor{says: true, request: nothing}, "", -1},
		"says so and does not":     {length, editor{says: true}, "hello", -1},
		"an empty body has a tail": {"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", editor{says: true, request: twice}, ".", -1},
		"no body has no tail":      {"\r\n", editor{says: true, request: twice}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t)
			s := newSetup(o.addr)
			s.filters = []any{&tt.edit}
			g := s.start(t)
			c := g.dial().send("PUT / HTTP/1.1\r\nHost: a\r\n", tt.body)
			up := o.accept()
			r := up.request()
			body, _ := io.ReadAll(r.Body)
			require.Equal(t, tt.want, string(body))
			require.Equal(t, tt.length, r.ContentLength)
			up.send(ok)
			c.expect(200, "ok")
			require.Zero(t, g.stats().FilterLengths)
		})
	}
}

// What is held for another try is what the filters made, and they see each byte
// once.
func TestReplacedBodyIsRepeated(t *testing.T) {
	for name, hold := range map[string]bool{"streamed": false, "held whole": true} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t)
			s := newSetup(o.addr)
			if hold {
				s = buffered(t, 1<<20, o.addr)
			}
			seen := 0
			s.filters = []any{&editor{says: true, request: func(b []byte, last bool) []byte {
				seen += len(b)
				return twice(b, last)
			}}}
			g := s.start(t)
			c := g.dial().send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi")
			up := o.accept()
			up.request()
			up.reset()
			up = o.accept()
			body, _ := io.ReadAll(up.request().Body)
			require.Equal(t, "hhii.", string(body))
			up.send(ok)
			c.expect(200, "ok")
			g.records.next(t)
			require.Equal(t, 2, seen)
		})
	}
}

// A length that was promised is kept: who changes it without a word is stopped.
func TestFilterMustSayThatLengthsChange(t *testing.T) {
	t.Run("of the request", func(t *testing.T) {
		o := newOrigin(t)
		s := newSetup(o.addr)
		s.filters = []any{&editor{request: twice}}
		g := s.start(t)
		g.dial().send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi").expectReason(codec.InternalError)
		require.EqualValues(t, 1, g.stats().FilterLengths)
	})
	t.Run("of the response", func(t *testing.T) {
		o := newOrigin(t).serve(echoOK)
		s := newSetup(o.addr)
		s.filters = []any{&editor{response: twice}}
		g := s.start(t)
		c := g.dial().get("/")
		require.Contains(t, c.readUntil("\r\n\r\n"), "Content-Length: 2")
		c.expectClosed()
		require.EqualValues(t, 1, g.stats().FilterLengths)
		require.Contains(t, g.records.next(t), `"reason":"internal_error"`)
	})
}

func TestFilterReplacesTheResponseBody(t *testing.T) {
	chunked := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n1\r\n!\r\n0\r\n\r\n"
	for name, tt := range map[string]struct {
		method, response string
		edit             editor
		want, length     string
	}{
		"same length":            {"GET", ok, editor{response: upper}, "OK", "2"},
		"same length in chunks":  {"GET", chunked, editor{response: upper}, "OK!", ""},
		"other length":           {"GET", ok, editor{says: true, response: twice}, "ookk.", ""},
		"other length in chunks": {"GET", chunked, editor{says: true, response: twice}, "ookk!!.", ""},
		"nothing is left":        {"GET", ok, editor{says: true, response: nothing}, "", ""},
		"an empty one":           {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", editor{says: true, response: twice}, ".", ""},
		"answer to HEAD":         {"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", editor{says: true, response: twice}, "", ""},
		"204":                    {"GET", "HTTP/1.1 204 No Content\r\n\r\n", editor{says: true, response: twice}, "", ""},
		"304":                    {"GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\n", editor{says: true, response: twice}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t)
			s := newSetup(o.addr)
			s.filters = []any{&tt.edit}
			g := s.start(t)
			c := g.dial().send(tt.method + " / HTTP/1.1\r\nHost: a\r\n\r\n")
			up := o.accept()
			up.request()
			up.send(tt.response)
			_, head, body := c.response(tt.method)
			require.Equal(t, tt.want, body)
			require.Equal(t, tt.length, head.Get("Content-Length"))
			require.Contains(t, g.records.next(t), fmt.Sprintf(`"bytes_out":%d`, len(tt.want)))
			c.get("/again") // framing was kept
			up.request()
			up.send("HTTP/1.1 204 No Content\r\n\r\n")
			status, _, _ := c.response("GET")
			require.Equal(t, 204, status)
		})
	}
}

// Several pieces may come out of one read: a filter's one buffer carries each of
// them all the same.
func TestReplacedPiecesOfOneRead(t *testing.T) {
	var request, want strings.Builder
	for i := range 50 {
		piece := strings.Repeat(string(rune('a'+i%26)), 600)
		fmt.Fprintf(&request, "258\r\n%s\r\n", piece)
		want.WriteString(strings.ToUpper(piece))
	}
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.filters = []any{&editor{request: upper, response: upper}}
	g := s.start(t)
	c := g.dial().send("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", request.String(), "0\r\n\r\n")
	up := o.accept()
	body, _ := io.ReadAll(up.request().Body)
	require.Equal(t, want.String(), string(body))
	up.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", request.String(), "0\r\n\r\n")
	c.expect(200, want.String())
}

// Filters change requests in written order and responses in the reverse, local
// answers too.
func TestBodiesPassFiltersInOrder(t *testing.T) {
	add := func(mark string) *editor {
		end := func(b []byte, last bool) []byte {
			if last {
				return append(bytes.Clone(b), mark...)
			}
			return b
		}
		return &editor{says: true, request: end, response: end}
	}
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.listening = []any{add("1")}
	s.filters = []any{add("2"), add("3"), &probe{request: func(ctx *filters.Context) filters.Verdict {
		if string(ctx.Request.Path()) == "/local" {
			return ctx.Respond(200, []byte("here"))
		}
		return filters.Continue
	}}}
	g := s.start(t)
	c := g.dial().send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nup")
	up := o.accept()
	body, _ := io.ReadAll(up.request().Body)
	require.Equal(t, "up123", string(body))
	up.send(ok)
	c.expect(200, "ok321")
	c.get("/local").expect(200, "here321")
}

// A filter sees the body of the head that it saw: when an outer filter replaces
// the response, those within have nothing to do with it.
func TestReplacedResponseIsNotChangedByThoseWithin(t *testing.T) {
	o := newOrigin(t).serve(echoOK)
	s := newSetup(o.addr)
	replaces := &probe{response: func(ctx *filters.Context) filters.Verdict {
		if string(ctx.Request.Path()) == "/late" {
			ctx.Wait(10 * time.Millisecond)
			return filters.Wait
		}
		return ctx.Respond(203, []byte("new"))
	}}
	s.listening = []any{&editor{response: upper}}
	s.filters = []any{replaces, &editor{says: true, response: twice}}
	g := s.start(t)
	require.Equal(t, "3", g.dial().get("/").expect(203, "NEW").Get("Content-Length"))
	status, _, body := g.dial().get("/late").response("GET")
	require.Equal(t, 503, status)
	require.Contains(t, body, "FILTER_UNAVAILABLE")
}

// A body that drips in holds a connection of the service for nothing.
func TestSlowStreamedBody(t *testing.T) {
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.listener.MinBodyRate = 1 << 20
	s.tune = func(server *Server) { server.rateWindow = int64(20 * time.Millisecond) }
	g := s.start(t)
	c := g.dial().send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nslo")
	up := o.accept()
	c.expectReason(codec.RequestTimeout)
	up.expectCut()
	c.expectClosed()
}

// clockwork is an alarm that tells a test.
type clockwork chan struct{}

func (c clockwork) OnTimer(uint8, int64) { close(c) }

// passes returns when that time has passed for the loop, and so for every timer
// that was due in it.
func (g *gateway) passes(d time.Duration) {
	due := make(clockwork)
	var timer reactor.Timer
	timer.Init(due, 0)
	g.server.workers[0].loop.Post(&reactor.Task{Run: func(l *reactor.Loop) { l.Arm(&timer, l.Now()+d.Nanoseconds()) }})
	<-due
}

// The rate is that of the client: time in which the gateway does not read, and
// time before the body, does not count.
func TestRateOfAPausedBody(t *testing.T) {
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.listener.MinBodyRate = 1
	s.tune = func(server *Server) { server.rateWindow = int64(20 * time.Millisecond) }
	handles := make(chan filters.Handle, 1)
	s.filters = []any{waiting(handles, time.Minute)}
	g := s.start(t)
	c := g.dial().send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello")
	h := <-handles
	g.passes(60 * time.Millisecond)
	h.Resume(nil)
	up := o.accept()
	body, _ := io.ReadAll(up.request().Body)
	require.Equal(t, "hello", string(body))
	up.send(ok)
	c.expect(200, "ok")
}

// Within one delivery a body may be refused, by an answer that waits, and end.
func TestBodyEndsBehindItsRefusal(t *testing.T) {
	handles := make(chan filters.Handle, 1)
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.filters = []any{&probe{
		body: func(ctx *filters.Context, _ []byte, _ bool) filters.Verdict { return ctx.Fail(codec.Forbidden, "no") },
		response: func(ctx *filters.Context) filters.Verdict {
			handles <- ctx.Wait(0)
			return filters.Wait
		},
		resume: func(*filters.Context, any) filters.Verdict { return filters.Continue },
	}}
	g := s.start(t)
	c := g.dial()
	for range 2 {
		c.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello")
		(<-handles).Resume(nil)
		c.expectReason(codec.Forbidden)
	}
	require.Zero(t, g.stats().Reactor.Panics)
}

// A body may be refused at its last piece: nothing of it is left to be read, and
// the next request is served, wherever the pieces end.
func TestNextRequestBehindARefusedBody(t *testing.T) {
	const request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
	for name, deliveries := range map[string][]string{
		"one by one":       {request},
		"at once":          {request + request},
		"in two pieces":    {request[:len(request)-2], request[len(request)-2:]},
		"with a next head": {request + "POST / HTTP/1.1\r\nHo", "st: a\r\nContent-Length: 5\r\n\r\nhello"},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t)
			s := newSetup(o.addr)
			seen := 0
			s.filters = []any{&probe{body: func(ctx *filters.Context, b []byte, _ bool) filters.Verdict {
				if seen += len(b); seen%5 != 0 {
					return filters.Continue
				}
				return ctx.Fail(codec.Forbidden, "no")
			}}}
			g := s.start(t)
			c := g.dial()
			for range 2 {
				for _, d := range deliveries {
					c.send(d)
				}
				for range strings.Count(strings.Join(deliveries, ""), "POST") {
					require.Empty(t, c.expectReason(codec.Forbidden).Get("Connection"))
				}
			}
			c.send("POST / HTTP/1.0\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello")
			c.expectReason(codec.Forbidden)
			c.expectClosed()
		})
	}
}
