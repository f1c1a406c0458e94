package http1

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
)

func TestAppendRequestCopiesWhatIsPlain(t *testing.T) {
	wire := "POST /a?b HTTP/1.1\r\nHost: a.test\r\nX-A: 1\r\nContent-Length: 5\r\nX-B: 2\r\n\r\n"
	assert.Equal(t, wire, string(AppendRequest(nil, requireRequest(t, wire))))
}

// rewriting is a request as received, a change, and what is sent.
type rewriting struct {
	name, in string
	change   func(h *codec.Head)
	out      string
}

var rewrittenLines = []rewriting{
	{
		"an odd head is written anew",
		"GET http://b.test:81?q HTTP/1.0\r\nX-A:1 \r\nHost:  other\r\nX-B: 2\r\n\r\n", nil,
		"GET /?q HTTP/1.1\r\nHost: b.test:81\r\nX-A: 1\r\nX-B: 2\r\n\r\n",
	},
	{
		"Host comes first",
		"GET / HTTP/1.1\r\nX-A: 1\r\nHost: a.test\r\nX-B: 2\r\n\r\n", nil,
		"GET / HTTP/1.1\r\nHost: a.test\r\nX-A: 1\r\nX-B: 2\r\n\r\n",
	},
	{
		"a removed Host is still sent",
		"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", func(h *codec.Head) { h.Del("host") },
		"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
	},
	{"HTTP/1.0 without Host", "GET / HTTP/1.0\r\n\r\n", nil, "GET / HTTP/1.1\r\nHost: \r\n\r\n"},
	{"asterisk form", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", nil, "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"},
	{
		"a strange length is written as a number",
		get("Content-Length:  007\r\nX: 1\r\n"), nil,
		"GET / HTTP/1.1\r\nHost: a.test\r\nX: 1\r\nContent-Length: 7\r\n\r\n",
	},
}

var rewrittenFraming = []rewriting{
	{
		"chunked", get("transfer-encoding: CHUNKED\r\nX: 1\r\n"), nil,
		"GET / HTTP/1.1\r\nHost: a.test\r\nX: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
	},
	{
		"a held body has a length", get("Transfer-Encoding: chunked\r\n"),
		func(h *codec.Head) { h.SetFraming(codec.FramingLength, 12) },
		"GET / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 12\r\n\r\n",
	},
	{
		"a changed length", get("Content-Length: 5\r\n"), func(h *codec.Head) { h.SetFraming(codec.FramingLength, 6) },
		"GET / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 6\r\n\r\n",
	},
	{
		"a removed length field is written all the same", get("Content-Length: 5\r\n"),
		func(h *codec.Head) { h.DelKnown(codec.ContentLength) },
		"GET / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n\r\n",
	},
	{
		"no body", get("Content-Length: 5\r\n"), func(h *codec.Head) { h.SetFraming(codec.FramingNone, -1) },
		"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
	},
	{
		"a request never ends by close", get(""), func(h *codec.Head) { h.SetFraming(codec.FramingClose, -1) },
		"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
	},
}

var rewrittenFields = []rewriting{
	{
		"hop-by-hop is never copied",
		get("Connection: close\r\nKeep-Alive: 1\r\nProxy-Connection: x\r\nTE: trailers\r\nUpgrade: x\r\nHTTP2-Settings: y\r\nX: 1\r\n"), nil,
		"GET / HTTP/1.1\r\nHost: a.test\r\nX: 1\r\n\r\n",
	},
	{
		"an upgrade that is kept", get("Connection: upgrade, X-H\r\nX-H: 1\r\nUpgrade: websocket\r\n"),
		func(h *codec.Head) { h.DropHopByHop(true) },
		"GET / HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
	},
	{
		"an upgrade that is not", get("Connection: upgrade\r\nUpgrade: websocket\r\n"),
		func(h *codec.Head) { h.DropHopByHop(false) },
		"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
	},
	{
		"changes", "GET /a?q=1 HTTP/1.1\r\nHost: a.test\r\nX-A: 1\r\nX-B: 2\r\n\r\n",
		func(h *codec.Head) {
			h.SetMethod([]byte("PUT"))
			h.SetPath([]byte("/b c?d"))
			h.SetAuthority([]byte("b.test"))
			h.SetString("x-a", "2\r\nX-Evil: 1")
			h.AddString("X-C", "3")
			h.Del("X-B")
		},
		"PUT /b%20c%3Fd?q=1 HTTP/1.1\r\nHost: b.test\r\nx-a: 2  X-Evil: 1\r\nX-C: 3\r\n\r\n",
	},
	{
		"query", get(""), func(h *codec.Head) { h.SetQuery([]byte("a=1?#\n")) },
		"GET /?a=1?%23%0A HTTP/1.1\r\nHost: a.test\r\n\r\n",
	},
}

func TestAppendRequest(t *testing.T) {
	for _, c := range slices.Concat(rewrittenLines, rewrittenFraming, rewrittenFields) {
		t.Run(c.name, func(t *testing.T) {
			h := requireRequest(t, c.in)
			if c.change != nil {
				c.change(h)
			}
			assert.Equal(t, "<"+c.out, string(AppendRequest([]byte("<"), h)))
		})
	}
}

func TestAppendResponseCopiesWhatIsPlain(t *testing.T) {
	h := requireResponse(t, smallResponse, codec.GET)
	assert.Equal(t, smallResponse, string(AppendResponse(nil, h, ResponseOptions{})))
}

func TestAppendResponse(t *testing.T) {
	const (
		length  = "Content-Length: 5\r\n"
		chunked = "Transfer-Encoding: chunked\r\n"
		closes  = "Connection: close\r\n"
		upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n"
	)
	for _, c := range []struct {
		request codec.Method
		in, out string
		o       ResponseOptions
	}{
		{codec.GET, "1.0 200\r\nX:1\r\n" + length, "200 \r\nX: 1\r\n" + length, ResponseOptions{}},
		{codec.GET, "1.1 200 OK\r\n" + length + length, "200 OK\r\n" + length, ResponseOptions{}},
		{codec.GET, "1.1 200 OK\r\n" + chunked, "200 OK\r\n" + chunked, ResponseOptions{}},
		{codec.GET, "1.1 200 OK\r\n", "200 OK\r\n" + closes, ResponseOptions{}},
		{codec.GET, "1.1 200 OK\r\n" + length, "200 OK\r\n" + length + closes, ResponseOptions{Close: true}},
		{codec.GET, "1.1 200 OK\r\n" + length, "200 OK\r\n" + length + "Connection: keep-alive\r\n", ResponseOptions{KeepAlive10: true}},
		{codec.HEAD, "1.1 200 OK\r\n" + length, "200 OK\r\n" + length, ResponseOptions{NoFraming: true}},
		{codec.HEAD, "1.1 200 OK\r\nContent-Length:05\r\n", "200 OK\r\n" + length, ResponseOptions{NoFraming: true}},
		{codec.HEAD, "1.1 200 OK\r\n" + chunked, "200 OK\r\n", ResponseOptions{NoFraming: true}},
		{codec.GET, "1.1 304 Not Modified\r\n" + length, "304 Not Modified\r\n" + length, ResponseOptions{}},
		{codec.GET, "1.1 304 Not Modified\r\n", "304 Not Modified\r\n", ResponseOptions{}},
		{codec.GET, "1.1 204 No Content\r\n" + length, "204 No Content\r\n", ResponseOptions{}},
		{codec.GET, "1.1 204 No Content\r\n" + chunked, "204 No Content\r\n" + closes, ResponseOptions{Close: true}},
		{codec.GET, "1.1 103 Early Hints\r\nLink: x\r\n" + length + closes, "103 Early Hints\r\nLink: x\r\n", ResponseOptions{Close: true}},
		{codec.GET, "1.1 101 Switching Protocols\r\n" + upgrade, "101 Switching Protocols\r\n" + upgrade, ResponseOptions{}},
		{codec.GET, "1.1 426 U\r\n" + length + upgrade, "426 U\r\n" + length + upgrade, ResponseOptions{}},
		{
			codec.GET, "1.1 426 U\r\n" + length + upgrade, "426 U\r\n" + length + "Connection: close, Upgrade\r\nUpgrade: websocket\r\n",
			ResponseOptions{Close: true},
		},
		{
			codec.GET, "1.1 200 OK\r\nSet-Cookie: a=1\r\nX:y\r\nSet-Cookie: b=2, c\r\n" + length,
			"200 OK\r\nSet-Cookie: a=1\r\nX: y\r\nSet-Cookie: b=2, c\r\n" + length,
			ResponseOptions{},
		},
	} {
		h := requireResponse(t, "HTTP/"+c.in+"\r\n", c.request)
		assert.Equal(t, "HTTP/1.1 "+c.out+"\r\n", string(AppendResponse(nil, h, c.o)), c.in)
	}
}

func TestAppendLocalResponse(t *testing.T) {
	var h codec.Head
	h.Reset()
	h.SetStatus(404)
	h.AddString("Content-Type", "application/json")
	assert.Equal(t, "HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n",
		string(AppendResponse(nil, &h, ResponseOptions{})))
	h.SetFraming(codec.FramingLength, 12)
	assert.Equal(t, "HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: 12\r\nConnection: close\r\n\r\n",
		string(AppendResponse(nil, &h, ResponseOptions{Close: true})))
}

func TestAppendChunks(t *testing.T) {
	assert.Equal(t, "1f4\r\n", string(AppendChunk(nil, 500)))
	assert.Empty(t, AppendChunk(nil, 0), "a chunk of nothing would end the body")
	assert.Equal(t, "0\r\n\r\n", string(AppendLastChunk(nil, nil)))

	var d Body
	var trailers codec.Head
	d.Start(codec.FramingChunked, 0)
	_, _, done, err := d.Next([]byte("0\r\nX-A:1\r\nHost: a\r\nX-B: 2\r\n\r\n"), &trailers)
	require.NoError(t, err)
	require.True(t, done)
	trailers.AddString("Authorization", "x")
	trailers.AddString("X-C", "3")
	assert.Equal(t, "0\r\nX-A: 1\r\nX-B: 2\r\nX-C: 3\r\n\r\n", string(AppendLastChunk(nil, &trailers)))
}
