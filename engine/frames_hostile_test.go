package engine

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/codec/frame"
	"github.com/corelane/corelane/route"
)

// more is a frame that continues the message with that id.
func more(kind frame.Kind, id uint64, body string, flags frame.Flags, pairs ...string) fr {
	return fr{kind: kind, id: id, flags: frame.Continues | flags, body: body, pairs: pairs}
}

// What comes behind the end of a request, while that waits for its service, would
// be a request of its own to a service that speaks HTTP.
func TestFramesBehindARequest(t *testing.T) {
	const smuggled = "GET /admin HTTP/1.1\r\nHost: a\r\n\r\n"
	for name, tt := range map[string]struct {
		sent []fr
		got  string
	}{
		"length": {[]fr{
			{kind: frame.Request, id: 1, pairs: []string{":path", "/a"}, body: "12345"},
			more(frame.Request, 1, smuggled, frame.More), more(frame.Request, 1, smuggled, 0),
		}, "\r\n\r\n12345"},
		"no body": {[]fr{
			{kind: frame.Request, id: 1, pairs: []string{":path", "/a", ":verb", "GET"}},
			more(frame.Request, 1, smuggled, 0),
		}, "\r\n\r\n"},
		"chunks": {[]fr{
			{kind: frame.Request, id: 1, flags: frame.More, pairs: []string{":path", "/a"}, body: "12345"},
			more(frame.Request, 1, "", 0, "x-sum", "1"), more(frame.Request, 1, smuggled, 0, "x-sum", "2"),
		}, "\r\n\r\n5\r\n12345\r\n0\r\nx-sum: 1\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t)
			s := frames(o.addr)
			s.protocol = nil
			g := s.start(t)
			c := g.dialFrames().write(tt.sent...)
			up := o.accept()
			require.NotContains(t, up.readUntil(tt.got), "admin")
			up.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
			c.expectFrame(1, 200, "ok")
			c.write(fr{kind: frame.Request, id: 2, pairs: []string{":path", "/next"}})
			require.Equal(t, "/next", up.request().RequestURI, "nothing lies in front of the next request")
		})
	}
}

// What comes in front of an answer would be part of its body.
func TestFramesInFrontOfAnAnswer(t *testing.T) {
	o := newOrigin(t)
	s := noRetries(newSetup(o.addr))
	s.protocol = framing()
	g := s.start(t)
	c := g.dial().get("/a")
	up := o.acceptFrames()
	got := up.next()
	up.write(more(frame.Response, got.id, "HTTP/1.1 ", frame.More), more(frame.Response, got.id, "200 OK", 0, "x", "y"), got.answer("hello"))
	c.expect(200, "hello")
	c.get("/b")
	got = up.next()
	up.write(got.answer("next"))
	c.expect(200, "next")
}

// An answer that is whole, and waits for its client, does not grow, and a second
// one takes nothing from it.
func TestFramesBehindAnAnswer(t *testing.T) {
	o := newOrigin(t)
	g := noRetries(frames(o.addr)).start(t)
	c := g.dialFrames().write(rpcCall(1, ""))
	up := o.acceptFrames()
	got := up.next()
	first := got.answer(strings.Repeat("a", frame.Window))
	first.flags = frame.More
	up.write(first)
	up.write(more(frame.Response, got.id, "b", frame.More), more(frame.Response, got.id, "c", 0),
		more(frame.Response, got.id, "d", frame.More), got.answer("e"), more(frame.Response, got.id, "f", 0),
		fr{kind: frame.Heartbeat, id: 9}) // whose answer says that everything was looked at
	for up.next().kind == frame.Credit {
	}
	c.write(fr{kind: frame.Credit, id: 1, body: "\x00\x00\xff\xff"})
	c.expectFrame(1, 200, first.body+"bc")
	require.Equal(t, uint64(1), g.stats().LateReplies)
}

