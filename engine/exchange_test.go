package engine

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/pool"
	"github.com/corelane/corelane/route"
)

func TestForwardsAndKeepsBothConnections(t *testing.T) {
	o := newOrigin(t)
	g := newSetup(o.addr).start(t)
	c := g.dial().get("/a?b=c")
	up := o.accept()
	r := up.request()
	require.Equal(t, "/a?b=c", r.RequestURI)
	require.Equal(t, "a.test", r.Host)
	require.Equal(t, "127.0.0.1", r.Header.Get("X-Forwarded-For"))
	require.Equal(t, "http", r.Header.Get("X-Forwarded-Proto"))
	require.Equal(t, "a.test", r.Header.Get("X-Forwarded-Host"))
	require.Equal(t, "1.1 corelane", r.Header.Get("Via"))
	require.Regexp(t, `^00-[0-9a-f]{32}-[0-9a-f]{16}-01$`, r.Header.Get("Traceparent"))
	up.send(ok)
	head := c.expect(200, "ok")
	require.NotEmpty(t, head.Get("Date"))

	c.get("/again")
	require.Equal(t, "/again", up.request().RequestURI)
	up.send(ok)
	c.expect(200, "ok")
}

func TestAccessRecord(t *testing.T) {
	o := newOrigin(t)
	g := newSetup(o.addr).start(t)
	c := g.dial().get("/p%22q?secret=1", "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00\r\n")
	up := o.accept()
	require.Regexp(t, `^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00$`, up.request().Header.Get("Traceparent"))
	up.send(ok)
	c.expect(200, "ok")
	var rec map[string]any
	require.NoError(t, json.Unmarshal([]byte(g.records.next(t)), &rec))
	_, err := time.Parse("2006-01-02T15:04:05.000Z", rec["timestamp"].(string))
	require.NoError(t, err)
	delete(rec, "timestamp")
	require.GreaterOrEqual(t, rec["cost_ms"].(float64), 0.0)
	delete(rec, "cost_ms")
	require.Equal(t, map[string]any{
		"node": "test", "trace_id": "0af7651916cd43dd8448eb211c80319c", "client": "127.0.0.1", "route": "all",
		"method": "GET", "host": "a.test", "path": "/p%22q", "endpoint": o.addr, "status": 200.0, "reason": "",
		"bytes_in": 0.0, "bytes_out": 2.0, "tries": 1.0, "generation": 1.0,
	}, rec)
}

func TestResponsesAreReframed(t *testing.T) {
	cases := []struct {
		name, request, response string
		want                    []string
		not                     []string
		closed                  bool
	}{
		{
			"close-delimited becomes chunked", "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
			"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello",
			[]string{"Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n"},
			[]string{"Connection: close"},
			false,
		},
		{
			"HTTP/1.0 gets no chunks", "GET / HTTP/1.0\r\n\r\n",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
			[]string{"\r\n\r\nhello"},
			[]string{"chunked", "Content-Length"},
			true,
		},
		{
			"HTTP/1.0 keep-alive", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", ok,
			[]string{"Connection: keep-alive\r\n", "\r\n\r\nok"},
			nil, false,
		},
		{
			"trailers are relayed", "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX-Sum: 9\r\nContent-Length: 3\r\n\r\n",
			[]string{"1\r\nx\r\n0\r\nX-Sum: 9\r\n\r\n"},
			[]string{"Content-Length"},
			false,
		},
		{
			"204 has neither length nor body", "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
			"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n",
			[]string{"HTTP/1.1 204 No Content\r\n"},
			[]string{"Content-Length", "chunked"},
			false,
		},
		{
			"304 keeps its length", "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
			"HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\nETag: \"a\"\r\n\r\n",
			[]string{"Content-Length: 99\r\n", "ETag: \"a\"\r\n"},
			nil, false,
		},
		{
			"connection: close is honoured", "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", ok,
			[]string{"Connection: close\r\n", "\r\n\r\nok"},
			nil, true,
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			o := newOrigin(t)
			g := newSetup(o.addr).start(t)
			c := g.dial().send(tc.request)
			up := o.accept()
			up.request()
			up.send(tc.response)
			up.close()
			got := c.readUntil(tc.want[len(tc.want)-1])
			for _, w := range tc.want {
				require.Contains(t, got, w)
			}
			for _, n := range tc.not {
				require.NotContains(t, got, n)
			}
			if tc.closed {
				c.expectClosed()
			}
		})
	}
}

// readUntil reads until the text has been seen.
func (p *peer) readUntil(text string) string {
	p.t.Helper()
	var sb strings.Builder
	for !strings.Contains(sb.String(), text) {
		b, err := p.in.ReadByte()
		require.NoError(p.t, err, sb.String())
		sb.WriteByte(b)
	}
	return sb.String()
}

