package codec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newHead is a head with these names and values in turn.
func newHead(pairs ...string) *Head {
	h := new(Head)
	h.Reset()
	for i := 0; i < len(pairs); i += 2 {
		h.AddString(pairs[i], pairs[i+1])
	}
	return h
}

// lines lists the fields that are kept.
func lines(h *Head) []string {
	var all []string
	for i := range h.Len() {
		if !h.Removed(i) {
			all = append(all, string(h.Name(i))+": "+string(h.Value(i)))
		}
	}
	return all
}

// requireIndex holds that First finds what a scan finds.
func requireIndex(t *testing.T, h *Head) {
	t.Helper()
	for k := Unknown + 1; k < knownCount; k++ {
		want := -1
		for i := range h.Len() {
			if h.Known(i) == k && !h.Removed(i) {
				want = i
				break
			}
		}
		require.Equal(t, want, h.First(k), k.String())
	}
}

func TestResetHead(t *testing.T) {
	h := newHead("X-A", "1")
	h.SetStatus(404)
	h.SetMethod([]byte("PUT"))
	h.SetReceived(FramingClose, 7, true, false, true, Span{0, 3})
	h.Reset()
	assert.Zero(t, h.Len())
	assert.Zero(t, h.Status())
	assert.Empty(t, h.Method())
	assert.Equal(t, MethodOther, h.MethodID())
	assert.Equal(t, FramingNone, h.Framing())
	assert.EqualValues(t, -1, h.ContentLength())
	assert.True(t, h.KeepAlive())
	assert.False(t, h.Expect100())
	assert.Nil(t, h.Upgrade())
	assert.Equal(t, 1, h.Minor())
	assert.Empty(t, h.Authority())
	assert.Empty(t, h.Scheme())
	assert.Empty(t, h.Target())
}

func TestLargeBuffersAreGivenBack(t *testing.T) {
	h := newHead("X-A", "1")
	small := h.Size()
	h.Reset()
	assert.Equal(t, small, h.Size(), "small buffers are kept")
	h.AddString("X-A", strings.Repeat("a", keepBytes))
	assert.Greater(t, h.Size(), keepBytes)
	for range 2 * keepFields {
		h.AddString("X", "")
	}
	h.Reset()
	assert.Less(t, h.Size(), 1024)
}

func TestFieldsByNameAndNumber(t *testing.T) {
	h := newHead("X-A", "1", "Cookie", "a", "x-a", "2", "COOKIE", "b", "Via", "")
	assert.Equal(t, 1, h.First(Cookie))
	assert.Equal(t, "a", string(h.Get(Cookie)))
	assert.Equal(t, "1", string(h.GetName("x-A")))
	assert.Equal(t, "a", string(h.GetName("cookie")))
	assert.NotNil(t, h.Get(Via))
	assert.Empty(t, h.Get(Via))
	assert.Nil(t, h.Get(TE))
	assert.Nil(t, h.GetName("X-B"))
	assert.Equal(t, -1, h.First(Unknown))
	assert.Equal(t, -1, h.First(200))
	requireIndex(t, h)
}

func TestSetReplacesTheFirstAndRemovesTheRest(t *testing.T) {
	h := newHead("X-A", "1", "Cookie", "a", "x-a", "2", "Cookie", "b", "X-B", "3")
	h.SetString("X-a", "9")
	h.Set([]byte("cookie"), []byte("c"))
	h.SetString("X-New", "n")
	assert.Equal(t, []string{"X-a: 9", "cookie: c", "X-B: 3", "X-New: n"}, lines(h))
	requireIndex(t, h)
}

func TestDelete(t *testing.T) {
	h := newHead("X-A", "1", "Cookie", "a", "x-a", "2", "Cookie", "b", "Via", "v", "Cookie", "c")
	h.DelAt(1)
	assert.Equal(t, 3, h.First(Cookie))
	requireIndex(t, h)
	h.DelAt(5)
	assert.Equal(t, 3, h.First(Cookie))
	h.Del("X-a")
	h.Del("X-Missing")
	assert.Equal(t, []string{"Cookie: b", "Via: v"}, lines(h))
	h.Del("cookie")
	h.DelKnown(Via)
	h.DelKnown(Unknown)
	assert.Empty(t, lines(h))
	requireIndex(t, h)
	h.AddString("Cookie", "d")
	assert.Equal(t, "d", string(h.Get(Cookie)))
}

func TestViewsSurviveChanges(t *testing.T) {
	h := newHead("X-A", "first")
	v := h.Value(0)
	h.Set([]byte("X-A"), append(v, "-second"...))
	for range 100 {
		h.Add([]byte("X-B"), v)
	}
	assert.Equal(t, "first", string(v))
	assert.Equal(t, "first-second", string(h.Value(0)))
	assert.Equal(t, "first", string(h.Value(100)))
}

