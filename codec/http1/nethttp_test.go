package http1

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httputil"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
)

// collect reads a whole body.
func collect(t *testing.T, h *codec.Head, rest []byte) (data []byte, trailers *codec.Head) {
	t.Helper()
	var d Body
	trailers = new(codec.Head)
	d.Start(h.Framing(), h.ContentLength())
	for len(rest) > 0 && !d.Done() {
		piece, n, _, err := d.Next(rest, trailers)
		require.NoError(t, err)
		data = append(data, piece...)
		rest = rest[n:]
	}
	require.NoError(t, d.EOF())
	return data, trailers
}

// TestRequestsReadAsNetHTTPReadsThem holds that valid messages mean to us, as
// received and as written anew, what they mean to net/http.
func TestRequestsReadAsNetHTTPReadsThem(t *testing.T) {
	for _, wire := range []string{
		tenFields, wrkRequest,
		"POST /a%20b?c=d HTTP/1.1\r\nHost: a:81\r\nContent-Length: 5\r\n\r\nhello",
		"PUT http://b.test/x?y HTTP/1.1\r\nHost: b.test\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n1\r\n!\r\n0\r\nX-T: 1\r\n\r\n",
		"GET / HTTP/1.0\r\nHost: a\r\n\r\n", "GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX:  padded \r\nx: 2\r\n\r\n",
	} {
		var d Decoder
		h := new(codec.Head)
		n, done, err := d.Request(h, []byte(wire), nil)
		require.NoError(t, err)
		require.True(t, done)
		body, trailers := collect(t, h, []byte(wire)[n:])
		requireSameRequest(t, h, body, wire)

		out := AppendRequest(nil, h)
		if h.Framing() == codec.FramingChunked {
			out = append(append(AppendChunk(out, len(body)), body...), crlf...)
			out = AppendLastChunk(out, trailers)
		} else {
			out = append(out, body...)
		}
		h.DropHopByHop(false)
		requireSameRequest(t, h, body, string(out))
	}
}

func requireSameRequest(t *testing.T, h *codec.Head, body []byte, wire string) {
	t.Helper()
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(wire)))
	require.NoError(t, err, wire)
	got, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	assert.Equal(t, string(body), string(got))
	assert.Equal(t, string(h.Method()), r.Method)
	assert.Equal(t, string(h.Path()), r.URL.EscapedPath())
	assert.Equal(t, string(h.Query()), r.URL.RawQuery)
	assert.Equal(t, string(h.Authority()), r.Host)
	if h.Framing() == codec.FramingLength {
		assert.Equal(t, h.ContentLength(), r.ContentLength)
	}
	for i := range h.Len() {
		if k := h.Known(i); k != codec.Host && k != codec.TransferEncoding && !h.Removed(i) {
			assert.Contains(t, r.Header.Values(string(h.Name(i))), string(h.Value(i)))
		}
	}
}

func TestResponsesReadAsNetHTTPReadsThem(t *testing.T) {
	for _, c := range []struct{ method, wire string }{
		{"GET", smallResponse + strings.Repeat("x", 128)},
		{"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"},
		{"GET", "HTTP/1.0 200 OK\r\nX: 1\r\n\r\nuntil the end"},
		{"GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"},
		{"GET", "HTTP/1.1 204 No Content\r\n\r\n"},
		{"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"},
	} {
		var d Decoder
		h := new(codec.Head)
		n, done, err := d.Response(h, []byte(c.wire), nil, codec.ParseMethod([]byte(c.method)))
		require.NoError(t, err)
		require.True(t, done)
		body, _ := collect(t, h, []byte(c.wire)[n:])
		requireSameResponse(t, h, body, c.method, c.wire)
		out := AppendResponse(nil, h, ResponseOptions{NoFraming: c.method == "HEAD"})
		if h.Framing() == codec.FramingChunked {
			out = AppendLastChunk(append(append(AppendChunk(out, len(body)), body...), crlf...), nil)
		} else {
			out = append(out, body...)
		}
		requireSameResponse(t, h, body, c.method, string(out))
	}
}

func requireSameResponse(t *testing.T, h *codec.Head, body []byte, method, wire string) {
	t.Helper()
	r, err := http.ReadResponse(bufio.NewReader(strings.NewReader(wire)), &http.Request{Method: method})
	require.NoError(t, err, wire)
	got, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	assert.Equal(t, string(body), string(got))
	assert.Equal(t, h.Status(), r.StatusCode)
	if h.Framing() != codec.FramingChunked && h.Status()/100 == 2 && h.Status() != 204 {
		assert.Equal(t, h.ContentLength(), r.ContentLength)
	}
}

func TestChunksOfNetHTTP(t *testing.T) {
	var wire bytes.Buffer
	w := httputil.NewChunkedWriter(&wire)
	want := strings.Repeat("0123456789abcdef", 500)
	for i := 0; i < len(want); i += 700 {
		_, err := io.WriteString(w, want[i:min(i+700, len(want))])
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	o := readBody(codec.FramingChunked, 0, append(wire.Bytes(), crlf...))
	assert.True(t, o.done)
	assert.Equal(t, want, o.data)
}
