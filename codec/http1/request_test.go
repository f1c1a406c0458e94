package http1

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
)

const host = "Host: a.test\r\n"

// get is a request with these lines behind a valid Host.
func get(lines string) string { return "GET / HTTP/1.1\r\n" + host + lines + "\r\n" }

func requireRequest(t *testing.T, wire string) *codec.Head {
	t.Helper()
	o, h := checkSplits(t, wire, nil, false, 0)
	require.True(t, o.done, "%q: %v %s", wire, o.reason, o.detail)
	require.Equal(t, len(wire), o.consumed)
	return h
}

func TestRequestTargets(t *testing.T) {
	for _, c := range []struct{ method, target, path, query, authority, scheme string }{
		{"GET", "/", "/", "", "a.test", ""},
		{"GET", "/a/b?x=1&y", "/a/b", "x=1&y", "a.test", ""},
		{"GET", "/a?b?c", "/a", "b?c", "a.test", ""},
		{"GET", "/a%2fb%C3%a9", "/a%2fb%C3%a9", "", "a.test", ""},
		{"GET", "/a?%zz", "/a", "%zz", "a.test", ""},
		{"GET", "//x/y", "//x/y", "", "a.test", ""},
		{"GET", "/http://x", "/http://x", "", "a.test", ""},
		{"OPTIONS", "*", "*", "", "a.test", ""},
		{"GET", "http://b.test/p?q", "/p", "q", "b.test", "http"},
		{"GET", "HTTPS://B.test:8443/p", "/p", "", "B.test:8443", "HTTPS"},
		{"GET", "http://b.test", "/", "", "b.test", "http"},
		{"GET", "http://b.test?x", "/", "x", "b.test", "http"},
		{"OPTIONS", "http://b.test", "*", "", "b.test", "http"},
		{"OPTIONS", "http://b.test/", "/", "", "b.test", "http"},
		{"GET", "http://[::1]:80/", "/", "", "[::1]:80", "http"},
		{"PROPFIND", "/x", "/x", "", "a.test", ""},
		{"get", "/x", "/x", "", "a.test", ""},
	} {
		h := requireRequest(t, c.method+" "+c.target+" HTTP/1.1\r\n"+host+"\r\n")
		assert.Equal(t, c.method, string(h.Method()))
		assert.Equal(t, c.target, string(h.Target()))
		assert.Equal(t, c.path, string(h.Path()), c.target)
		assert.Equal(t, c.query, string(h.Query()), c.target)
		assert.Equal(t, c.authority, string(h.Authority()), c.target)
		assert.Equal(t, c.scheme, string(h.Scheme()), c.target)
		assert.Equal(t, c.authority, string(h.Get(codec.Host)), "Host says what the target says")
	}
	h := requireRequest(t, "GET /? HTTP/1.1\r\n"+host+"\r\n")
	assert.True(t, h.HasQuery())
	assert.Empty(t, h.Query())
}