func TestNothingBreaksOutOfItsLine(t *testing.T) {
	h := newHead("X-A", "a\r\nX-B: b\x00\x7f\tc\xe9", "X B", "1", "", "1", "X\n", "1")
	assert.Equal(t, []string{"X-A: a  X-B: b  \tc\xe9"}, lines(h))
	h.AddString("Content-Length", "5")
	h.SetString("Transfer-Encoding", "chunked")
	assert.Len(t, lines(h), 1, "framing is not a field")
	h.SetMethod([]byte("GET / HTTP/1.1\r\n"))
	assert.Empty(t, h.Method())
	h.SetPath([]byte("/a b\r\n?#\xe9%20"))
	assert.Equal(t, "/a%20b%0D%0A%3F%23%E9%20", string(h.Path()))
	h.SetPath(nil)
	assert.Equal(t, "/", string(h.Path()))
	h.SetQuery([]byte("a?b c"))
	assert.Equal(t, "a?b%20c", string(h.Query()))
	h.SetQuery(nil)
	assert.False(t, h.HasQuery())
}

func TestThereIsOneHost(t *testing.T) {
	h := newHead("X-A", "1")
	h.SetAuthority([]byte("a.test"))
	h.AddString("host", "b.test")
	h.SetString("HOST", "c.test")
	assert.Equal(t, []string{"X-A: 1", "Host: c.test"}, lines(h))
	assert.Equal(t, "c.test", string(h.Authority()))
	h.Del("Host")
	assert.Equal(t, "c.test", string(h.Authority()))
	h.SetAuthority([]byte("d"))
	assert.Equal(t, "d", string(h.Get(Host)))
	requireIndex(t, h)
}

func TestFieldsAreBounded(t *testing.T) {
	h := newHead()
	for range maxFields + 10 {
		h.Add([]byte("X"), nil)
	}
	h.SetAuthority([]byte("a"))
	assert.Equal(t, maxFields, h.Len())
}

func TestSetStatus(t *testing.T) {
	h := newHead()
	for code, want := range map[int]int{200: 200, 999: 999, 99: 500, 1000: 500, -1: 500} {
		h.SetStatus(code)
		assert.Equal(t, want, h.Status())
		assert.Equal(t, StatusText(want), string(h.ReasonPhrase()))
	}
}

func TestSetFraming(t *testing.T) {
	for _, c := range []struct {
		f, want    Framing
		n, wantLen int64
	}{
		{FramingLength, FramingLength, 5, 5},
		{FramingLength, FramingChunked, -1, -1},
		{FramingChunked, FramingChunked, 5, -1},
		{FramingClose, FramingClose, 5, -1},
		{FramingNone, FramingNone, 5, 5},
		{FramingNone, FramingNone, -7, -1},
	} {
		h := newHead()
		h.SetFraming(c.f, c.n)
		assert.Equal(t, c.want, h.Framing())
		assert.Equal(t, c.wantLen, h.ContentLength())
	}
}

func TestDropHopByHop(t *testing.T) {
	h := newHead("Connection", "close, X-Hop ,,connection, Cookie", "Connection", "X-More, host, X-Forwarded-For, traceparent",
		"Keep-Alive", "1", "Proxy-Connection", "x", "TE", "trailers", "Upgrade", "x", "HTTP2-Settings", "y", "Host", "a",
		"X-Hop", "1", "x-hop", "2", "X-More", "3", "X-Forwarded-For", "4", "traceparent", "5", "X-End", "6", "Cookie", "7")
	h.DropHopByHop(true)
	assert.Equal(t, []string{"Host: a", "X-Forwarded-For: 4", "traceparent: 5", "X-End: 6"}, lines(h))
	requireIndex(t, h)
}

func TestUpgradeIsKeptOrDropped(t *testing.T) {
	for _, keep := range []bool{true, false} {
		h := newHead("Connection", "upgrade", "Upgrade", "websocket")
		h.SetReceived(FramingNone, -1, false, true, false, h.Fields()[1].Value)
		h.DropHopByHop(keep)
		assert.Empty(t, lines(h))
		assert.Equal(t, keep, h.Upgrade() != nil)
	}
}

func TestHeadDoesNotAllocate(t *testing.T) {
	h := newHead()
	long := strings.Repeat("X-Long-Name-", 5)
	name, value := []byte(long), []byte("value")
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		h.Reset()
		h.AddString(long, long)
		h.AddString("Connection", long)
		h.Add(name, value)
		h.Set(name, value)
		h.SetString("X-Request-Id", "1")
		h.SetString("Host", "a.test")
		h.SetMethod(value)
		h.SetPath(nil)
		h.SetQuery(value)
		h.SetStatus(503)
		if h.GetName(long) == nil || h.GetName("cookie") != nil {
			t.Fatal("wrong")
		}
		h.DropHopByHop(false)
		h.Del(long)
		h.Del("x-request-id")
	}))
}