func TestRequestBodies(t *testing.T) {
	for name, tc := range map[string]struct{ request, body string }{
		"length":  {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", "hello"},
		"chunked": {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nX-T: 1\r\n\r\n", "hello"},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t)
			g := newSetup(o.addr).start(t)
			c := g.dial().send(tc.request)
			up := o.accept()
			r := up.request()
			b, _ := io.ReadAll(r.Body)
			require.Equal(t, tc.body, string(b))
			up.send(ok)
			c.expect(200, "ok")
		})
	}
}

func TestLocalAnswers(t *testing.T) {
	const host = "Host: a\r\n\r\n"
	cases := []struct {
		name, request string
		reason        codec.Reason
		keep          bool
	}{
		{"unknown path", "GET /nowhere HTTP/1.1\r\n" + host, codec.RouteNotFound, true},
		{"wrong method", "PUT /app HTTP/1.1\r\n" + host, codec.MethodNotAllowed, true},
		{"climbing path", "GET /../etc HTTP/1.1\r\n" + host, codec.AmbiguousPath, true},
		{"encoded slash", "GET /app/a%2fb HTTP/1.1\r\n" + host, codec.AmbiguousPath, true},
		{"no host", "GET /app HTTP/1.1\r\n\r\n", codec.BadRequest, false},
		{"connect", "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n", codec.NotImplemented, false},
		{"version", "GET /app HTTP/2.0\r\n" + host, codec.VersionNotSupported, false},
		{"two lengths", "POST /app HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n" + host, codec.BadFraming, false},
		{"expectation", "POST /app HTTP/1.1\r\nExpect: a-miracle\r\nContent-Length: 0\r\n" + host, codec.ExpectationFailed, true},
		{"long target", "GET /" + strings.Repeat("a", 9<<10) + " HTTP/1.1\r\n" + host, codec.URITooLong, false},
		{"large field", "GET /app HTTP/1.1\r\nX: " + strings.Repeat("a", 65<<10) + "\r\n" + host, codec.HeadersTooLarge, false},
		{"large body", "POST /app HTTP/1.1\r\nContent-Length: 1001\r\n" + host, codec.BodyTooLarge, true},
	}
	s := newSetup(refusing(t))
	s.spec = route.Spec{ID: "app", Kind: route.Prefix, Pattern: "/app", Methods: []string{"GET", "POST"}}
	s.listener.MaxBody = 1000
	g := s.start(t)
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c := g.dial().send(tc.request)
			c.t = t
			head := c.expectReason(tc.reason)
			require.Contains(t, g.records.next(t), `"reason":"`+tc.reason.String()+`"`)
			if tc.reason == codec.MethodNotAllowed {
				require.Equal(t, "GET, POST", head.Get("Allow"))
			}
			if !tc.keep {
				require.NoError(t, c.conn.CloseWrite())
				c.expectClosed()
				return
			}
			if tc.reason == codec.BodyTooLarge {
				c.send(strings.Repeat("x", 1001)) // discarded: the connection stays in step
			}
			c.get("/nowhere")
			c.expectReason(codec.RouteNotFound)
			g.records.next(t)
		})
	}
}

func TestChunkedBodyOverTheLimit(t *testing.T) {
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.listener.MaxBody = 10
	g := s.start(t)
	c := g.dial().send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n12345678\r\n")
	up := o.accept()
	up.requestHead()
	c.send("8\r\n12345678\r\n")
	c.expectReason(codec.BodyTooLarge)
	up.expectCut()
}

// expectCut reads until the connection ends, whatever came before.
func (p *peer) expectCut() {
	p.t.Helper()
	_, err := io.Copy(io.Discard, p.in)
	if err != nil {
		require.NotContains(p.t, err.Error(), "timeout")
	}
}

func TestHeadRequest(t *testing.T) {
	o := newOrigin(t)
	g := newSetup(o.addr).start(t)
	c := g.dial().send("HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n")
	up := o.accept()
	require.Equal(t, "HEAD", up.request().Method)
	up.send("HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n")
	_, head, _ := c.response("HEAD")
	require.Equal(t, "1234", head.Get("Content-Length"))
	c.send("HEAD /..%2f HTTP/1.1\r\nHost: a\r\n\r\n")
	status, head, _ := c.response("HEAD")
	require.Equal(t, 400, status)
	require.NotEqual(t, "0", head.Get("Content-Length"))
	c.get("/next")
	up.request()
	up.send(ok)
	c.expect(200, "ok")
}

func TestPipelinedRequestsAreAnsweredInOrder(t *testing.T) {
	o := newOrigin(t)
	g := newSetup(o.addr).start(t)
	c := g.dial()
	const n = 50
	for i := range n {
		c.get(fmt.Sprintf("/%d", i))
	}
	up := o.accept()
	for i := range n {
		require.Equal(t, fmt.Sprintf("/%d", i), up.request().RequestURI)
		up.send(fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n%04d\r\n0\r\n\r\n", i))
		c.expect(200, fmt.Sprintf("%04d", i))
	}
}

func TestExpectContinueIsForwarded(t *testing.T) {
	o := newOrigin(t)
	g := newSetup(o.addr).start(t)
	c := g.dial().send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
	up := o.accept()
	require.Equal(t, "100-continue", up.requestHead().Header.Get("Expect"))
	up.send("HTTP/1.1 100 Continue\r\nConnection: X-Hop\r\nX-Hop: 1\r\n\r\n")
	require.Equal(t, "HTTP/1.1 100 Continue\r\n\r\n", c.readUntil("\r\n\r\n"))
	c.send("hi")
	up.readUntil("hi")
	up.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + ok)
	require.Contains(t, c.readUntil("\r\n\r\n"), "103 Early Hints\r\nLink: </a>")
	c.expect(200, "ok")
}