func TestBadFirstLines(t *testing.T) {
	for _, c := range []struct {
		line   string
		reason codec.Reason
	}{
		{"GET /", codec.BadRequest},
		{"GET  / HTTP/1.1", codec.BadRequest},
		{"GET /  HTTP/1.1", codec.BadRequest},
		{"GET / HTTP/1.1 ", codec.BadRequest},
		{" GET / HTTP/1.1", codec.BadRequest},
		{"GET\t/ HTTP/1.1", codec.BadRequest},
		{"GET / HTTP/1.1\x00", codec.BadRequest},
		{"G@T / HTTP/1.1", codec.BadRequest},
		{strings.Repeat("M", 33) + " / HTTP/1.1", codec.NotImplemented},
		{"GET / http/1.1", codec.BadRequest},
		{"GET / HTTP/1,1", codec.BadRequest},
		{"GET / HTTP/1.", codec.BadRequest},
		{"GET / HTTP/1.10", codec.BadRequest},
		{"GET / HTTP/11.1", codec.BadRequest},
		{"GET / HTTP /1.1", codec.BadRequest},
		{"GET / HTTQ/1.1", codec.BadRequest},
		{"GET / HTTP/2.0", codec.VersionNotSupported},
		{"GET / HTTP/3", codec.VersionNotSupported},
		{"GET / HTTP/0.9", codec.VersionNotSupported},
		{"CONNECT a.test:443 HTTP/1.1", codec.NotImplemented},
		{"GET * HTTP/1.1", codec.BadRequest},
		{"OPTIONS *x HTTP/1.1", codec.BadRequest},
		{"PRI * HTTP/2.0", codec.BadRequest},
		{"GET a.test/ HTTP/1.1", codec.BadRequest},
		{"GET ?x HTTP/1.1", codec.BadRequest},
		{"GET ftp://a.test/ HTTP/1.1", codec.BadRequest},
		{"GET http:/a.test/ HTTP/1.1", codec.BadRequest},
		{"GET http:///x HTTP/1.1", codec.BadRequest},
		{"GET http://:80/x HTTP/1.1", codec.BadRequest},
		{"GET http://u@a.test/ HTTP/1.1", codec.BadRequest},
		{"GET http://u:p@a.test/ HTTP/1.1", codec.BadRequest},
		{"GET http://a.test:99999/ HTTP/1.1", codec.BadRequest},
		{"GET https:// HTTP/1.1", codec.BadRequest},
		{"GET /a#b HTTP/1.1", codec.BadRequest},
		{"GET /a\x7f HTTP/1.1", codec.BadRequest},
		{"GET /\x80 HTTP/1.1", codec.BadRequest},
		{"GET /\xc3\xa9 HTTP/1.1", codec.BadRequest},
		{"GET /a\x00 HTTP/1.1", codec.BadRequest},
		{"GET /%zz HTTP/1.1", codec.BadRequest},
		{"GET /%2 HTTP/1.1", codec.BadRequest},
		{"GET /a% HTTP/1.1", codec.BadRequest},
		{"GET /%2?%20 HTTP/1.1", codec.BadRequest},
	} {
		o, _ := checkSplits(t, c.line+"\r\n"+host+"\r\n", nil, false, 0)
		assert.Equal(t, c.reason, o.reason, "%q: %s", c.line, o.detail)
	}
}

func TestBadFieldLines(t *testing.T) {
	for _, lines := range []string{
		"X-A : 1\r\n", " X-A: 1\r\n", "X-A: 1\r\n b\r\n", "X-A: 1\r\n\tb\r\n", ": 1\r\n", "X-A\r\n", "X A: 1\r\n",
		"X-A: 1\n", "X-A: 1\rX: 2\r\n", "X-A: 1\r\r\n", "\n", "X-A: a\x00b\r\n", "X-A: a\x01\r\n", "X-A: \x7f\r\n",
		"X-A: a\x0b\r\n", "Transfer-Encoding\x0b: chunked\r\n", "Content-Length\x00: 1\r\n", "X\xe9: 1\r\n",
		"X-A: 12345678\x1f\r\n", "X(A): 1\r\n", "\"X\": 1\r\n", "X-A:1\n\r\n", "\rX: 1\r\n", "\x00: 1\r\n",
		"Connection: " + strings.Repeat("a,", 65) + "a\r\n",
	} {
		o, _ := checkSplits(t, get(lines), nil, false, 0)
		assert.Equal(t, codec.BadRequest, o.reason, "%q: %s", lines, o.detail)
	}
}

func TestFieldsAreKeptInOrder(t *testing.T) {
	h := requireRequest(t, get("X-A:  padded\t \r\nX-B:\r\nx-a:2\r\nCookie: a=1\r\nCOOKIE: b=\xc3\xa9\tc\r\nX_d.e: ,\r\n"))
	want := []struct{ name, value string }{
		{"Host", "a.test"},
		{"X-A", "padded"},
		{"X-B", ""},
		{"x-a", "2"},
		{"Cookie", "a=1"},
		{"COOKIE", "b=\xc3\xa9\tc"},
		{"X_d.e", ","},
	}
	require.Equal(t, len(want), h.Len())
	for i, w := range want {
		assert.Equal(t, w.name, string(h.Name(i)))
		assert.Equal(t, w.value, string(h.Value(i)))
	}
	assert.Equal(t, 4, h.First(codec.Cookie))
	assert.NotNil(t, h.GetName("x-b"))
}

