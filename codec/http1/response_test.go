package http1

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
)

func requireResponse(t *testing.T, wire string, request codec.Method) *codec.Head {
	t.Helper()
	o, h := checkSplits(t, wire, nil, true, request)
	require.True(t, o.done, "%q: %v %s", wire, o.reason, o.detail)
	require.Equal(t, len(wire), o.consumed)
	return h
}

func TestStatusLines(t *testing.T) {
	for _, c := range []struct {
		line   string
		status int
		reason string
		minor  int
	}{
		{"HTTP/1.1 200 OK", 200, "OK", 1},
		{"HTTP/1.0 404 Not Found", 404, "Not Found", 0},
		{"HTTP/1.2 299 ", 299, "", 1},
		{"HTTP/1.1 503", 503, "", 1},
		{"HTTP/1.1 200 \xe9t\xe9\tx", 200, "\xe9t\xe9\tx", 1},
		{"HTTP/1.1 999 Odd", 999, "Odd", 1},
	} {
		h := requireResponse(t, c.line+"\r\nContent-Length: 0\r\n\r\n", codec.GET)
		assert.Equal(t, c.status, h.Status())
		assert.Equal(t, c.reason, string(h.ReasonPhrase()))
		assert.Equal(t, c.minor, h.Minor())
	}
}

func TestBadResponses(t *testing.T) {
	for _, wire := range []string{
		"\r\nHTTP/1.1 200 OK\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n", "http/1.1 200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n",
		"HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 099 OK\r\n\r\n", "HTTP/1.1 -20 OK\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n",
		"HTTP/1.1\t200 OK\r\n\r\n", "HTTP/1.1 200 O\x00K\r\n\r\n", "HTTP/1.1 200 OK\n\n", "HTTP/1.1 200 OK\rX\r\n\r\n",
		"ICY 200 OK\r\n\r\n", "garbage", "HTTP/1.1 200 OK\r\nX: 1\r\n folded\r\n\r\n", "HTTP/1.1 200 OK\r\n : 1\r\n\r\n", "HTTP/1.1 200 OK\r\nX y: 1\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
		"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 204 No\r\nContent-Length: -1\r\n\r\n",
	} {
		o, _ := checkSplits(t, wire, nil, true, codec.GET)
		assert.Equal(t, codec.UpstreamBadResponse, o.reason, "%q: %s", wire, o.detail)
	}
	for _, lim := range []Limits{{RequestLine: 8}, {Headers: 8}, {HeaderCount: 1}} {
		o, _ := checkSplits(t, "HTTP/1.1 200 OK\r\nA: 1\r\nB: 123456\r\n\r\n", &lim, true, codec.GET)
		assert.Equal(t, codec.UpstreamBadResponse, o.reason)
	}
}

func TestResponseFraming(t *testing.T) {
	const (
		length  = "Content-Length: 5\r\n"
		chunked = "Transfer-Encoding: chunked\r\n"
	)
	for _, c := range []struct {
		status, lines string
		request       codec.Method
		framing       codec.Framing
		length        int64
		keep          bool
	}{
		{"200", length, codec.GET, codec.FramingLength, 5, true},
		{"200", length + length, codec.GET, codec.FramingLength, 5, true},
		{"200", length + "Connection: close\r\n", codec.GET, codec.FramingLength, 5, false},
		{"200", chunked, codec.GET, codec.FramingChunked, -1, true},
		{"200", "", codec.GET, codec.FramingClose, -1, false},
		{"200", length, codec.HEAD, codec.FramingNone, 5, true},
		{"200", chunked, codec.HEAD, codec.FramingNone, -1, true},
		{"200", "", codec.HEAD, codec.FramingNone, -1, true},
		{"304", length, codec.GET, codec.FramingNone, 5, true},
		{"204", length, codec.GET, codec.FramingNone, 5, true},
		{"100", "", codec.POST, codec.FramingNone, -1, true},
		{"103", "Link: x\r\n", codec.GET, codec.FramingNone, -1, true},
	} {
		h := requireResponse(t, "HTTP/1.1 "+c.status+" X\r\n"+c.lines+"\r\n", c.request)
		assert.Equal(t, c.framing, h.Framing(), "%+v", c)
		assert.Equal(t, c.length, h.ContentLength(), "%+v", c)
		assert.Equal(t, c.keep, h.KeepAlive(), "%+v", c)
	}
	h := requireResponse(t, "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n"+length+"\r\n", codec.GET)
	assert.True(t, h.KeepAlive())
	h = requireResponse(t, "HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n", codec.GET)
	assert.Equal(t, codec.FramingNone, h.Framing())
	assert.Equal(t, "websocket", string(h.Upgrade()))
}

func TestInterimResponsesComeOneByOne(t *testing.T) {
	var d Decoder
	h := new(codec.Head)
	rest := []byte("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	for _, want := range []int{100, 103, 200} {
		n, done, err := d.Response(h, rest, nil, codec.POST)
		require.NoError(t, err)
		require.True(t, done)
		assert.Equal(t, want, h.Status())
		rest = rest[n:]
	}
	assert.Empty(t, rest)
}

// RFC 9112 §5.1: a proxy takes the white space out of a response.
func TestSpaceBeforeTheColonOfAResponse(t *testing.T) {
	const wire = "HTTP/1.1 200 OK\r\nX-A : 1\r\nX-B\t :2\r\nContent-Length  : 0\r\n\r\n"
	o, _ := checkSplits(t, wire, nil, true, codec.GET)
	require.True(t, o.done, o.detail)
	h := requireResponse(t, wire, codec.GET)
	assert.Equal(t, "1", string(h.GetName("X-A")))
	assert.Equal(t, "2", string(h.GetName("X-B")))
	assert.Equal(t, codec.FramingLength, h.Framing())
	assert.Equal(t, "HTTP/1.1 200 OK\r\nX-A: 1\r\nX-B: 2\r\nContent-Length: 0\r\n\r\n",
		string(AppendResponse(nil, h, ResponseOptions{})))
}
