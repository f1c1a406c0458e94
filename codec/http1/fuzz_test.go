package http1

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
)

var requestSeeds = []string{
	tenFields, wrkRequest,
	"\r\nGET http://[::1]:80?q HTTP/1.0\r\nConnection: close\r\n\r\n",
	"OPTIONS * HTTP/1.1\r\nhost:a\r\nUpgrade: websocket\r\nConnection: x, upgrade\r\n\r\n",
	"POST /%41?x HTTP/1.1\r\nHost: a\r\nContent-Length: 05\r\nExpect: 100-continue\r\n\r\nhello",
	"POST / HTTP/1.1\r\nHost: a:1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\nContent-Length: 1\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: a\r\nX :1\r\n y\r\n\r\n", "GET / HTTP/2.0\r\n\r\n", "CONNECT a:1 HTTP/1.1\r\n\r\n",
}

var responseSeeds = []string{
	smallResponse, "HTTP/1.1 100\r\n\r\n", "HTTP/1.0 200 OK\r\n\r\nbody", "HTTP/1.1 204 No\r\nContent-Length: 3\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: X-A\r\nX-A: 1\r\n\r\n",
	"HTTP/1.1 101 Up\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 03\r\n\r\n", "HTTP/1.1 200 OK\nX: 1\r\r\n\r\n",
}

// limits of fuzzing are small, so that they are met.
var fuzzLimits = &Limits{RequestLine: 120, Headers: 400, HeaderCount: 12}

// pieces cuts b at two places.
func pieces(b []byte, i, j uint16) [][]byte {
	from, to := int(i)%(len(b)+1), int(j)%(len(b)+1)
	from, to = min(from, to), max(from, to)
	return [][]byte{b[:from], b[from:to], b[to:]}
}

func FuzzRequest(f *testing.F) {
	for i, s := range requestSeeds {
		f.Add([]byte(s), uint16(7*i), uint16(31*i))
	}
	f.Fuzz(func(t *testing.T, b []byte, i, j uint16) {
		whole, h := decode(fuzzLimits, false, 0, b)
		split, _ := decode(fuzzLimits, false, 0, pieces(b, i, j)...)
		require.Equal(t, whole, split)
		if !whole.done {
			return
		}
		for _, keep := range []bool{false, true} {
			h.DropHopByHop(keep)
			out := AppendRequest(nil, h)
			again, g := decode(nil, false, 0, out)
			require.True(t, again.done, "%q: %s", out, again.detail)
			require.Equal(t, len(out), again.consumed)
			require.Equal(t, string(h.Method()), string(g.Method()))
			require.Equal(t, string(h.Path()), string(g.Path()))
			require.Equal(t, string(h.Query()), string(g.Query()))
			require.Equal(t, h.HasQuery(), g.HasQuery())
			require.Equal(t, string(h.Authority()), string(g.Authority()))
			requireSameBody(t, h, g)
			require.Equal(t, string(out), string(AppendRequest(nil, g)), "a second pass changes nothing")
		}
	})
}

func FuzzResponse(f *testing.F) {
	for i, s := range responseSeeds {
		f.Add([]byte(s), uint16(7*i), uint16(31*i), i%2 == 1)
	}
	f.Fuzz(func(t *testing.T, b []byte, i, j uint16, head bool) {
		request := codec.GET
		if head {
			request = codec.HEAD
		}
		whole, h := decode(fuzzLimits, true, request, b)
		split, _ := decode(fuzzLimits, true, request, pieces(b, i, j)...)
		require.Equal(t, whole, split)
		if !whole.done {
			return
		}
		h.DropHopByHop(h.Status() == 101)
		out := AppendResponse(nil, h, ResponseOptions{NoFraming: head})
		again, g := decode(nil, true, request, out)
		require.True(t, again.done, "%q: %s", out, again.detail)
		require.Equal(t, len(out), again.consumed)
		require.Equal(t, h.Status(), g.Status())
		require.Equal(t, string(h.ReasonPhrase()), string(g.ReasonPhrase()))
		if h.Status() >= 200 && h.Status() != 204 {
			requireSameBody(t, h, g)
		}
	})
}

// requireSameBody holds that both heads announce the same body and the same fields.
func requireSameBody(t *testing.T, h, g *codec.Head) {
	t.Helper()
	require.Equal(t, h.Framing(), g.Framing())
	require.Equal(t, h.ContentLength(), g.ContentLength())
	require.Equal(t, string(h.Upgrade()), string(g.Upgrade()))
	require.Equal(t, endToEnd(h), endToEnd(g))
}

// endToEnd lists the fields that a serialiser does not write by itself.
func endToEnd(h *codec.Head) []string {
	var all []string
	for i := range h.Len() {
		if k := h.Known(i); !h.Removed(i) && !rewritten.Has(k) && k != codec.Host {
			all = append(all, string(h.Name(i))+": "+string(h.Value(i)))
		}
	}
	return all
}

func FuzzChunked(f *testing.F) {
	for i, s := range []string{
		"0\r\n\r\n", "5\r\nhello\r\n0\r\n\r\nGET", "5 ;a=\"b\"\r\nhello\r\n0;x\r\nX: 1\r\nHost: a\r\n\r\n", "zz\r\n",
		"5\nhello", "fffffffffffffff\r\n", "1\r\na\r\n1\r\nb\r\n0\r\n\r\n", "0\r\nX : 1\r\n\r\n",
	} {
		f.Add([]byte(s), uint16(3*i), uint16(5*i))
	}
	f.Fuzz(func(t *testing.T, b []byte, i, j uint16) {
		whole := readBody(codec.FramingChunked, 0, b)
		split := readBody(codec.FramingChunked, 0, pieces(b, i, j)...)
		require.Equal(t, whole, split)
		if !whole.done {
			return
		}
		var d Body
		var trailers codec.Head
		var out []byte
		d.Start(codec.FramingChunked, 0)
		for rest := b; !d.Done(); {
			data, n, _, err := d.Next(rest, &trailers)
			require.NoError(t, err)
			if len(data) > 0 {
				out = append(AppendChunk(out, len(data)), data...)
				out = append(out, "\r\n"...)
			}
			rest = rest[n:]
		}
		out = AppendLastChunk(out, &trailers)
		again := readBody(codec.FramingChunked, 0, out)
		require.True(t, again.done, "%q: %s", out, again.detail)
		require.Equal(t, len(out), again.consumed)
		require.Equal(t, whole.data, again.data)
		require.Equal(t, whole.trailers, again.trailers)
	})
}