func TestHost(t *testing.T) {
	valid := []string{
		"", "a", "a.test", "a.test:80", "a.test:", "A-b_c~d", "127.0.0.1:65535", "[::1]", "[::1]:8080", "a%20b",
		"[2001:db8::ff00:42:8329]", "[1:2:3:4:5:6:7:8]", "[::ffff:1.2.3.4]", "[1:2:3:4:5:6:1.2.3.4]", "[::]", "[1::]",
	}
	for _, v := range valid {
		h := requireRequest(t, "GET / HTTP/1.1\r\nHost: "+v+"\r\n\r\n")
		assert.Equal(t, v, string(h.Authority()))
	}
	invalid := []string{
		"a b", "a/b", "a?b", "a#b", "u@a", "a:b", "a:80:80", "a:65536", "a:000000000000080000", ":80", "a\\b", "a<b",
		"[::1", "::1", "[]", "[::1]x", "[::1]:x", "[:::1]", "[1::2::3]", "[12345::]", "[g::]", "[1:2:3:4:5:6:7]",
		"[1:2:3:4:5:6:7:8:9]", "[1:2:3:4:5:6:7::8:9]", "[fe80::1%25eth0]", "[::1.2.3]", "[::256.1.1.1]", "[::01.1.1.1]",
		"[1:]", "[:1]", "[::1.2.3.4.5]", "[1:2:3:4:5:6:7:1.2.3.4]", "a%2", "a\xc3\xa9", "a, b", "[v1.x]", "[::1.2.3.]",
	}
	for _, v := range invalid {
		o, _ := checkSplits(t, "GET / HTTP/1.1\r\nHost: "+v+"\r\n\r\n", nil, false, 0)
		assert.Equal(t, codec.BadRequest, o.reason, "%q", v)
	}
	for _, wire := range []string{
		"GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\n" + host + host + "\r\n", "GET http://a/ HTTP/1.1\r\n\r\n",
		"GET / HTTP/1.0\r\n" + host + host + "\r\n", "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
	} {
		o, _ := checkSplits(t, wire, nil, false, 0)
		assert.Equal(t, codec.BadRequest, o.reason, "%q", wire)
	}
	h := requireRequest(t, "GET / HTTP/1.0\r\n\r\n")
	assert.Empty(t, h.Authority())
}

func TestRequestFraming(t *testing.T) {
	for _, c := range []struct {
		lines   string
		framing codec.Framing
		length  int64
	}{
		{"", codec.FramingNone, -1},
		{"Content-Length: 0\r\n", codec.FramingLength, 0},
		{"content-length:  12 \r\n", codec.FramingLength, 12},
		{"Content-Length: 0000000007\r\n", codec.FramingLength, 7},
		{"Content-Length: 999999999999999999\r\n", codec.FramingLength, 999999999999999999},
		{"Transfer-Encoding: chunked\r\n", codec.FramingChunked, -1},
		{"transfer-encoding:\tCHUNKED\r\n", codec.FramingChunked, -1},
	} {
		h := requireRequest(t, get(c.lines))
		assert.Equal(t, c.framing, h.Framing(), c.lines)
		assert.Equal(t, c.length, h.ContentLength(), c.lines)
	}
}