func TestEarlyAnswerToAnExpectationCloses(t *testing.T) {
	o := newOrigin(t)
	g := newSetup(o.addr).start(t)
	c := g.dial().send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
	up := o.accept()
	up.requestHead()
	up.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
	head := c.expect(403, "")
	require.Equal(t, "close", head.Get("Connection"))
	up.expectCut()
	require.NoError(t, c.conn.CloseWrite())
	c.expectClosed()
}

func TestTrustedProxy(t *testing.T) {
	fields := []string{
		"X-Forwarded-For: 203.0.113.9, 127.0.0.5\r\n", "X_Forwarded_For: 6.6.6.6\r\n",
		"X-Forwarded-Proto: https\r\n", "X-Forwarded-Host: shop.test\r\n", "X-Real-IP: 203.0.113.9\r\n",
	}
	t.Run("untrusted", func(t *testing.T) {
		o := newOrigin(t)
		g := newSetup(o.addr).start(t)
		c := g.dial().get("/", fields...)
		up := o.accept()
		h := up.request().Header
		require.Equal(t, []string{"127.0.0.1"}, h.Values("X-Forwarded-For"))
		require.Equal(t, []string{"http"}, h.Values("X-Forwarded-Proto"))
		require.Equal(t, []string{"a.test"}, h.Values("X-Forwarded-Host"))
		require.Empty(t, h.Values("X-Real-Ip"))
		require.Empty(t, h.Values("X_forwarded_for"))
		up.send(ok)
		c.expect(200, "ok")
		require.Contains(t, g.records.next(t), `"client":"127.0.0.1"`)
	})
	t.Run("trusted", func(t *testing.T) {
		o := newOrigin(t)
		s := newSetup(o.addr)
		s.listener.TrustedProxies = loopbackPrefix
		g := s.start(t)
		c := g.dial().get("/", fields...)
		up := o.accept()
		h := up.request().Header
		require.Equal(t, []string{"203.0.113.9, 127.0.0.5, 127.0.0.1"}, h.Values("X-Forwarded-For"))
		require.Equal(t, []string{"https"}, h.Values("X-Forwarded-Proto"))
		require.Equal(t, []string{"shop.test"}, h.Values("X-Forwarded-Host"))
		up.send(ok)
		c.expect(200, "ok")
		require.Contains(t, g.records.next(t), `"client":"203.0.113.9"`)
	})
}

func TestMaxForwards(t *testing.T) {
	o := newOrigin(t)
	g := newSetup(o.addr).start(t)
	c := g.dial().send("OPTIONS / HTTP/1.1\r\nHost: a\r\nMax-Forwards: 0\r\n\r\n")
	require.NotEmpty(t, c.expect(200, "").Get("Allow"))
	c.send("TRACE / HTTP/1.1\r\nHost: a\r\nMax-Forwards: 0\r\n\r\n")
	require.NotEmpty(t, c.expect(405, "").Get("Allow"))
	c.send("OPTIONS * HTTP/1.1\r\nHost: a\r\nMax-Forwards: 3\r\n\r\n")
	up := o.accept()
	r := up.request()
	require.Equal(t, "*", r.RequestURI)
	require.Equal(t, "2", r.Header.Get("Max-Forwards"))
	up.send(ok)
	c.expect(200, "ok")
}

func TestFullPoolQueuesThenRefuses(t *testing.T) {
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.limits = pool.Limits{MaxConnections: 1, MaxWaiting: 1, Wait: patience, Idle: time.Minute}
	g := s.start(t)
	first := g.dial().get("/1")
	up := o.accept()
	up.request()
	second := g.dial().get("/2")
	require.Eventually(t, func() bool { return g.stats().Pool.Waited == 1 }, patience, time.Millisecond)
	g.dial().get("/3").expectReason(codec.PoolExhausted)
	up.send(ok)
	first.expect(200, "ok")
	require.Equal(t, "/2", up.request().RequestURI)
	up.send(ok)
	second.expect(200, "ok")
}

func TestWaitingForAConnectionHasADeadline(t *testing.T) {
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.limits = pool.Limits{MaxConnections: 1, MaxWaiting: 10, Wait: time.Millisecond, Idle: time.Minute}
	g := s.start(t)
	g.dial().get("/1")
	o.accept().request()
	g.dial().get("/2").expectReason(codec.PoolExhausted)
}