// A client that does not read is not read either, though its requests have no
// end.
func TestClientThatNeverReads(t *testing.T) {
	o := newOrigin(t)
	s := frames(o.addr)
	s.options.High, s.options.Low = 8<<10, 4<<10
	g := s.start(t)
	c := g.dialFrames()
	var err error
	for id := uint64(1); err == nil && id < 600_000; {
		var b []byte
		for range 1000 {
			b = append(b, fr{kind: frame.Request, id: id, flags: frame.More, pairs: []string{":key", "none"}}.bytes()...)
			id++
		}
		require.NoError(t, c.conn.SetWriteDeadline(time.Now().Add(time.Second)))
		_, err = c.conn.Write(b)
	}
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
}

// A service that does not read gets no answers to its heartbeats, which would
// lie in memory; when it reads again it has missed nothing else.
func TestServiceThatNeverReads(t *testing.T) {
	const asked = 600_000
	o := newOrigin(t)
	s := frames(o.addr)
	s.options.High, s.options.Low = 8<<10, 4<<10
	s.limits.Wait = patience
	g := s.start(t)
	c := g.dialFrames().write(rpcCall(1, ""))
	up := o.acceptFrames()
	got := up.next()
	beats := strings.Repeat(string(fr{kind: frame.Heartbeat, id: 1}.bytes()), asked/100)
	for range 100 {
		up.send(beats)
	}
	up.write(got.answer("first"))
	c.expectFrame(1, 200, "first")
	c.write(rpcCall(2, ""))
	answered := 0
	for got = up.next(); got.kind == frame.Heartbeat; got = up.next() {
		answered++
	}
	require.Less(t, answered, asked)
	up.write(got.answer("second"))
	c.expectFrame(2, 200, "second")
}

// What means something only to a connection of HTTP, or is the gateway's to say,
// does not pass into one.
func TestFieldsOfAFrameClient(t *testing.T) {
	o := newOrigin(t)
	s := frames(o.addr)
	s.protocol = nil
	g := s.start(t)
	c := g.dialFrames().write(fr{kind: frame.Request, id: 1, body: "hello", pairs: []string{
		":path", "/a", "connection", "upgrade, x-gone", "upgrade", "websocket", "x-gone", "1", "keep-alive", "1", "te", "trailers",
		"expect", "100-continue", "x-gray-tag", "evil", "x_gray_tag", "evil", "x-forwarded-for", "6.6.6.6", "x_forwarded.for", "6.6.6.6",
		"x-real-ip", "6.6.6.6", "forwarded", "for=6.6.6.6", "x-stays", "1",
	}})
	up := o.accept()
	r := up.request()
	require.Equal(t, "127.0.0.1", r.Header.Get("X-Forwarded-For"))
	require.Equal(t, "1", r.Header.Get("X-Stays"))
	require.Len(t, r.Header, 4, "%v", r.Header) // with traceparent and Content-Length
	up.send("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n")
	c.expectFailure(1, codec.UpstreamBadResponse)
}

// A key that a server of HTTP would resolve as a path is not made one.
func TestKeysThatArePaths(t *testing.T) {
	o := newOrigin(t)
	s := noRetries(frames(o.addr))
	s.protocol = nil
	bad := []string{".", "..", "a/../b", "a/..", "./a", "a/..;/b", "a\\b"}
	s.more = nil
	for _, key := range append(bad, "a/b c\xc3\xa4") {
		s.more = append(s.more, route.Spec{ID: "key " + key, Kind: route.Exact, Space: route.Keys, Pattern: key})
	}
	g := s.start(t)
	c := g.dialFrames()
	for id, key := range bad {
		c.write(fr{kind: frame.Request, id: uint64(id + 1), pairs: []string{":key", key}})
		c.expectFailure(uint64(id+1), codec.AmbiguousPath)
	}
	c.write(fr{kind: frame.Request, id: 99, pairs: []string{":key", "a/b c\xc3\xa4"}})
	require.Equal(t, "/a/b%20c%C3%A4", o.accept().request().RequestURI)
}