func TestBadFraming(t *testing.T) {
	for _, lines := range []string{
		"Content-Length: \r\n", "Content-Length: +5\r\n", "Content-Length: -1\r\n", "Content-Length: 0x5\r\n",
		"Content-Length: 5 5\r\n", "Content-Length: 5, 5\r\n", "Content-Length: 5,\r\n", "Content-Length: 5.0\r\n",
		"Content-Length: 1000000000000000000\r\n", "Content-Length: \"5\"\r\n", "Content-Length: 5\xa0\r\n",
		"Content-Length: 5\r\nContent-Length: 5\r\n", "Content-Length: 5\r\ncontent-length: 6\r\n",
		"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding:\r\n",
		"Transfer-Encoding: chunked, chunked\r\n", "Transfer-Encoding: chunked, gzip\r\n",
		"Transfer-Encoding: ,chunked\r\n", "Transfer-Encoding: chunked,\r\n", "Transfer-Encoding: gzip,,chunked\r\n",
		"Transfer-Encoding: chunked;a=b\r\n", "Transfer-Encoding: \"chunked\"\r\n", "Transfer-Encoding: chunked x\r\n",
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "Transfer-Encoding: chun\xa0ked\r\n",
	} {
		o, _ := checkSplits(t, get(lines), nil, false, 0)
		assert.Equal(t, codec.BadFraming, o.reason, "%q: %s", lines, o.detail)
	}
	for _, v := range []string{"gzip", "identity", "xchunked", "gzip, chunked", "gzip;q=1 , chunked", "chunked1"} {
		o, _ := checkSplits(t, get("Transfer-Encoding: "+v+"\r\n"), nil, false, 0)
		assert.Equal(t, codec.NotImplemented, o.reason, v)
	}
	o, _ := checkSplits(t, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", nil, false, 0)
	assert.Equal(t, codec.BadFraming, o.reason)
}

func TestConnectionOptions(t *testing.T) {
	for _, c := range []struct {
		version, lines string
		keep           bool
		upgrade        string
		expect         bool
	}{
		{"1.1", "", true, "", false},
		{"1.2", "", true, "", false},
		{"1.0", "", false, "", false},
		{"1.0", "Connection: Keep-Alive\r\n", true, "", false},
		{"1.0", "Connection: keep-alive, close\r\n", false, "", false},
		{"1.1", "Connection: x ,CLOSE\r\n", false, "", false},
		{"1.1", "Connection: keep-alive\r\nConnection: close\r\n", false, "", false},
		{"1.1", "Connection: xclose, close2\r\n", true, "", false},
		{"1.1", "Connection: Upgrade\r\nUpgrade: websocket\r\n", true, "websocket", false},
		{"1.1", "Upgrade: websocket\r\nConnection: keep-alive, upgrade\r\n", true, "websocket", false},
		{"1.1", "Upgrade: websocket\r\n", true, "", false},
		{"1.1", "Connection: upgrade\r\n", true, "", false},
		{"1.0", "Connection: Upgrade\r\nUpgrade: websocket\r\n", false, "", false},
		{"1.1", "Connection: Upgrade\r\nUpgrade: h2c\r\n", true, "", false},
		{"1.1", "Connection: Upgrade\r\nUpgrade: websocket, H2C\r\n", true, "", false},
		{"1.1", "Connection: Upgrade\r\nUpgrade: websocket\r\nUpgrade: h2c\r\n", true, "", false},
		{"1.1", "Expect: 100-Continue\r\n", true, "", true},
		{"1.1", "Expect: x\r\n", true, "", false},
		{"1.0", "Expect: 100-continue\r\n", false, "", false},
	} {
		h := requireRequest(t, "GET / HTTP/"+c.version+"\r\n"+host+c.lines+"\r\n")
		assert.Equal(t, c.keep, h.KeepAlive(), c.lines)
		assert.Equal(t, c.upgrade, string(h.Upgrade()), c.lines)
		assert.Equal(t, c.expect, h.Expect100(), c.lines)
	}
	assert.Equal(t, 1, requireRequest(t, "GET / HTTP/1.9\r\n"+host+"\r\n").Minor())
}

func TestEmptyLinesBeforeARequest(t *testing.T) {
	var d Decoder
	h := new(codec.Head)
	n, done, err := d.Request(h, []byte("\r\n\r"), nil)
	require.NoError(t, err)
	assert.Equal(t, 3, n)
	assert.False(t, done)
	assert.False(t, d.Started())
	n, done, err = d.Request(h, []byte("\nG"), nil)
	require.NoError(t, err)
	assert.Equal(t, 2, n)
	assert.False(t, done)
	assert.True(t, d.Started())
	n, _, err = d.Request(h, nil, nil)
	require.NoError(t, err)
	assert.Zero(t, n)

	requireRequest(t, "\r\n\r\n\r\n\r\n"+get(""))
	for _, wire := range []string{"\r\n\r\n\r\n\r\n\r\n" + get(""), "\n" + get(""), "\rG", "\r\r\n", "\r\n\n"} {
		o, _ := checkSplits(t, wire, nil, false, 0)
		assert.Equal(t, codec.BadRequest, o.reason, "%q", wire)
	}
}

func TestLimits(t *testing.T) {
	line, fields := "GET /123456 HTTP/1.1\r\n", host+"X-Y: 123\r\n"
	exact := &Limits{RequestLine: len(line), Headers: len(fields), HeaderCount: 2}
	o, _ := checkSplits(t, line+fields+"\r\n", exact, false, 0)
	assert.True(t, o.done, o.detail)
	for _, c := range []struct {
		lim    Limits
		wire   string
		reason codec.Reason
	}{
		{Limits{RequestLine: len(line) - 1}, line + fields + "\r\n", codec.URITooLong},
		{Limits{Headers: len(fields) - 1}, line + fields + "\r\n", codec.HeadersTooLarge},
		{Limits{Headers: len(fields) - 10}, line + fields + "\r\n", codec.HeadersTooLarge},
		{Limits{HeaderCount: 1}, line + fields + "\r\n", codec.HeadersTooLarge},
		{Limits{RequestLine: 10}, "GET /" + strings.Repeat("a", 50), codec.URITooLong},
		{Limits{RequestLine: 10}, "GET /\x00" + strings.Repeat("a", 50), codec.BadRequest},
		{Limits{Headers: 10}, line + strings.Repeat("a", 50), codec.HeadersTooLarge},
		{Limits{Headers: 10}, line + "X: " + strings.Repeat("a", 50), codec.HeadersTooLarge},
		{Limits{RequestLine: 3}, "GET / HTTP/1.1\r\n", codec.URITooLong},
	} {
		o, _ := checkSplits(t, c.wire, &c.lim, false, 0)
		assert.Equal(t, c.reason, o.reason, "%+v: %s", c.lim, o.detail)
	}
	o, _ = decode(nil, false, 0, []byte("GET /"+strings.Repeat("a", maxLine)))
	assert.Equal(t, codec.URITooLong, o.reason)
	o, _ = decode(&Limits{}, false, 0, []byte(line+"X: "+strings.Repeat("a", maxHeaders)))
	assert.Equal(t, codec.HeadersTooLarge, o.reason)
	o, _ = decode(nil, false, 0, []byte(line+strings.Repeat("X:\r\n", maxFields+1)))
	assert.Equal(t, codec.HeadersTooLarge, o.reason)
}

func TestPipelinedRequestsAndBodiesAreLeftAlone(t *testing.T) {
	var d Decoder
	h := new(codec.Head)
	first := "POST /1 HTTP/1.1\r\n" + host + "Content-Length: 3\r\n\r\n"
	rest := []byte(first + "abc" + get("") + strings.Repeat("x", 3*bufferStep))
	n, done, err := d.Request(h, rest, nil)
	require.NoError(t, err)
	require.True(t, done)
	assert.Equal(t, len(first), n)
	assert.False(t, d.Started())
	rest = rest[n+3:]
	_, _, err = d.Request(h, rest[:5], nil)
	require.NoError(t, err)
	n, done, err = d.Request(h, rest[5:], nil)
	require.NoError(t, err)
	require.True(t, done)
	assert.Equal(t, len(get(""))-5, n, "nothing behind the head is consumed")
	assert.Len(t, h.Bytes(), len(get("")), "nothing behind the head is kept")
}

func TestAnErrorStaysUntilReset(t *testing.T) {
	var d Decoder
	h := new(codec.Head)
	_, _, err := d.Request(h, []byte("\x00"), nil)
	require.Error(t, err)
	_, _, again := d.Request(h, []byte(get("")), nil)
	assert.Equal(t, err, again)
	d.Reset()
	_, done, err := d.Request(h, []byte(get("")), nil)
	require.NoError(t, err)
	assert.True(t, done)
}

func TestRefusedHeadTellsWhatWasAsked(t *testing.T) {
	for wire, want := range map[string][2]string{
		"HEAD /a?b HTTP/1.1\r\nHost: a b\r\n\r\n": {"HEAD", "/a?b"},
		"HEAD /a?b HTTP/9.9\r\n":                  {"HEAD", "/a?b"},
		"PUT /\x00 HTTP/1.1\r\n":                  {"PUT", ""},
		"\n\n":                                    {"", ""},
	} {
		var h codec.Head
		for _, step := range []int{1, 3, len(wire)} {
			var d Decoder
			_, done, err := d.Request(&h, []byte("GET /before HTTP/1.1\r\nHost: a\r\n\r\n"), nil)
			require.True(t, done) // and nothing of it may show
			for b := []byte(wire); len(b) > 0 && err == nil; b = b[min(step, len(b)):] {
				_, _, err = d.Request(&h, b[:min(step, len(b))], nil)
			}
			require.Error(t, err, "%q", wire)
			assert.Equal(t, want[0], string(h.Method()), "%q", wire)
			assert.Equal(t, want[1], string(h.Target()), "%q", wire)
			assert.Zero(t, h.Len())
		}
	}
}
