package engine

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/codec/frame"
	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/route"
)

// framing is the protocol of frames as it is compiled in.
func framing() codec.Protocol {
	p, _ := codec.Registered("frame")
	return p
}

// frames makes both sides of a gateway speak frames, with a route for every path
// and one for com.example.Order.
func frames(endpoints ...string) *setup {
	s := newSetup(endpoints...)
	s.listener.Protocol, s.protocol = framing(), framing()
	s.more = []route.Spec{{ID: "order", Kind: route.Prefix, Space: route.Calls, Pattern: "/com.example.Order"}}
	return s
}

// fr is a frame as tests write and read it.
type fr struct {
	kind   frame.Kind
	flags  frame.Flags
	status int
	id     uint64
	pairs  []string // name, value, …
	body   string
}

func (f fr) bytes() []byte {
	var meta []byte
	for i := 0; i < len(f.pairs); i += 2 {
		meta = frame.AppendPair(meta, f.pairs[i], f.pairs[i+1])
	}
	b := frame.AppendHeader(nil, &frame.Header{
		Kind: f.kind, Flags: f.flags, Status: uint16(f.status), ID: f.id, Metadata: uint32(len(meta)), Body: uint32(len(f.body)),
	})
	return append(append(b, meta...), f.body...)
}

// pair is the value of a name in the metadata, "" if there is none.
func (f fr) pair(name string) string {
	for i := 0; i < len(f.pairs); i += 2 {
		if strings.EqualFold(f.pairs[i], name) {
			return f.pairs[i+1]
		}
	}
	return ""
}

// rpcCall is a request for com.example.Order/find.
func rpcCall(id uint64, body string, pairs ...string) fr {
	return fr{kind: frame.Request, id: id, body: body, pairs: append([]string{":interface", "com.example.Order", ":method", "find"}, pairs...)}
}

// answer is the response to a frame.
func (f fr) answer(body string, pairs ...string) fr {
	return fr{kind: frame.Response, status: 200, id: f.id, body: body, pairs: pairs}
}

// fpeer is one end of a connection that speaks frames.
type fpeer struct{ *peer }

func (g *gateway) dialFrames() *fpeer { return &fpeer{g.dial()} }

func (p *fpeer) write(all ...fr) *fpeer {
	p.t.Helper()
	var b []byte
	for _, f := range all {
		b = append(b, f.bytes()...)
	}
	_, err := p.conn.Write(b)
	require.NoError(p.t, err)
	return p
}

// next reads one frame.
func (p *fpeer) next() fr {
	p.t.Helper()
	f, err := readFrame(p.in)
	require.NoError(p.t, err)
	return f
}

func readFrame(in *bufio.Reader) (fr, error) {
	var head [frame.HeaderSize]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return fr{}, err
	}
	h, err := frame.ParseHeader(head[:])
	if err != nil {
		return fr{}, err
	}
	rest := make([]byte, h.Metadata+h.Body)
	if _, err := io.ReadFull(in, rest); err != nil {
		return fr{}, err
	}
	f := fr{kind: h.Kind, flags: h.Flags, status: int(h.Status), id: h.ID, body: string(rest[h.Metadata:])}
	for m := rest[:h.Metadata]; len(m) > 0; {
		n, v := int(binary.BigEndian.Uint16(m)), int(binary.BigEndian.Uint16(m[2:]))
		f.pairs = append(f.pairs, string(m[4:4+n]), string(m[4+n:4+n+v]))
		m = m[4+n+v:]
	}
	return f, nil
}

// expectFrame reads a whole response and checks it.
func (p *fpeer) expectFrame(id uint64, status int, body string) fr {
	p.t.Helper()
	f := p.next()
	require.Equal(p.t, frame.Response, f.kind, "%+v", f)
	require.Equal(p.t, id, f.id)
	require.Equal(p.t, status, f.status, f.body)
	for got := f; got.flags&frame.More != 0; {
		got = p.next()
		require.Equal(p.t, id, got.id)
		f.body += got.body
		f.pairs = append(f.pairs, got.pairs...)
	}
	require.Equal(p.t, body, f.body)
	return f
}

// expectFailure reads a failure of the gateway's.
func (p *fpeer) expectFailure(id uint64, reason codec.Reason) fr {
	p.t.Helper()
	f := p.next()
	require.Equal(p.t, frame.Response, f.kind, "%+v", f)
	require.Equal(p.t, id, f.id)
	require.Equal(p.t, reason.Status(), f.status, f.body)
	require.Contains(p.t, f.body, fmt.Sprintf(`"error":%q`, reason))
	return f
}

func (o *origin) acceptFrames() *fpeer { return &fpeer{o.accept()} }

func TestFramesPassThrough(t *testing.T) {
	o := newOrigin(t)
	g := frames(o.addr).start(t)
	c := g.dialFrames().write(rpcCall(7, "hello", "x-tenant", "a"))
	up := o.acceptFrames()
	got := up.next()
	require.Equal(t, frame.Request, got.kind)
	require.Equal(t, "com.example.Order", got.pair(":interface"))
	require.Equal(t, "find", got.pair(":method"))
	require.Equal(t, "a", got.pair("x-tenant"))
	require.Equal(t, "127.0.0.1", got.pair("x-forwarded-for"))
	require.Regexp(t, `^00-[0-9a-f]{32}-[0-9a-f]{16}-01$`, got.pair("traceparent"))
	require.Empty(t, got.pair("via"))
	require.Equal(t, "hello", got.body)
	up.write(got.answer("world", "x-b", "c"))
	f := c.expectFrame(7, 200, "world")
	require.Equal(t, "c", f.pair("x-b"))
	require.Empty(t, f.pair("date"))
	require.Contains(t, g.records.next(t), `"route":"order"`)
}

// Many requests of several clients share one upstream connection, answered in
// any order.
func TestFramesShareAConnection(t *testing.T) {
	const clients, each = 4, 25
	o := newOrigin(t)
	g := frames(o.addr).start(t)
	var all []*fpeer
	for i := range clients {
		c := g.dialFrames()
		for j := range each {
			c.write(rpcCall(uint64(j+1), fmt.Sprintf("%d/%d", i, j+1)))
		}
		all = append(all, c)
	}
	up := o.acceptFrames()
	var asked []fr
	seen := map[uint64]bool{}
	for range clients * each {
		f := up.next()
		require.False(t, seen[f.id])
		seen[f.id] = true
		asked = append(asked, f)
	}
	for i := len(asked) - 1; i >= 0; i-- {
		up.write(asked[i].answer(asked[i].body))
	}
	for i, c := range all {
		for range each {
			f := c.next()
			require.Equal(t, fmt.Sprintf("%d/%d", i, f.id), f.body)
		}
	}
	require.Equal(t, uint64(1), g.stats().Pool.Dialed)
}

func TestHTTPClientOfAFrameService(t *testing.T) {
	o := newOrigin(t)
	s := frames(o.addr)
	s.listener.Protocol = nil
	g := s.start(t)
	c := g.dial().send("POST /orders?id=7 HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\nX-Corelane-Timeout-Ms: 60000\r\n\r\nhello")
	up := o.acceptFrames()
	got := up.next()
	require.Equal(t, "/orders?id=7", got.pair(":path"))
	require.Equal(t, "a.test", got.pair(":authority"))
	require.Regexp(t, `^[0-9]{5}$`, got.pair(":timeout"))
	require.Equal(t, "hello", got.body)
	require.Zero(t, got.flags)
	up.write(got.answer("world", "content-type", "text/plain"))
	h := c.expect(200, "world")
	require.Equal(t, "text/plain", h.Get("Content-Type"))
	require.NotEmpty(t, h.Get("Date"))

	c.send("PUT /chunks HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n")
	c.readLine("HTTP/1.1 100 Continue\r\n")
	c.readLine("\r\n")
	first := up.next()
	require.Equal(t, "PUT", first.pair(":verb"))
	require.Equal(t, frame.More, first.flags)
	c.send("3\r\nabc\r\n")
	require.Equal(t, "abc", up.next().body)
	c.send("0\r\nX-Sum: 1\r\n\r\n")
	last := up.next()
	require.Equal(t, frame.Continues, last.flags)
	require.Equal(t, "1", last.pair("x-sum"))
	more := first.answer("one")
	more.flags = frame.More
	up.write(more, fr{kind: frame.Response, id: first.id, flags: frame.Continues, body: "two", pairs: []string{"x-end", "3"}})
	require.Contains(t, c.readUntil("0\r\nx-end: 3\r\n\r\n"), "3\r\none\r\n3\r\ntwo\r\n")
}

func TestFrameClientOfAnHTTPService(t *testing.T) {
	o := newOrigin(t)
	s := frames(o.addr)
	s.protocol = nil
	g := s.start(t)
	c := g.dialFrames()
	c.write(fr{kind: frame.Request, id: 1, pairs: []string{":path", "/a/./b?c=d", ":verb", "GET", ":authority", "b.test", ":timeout", "5000"}})
	up := o.accept()
	r := up.request()
	require.Equal(t, "GET", r.Method)
	require.Equal(t, "/a/b?c=d", r.RequestURI)
	require.Equal(t, "b.test", r.Host)
	require.Regexp(t, `^[0-9]{4}$`, r.Header.Get("X-Corelane-Timeout-Ms"))
	up.send("HTTP/1.1 201 Created\r\nContent-Length: 2\r\nX-A: b\r\n\r\nok")
	require.Equal(t, "b", c.expectFrame(1, 201, "ok").pair("x-a"))

	c.write(rpcCall(2, "body"))
	r = up.request()
	require.Equal(t, "POST", r.Method)
	require.Equal(t, "/com.example.Order/find", r.RequestURI)
	up.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n")
	first := c.next()
	require.Equal(t, frame.More, first.flags)
	require.Equal(t, "ab", c.next().body)
	up.send("0\r\nX-Sum: 9\r\n\r\n")
	require.Equal(t, "9", c.next().pair("x-sum"))

	c.write(fr{kind: frame.Request, id: 3, pairs: []string{":path", "/head", ":verb", "HEAD"}})
	up.request()
	up.send("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n")
	c.expectFrame(3, 200, "")
}

func TestFrameFailures(t *testing.T) {
	o := newOrigin(t)
	g := noRetries(frames(o.addr)).start(t)
	c := g.dialFrames()
	c.write(fr{kind: frame.Request, id: 1, pairs: []string{":interface", "com.example.Nobody", ":method", "find"}})
	c.expectFailure(1, codec.RouteNotFound)
	c.write(fr{kind: frame.Request, id: 2, pairs: []string{":path", "/a/../../b"}})
	c.expectFailure(2, codec.AmbiguousPath)
	c.write(rpcCall(3, "x"))
	up := o.acceptFrames()
	up.next()
	up.reset()
	c.expectFailure(3, codec.UpstreamReset)
	c.write(rpcCall(4, "x"))
	up = o.acceptFrames()
	got := up.next()
	up.write(fr{kind: frame.Cancel, id: got.id, status: 500})
	c.expectFailure(4, codec.UpstreamReset)
	c.write(rpcCall(5, "x"))
	got = up.next() // the connection goes on
	up.write(got.answer("good"))
	c.expectFrame(5, 200, "good")
}

// What is wrong with the bytes of a connection ends it, with a reason.
func TestMalformedFrames(t *testing.T) {
	twice := append(rpcCall(1, "").bytes(), rpcCall(1, "").bytes()...)
	for name, tt := range map[string]struct {
		wire   string
		status int
		text   string
	}{
		"magic":        {"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", 400, ""},
		"version":      {"CL\x02\x01" + strings.Repeat("\x00", 20), 505, ""},
		"flags":        {"CL\x01\x01\x80\x00" + strings.Repeat("\x00", 18), 400, ""},
		"direction":    {string(fr{kind: frame.Response, id: 1, status: 200}.bytes()), 400, ""},
		"duplicate id": {string(twice), 400, errDuplicateID.Detail},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t)
			g := frames(o.addr).start(t)
			c := g.dialFrames()
			c.send(tt.wire)
			f := c.next()
			require.Equal(t, frame.GoAway, f.kind)
			require.Equal(t, tt.status, f.status)
			require.Contains(t, f.body, tt.text)
			if name == "duplicate id" {
				up := o.acceptFrames()
				up.write(up.next().answer("first"))
				c.expectFrame(1, 200, "first") // nothing was wrong with that one
			}
			c.expectClosed()
			require.Equal(t, uint64(1), g.stats().ProtocolErrors)
			events, _ := g.server.TakeEvents()
			require.Len(t, events, 1)
			require.Equal(t, EventProtocolError, events[0].Kind)
			require.Equal(t, c.conn.LocalAddr().String(), events[0].Peer.String())
		})
	}
}

// A request whose head breaks the rules is answered by its id.
func TestHeadTooLarge(t *testing.T) {
	o := newOrigin(t)
	g := frames(o.addr).start(t)
	c := g.dialFrames()
	c.write(rpcCall(9, "body", "x-big", strings.Repeat("v", 60<<10), "x-more", strings.Repeat("v", 10<<10)))
	c.expectFailure(9, codec.HeadersTooLarge)
	c.write(fr{kind: frame.Request, id: 10, pairs: []string{"no", "call"}})
	c.expectFailure(10, codec.BadRequest)
	c.write(rpcCall(11, "good"))
	up := o.acceptFrames()
	up.write(up.next().answer("too"))
	c.expectFrame(11, 200, "too")
}

func TestCancelOfAFrameClient(t *testing.T) {
	o := newOrigin(t)
	g := frames(o.addr).start(t)
	c := g.dialFrames().write(rpcCall(1, ""), rpcCall(2, ""))
	up := o.acceptFrames()
	first, second := up.next(), up.next()
	c.write(fr{kind: frame.Cancel, id: 1})
	gone := up.next()
	require.Equal(t, frame.Cancel, gone.kind)
	require.Equal(t, first.id, gone.id)
	up.write(first.answer("late"), second.answer("kept"))
	c.expectFrame(2, 200, "kept")
	require.Equal(t, uint64(1), g.stats().LateReplies)
	require.Contains(t, g.records.next(t), `"reason":"client_aborted"`)
}

func TestTimeoutsOfFrames(t *testing.T) {
	o := newOrigin(t)
	s := noRetries(frames(o.addr))
	g := s.start(t)
	c := g.dialFrames().write(rpcCall(1, "", ":timeout", "20"))
	up := o.acceptFrames()
	got := up.next()
	c.expectFailure(1, codec.TotalTimeout)
	gone := up.next()
	require.Equal(t, frame.Cancel, gone.kind)
	require.Equal(t, got.id, gone.id)
}

func TestGoAwayOfAnEndpoint(t *testing.T) {
	o := newOrigin(t)
	g := frames(o.addr).start(t)
	c := g.dialFrames().write(rpcCall(1, "one"), rpcCall(2, "two"))
	up := o.acceptFrames()
	first, second := up.next(), up.next()
	require.Less(t, first.id, second.id)
	up.write(fr{kind: frame.GoAway, id: first.id})
	again := o.acceptFrames()
	repeated := again.next() // a POST, which nobody has looked at
	require.Equal(t, "two", repeated.body)
	again.write(repeated.answer("2"))
	c.expectFrame(2, 200, "2")
	up.write(first.answer("1"))
	c.expectFrame(1, 200, "1")
	up.expectClosed()
	require.Equal(t, uint64(1), g.stats().GoAways)
}

// A dead connection fails its exchanges; what is safe to repeat is repeated.
func TestDeadLink(t *testing.T) {
	o := newOrigin(t)
	g := frames(o.addr).start(t)
	c := g.dialFrames()
	c.write(rpcCall(1, "x"), fr{kind: frame.Request, id: 2, pairs: []string{":path", "/", ":verb", "GET"}})
	up := o.acceptFrames()
	up.next()
	up.next()
	up.reset()
	c.expectFailure(1, codec.UpstreamReset)
	again := o.acceptFrames()
	got := again.next()
	require.Equal(t, "GET", got.pair(":verb"))
	again.write(got.answer("saved"))
	c.expectFrame(2, 200, "saved")
}

func TestOneWayFrames(t *testing.T) {
	o := newOrigin(t)
	g := frames(o.addr).start(t)
	oneWay := rpcCall(1, "fire")
	oneWay.kind = frame.OneWay
	c := g.dialFrames().write(oneWay, rpcCall(2, "ask"))
	up := o.acceptFrames()
	require.Equal(t, frame.OneWay, up.next().kind)
	up.write(up.next().answer("told"))
	c.expectFrame(2, 200, "told")
	require.Contains(t, g.records.next(t)+g.records.next(t), `"status":202`)
	require.Equal(t, 0, g.stats().LiveExchanges)
}

func TestHeartbeats(t *testing.T) {
	g := frames("127.0.0.1:1").start(t)
	c := g.dialFrames().write(fr{kind: frame.Heartbeat, id: 77})
	f := c.next()
	require.Equal(t, frame.Heartbeat, f.kind)
	require.Equal(t, frame.Reply, f.flags)
	require.Equal(t, uint64(77), f.id)
}

// An endpoint that is connected and says nothing is asked three times, then its
// connection is given up with all that is on it; any sign of life begins anew.
func TestMissedHeartbeats(t *testing.T) {
	o := newOrigin(t)
	g := noRetries(frames(o.addr)).start(t)
	c := g.dialFrames().write(rpcCall(1, ""), rpcCall(2, ""))
	up := o.acceptFrames()
	first := up.next()
	up.next()
	w := g.server.workers[0]
	silence := func() {
		w.loop.Post(&reactor.Task{Run: func(l *reactor.Loop) {
			for _, k := range w.links {
				if k != nil {
					k.OnTimer(clockLinkBeat, l.Now())
				}
			}
		}})
	}
	asked := func() {
		silence()
		require.Equal(t, frame.Heartbeat, up.next().kind)
	}
	asked()
	asked()
	up.write(first.answer("alive"))
	c.expectFrame(1, 200, "alive")
	silence() // not quite: something came
	asked()
	asked()
	asked()
	require.Zero(t, g.stats().HeartbeatsMissed)
	silence()
	c.expectFailure(2, codec.UpstreamTimeout)
	require.EqualValues(t, 1, g.stats().HeartbeatsMissed)
	up.expectCut()
}

// Long bodies pass in pieces, for which both sides give credit.
func TestCreditOfFrames(t *testing.T) {
	const piece, pieces = 64 << 10, 16 // four windows
	o := newOrigin(t)
	g := frames(o.addr).start(t)
	c := g.dialFrames()
	head := rpcCall(1, "")
	head.flags = frame.More
	c.write(head)
	up := o.acceptFrames()
	got := up.next()
	body := strings.Repeat("b", piece)
	sent, credit, received := 0, frame.Window, 0
	for received < piece*pieces {
		for sent < piece*pieces && credit >= piece {
			c.write(fr{kind: frame.Request, id: 1, flags: frame.More | frame.Continues, body: body})
			sent, credit = sent+piece, credit-piece
		}
		for received < sent {
			received += len(up.next().body)
		}
		if sent == piece*pieces {
			break
		}
		up.write(fr{kind: frame.Credit, id: got.id, body: string(binary.BigEndian.AppendUint32(nil, 128<<10))})
		more := c.next()
		require.Equal(t, frame.Credit, more.kind)
		credit += int(binary.BigEndian.Uint32([]byte(more.body)))
	}
	c.write(fr{kind: frame.Request, id: 1, flags: frame.Continues, pairs: []string{"x-sum", "1"}})
	last := up.next()
	for last.flags&frame.More != 0 {
		last = up.next()
	}
	require.Equal(t, "1", last.pair("x-sum"))
	up.write(got.answer("done"))
	for f := c.next(); ; f = c.next() {
		if f.kind == frame.Response {
			require.Equal(t, "done", f.body)
			break
		}
	}
}

// A client that gives no credit holds one window of an answer and no more, and
// others on the same upstream connection are not held up.
func TestClientThatTakesNothing(t *testing.T) {
	o := newOrigin(t)
	s := frames(o.addr)
	s.listener.WriteIdle = 300 * time.Millisecond
	g := s.start(t)
	slow, quick := g.dialFrames().write(rpcCall(1, "")), g.dialFrames()
	up := o.acceptFrames()
	long := up.next()
	first := long.answer(strings.Repeat("a", 200<<10))
	first.flags = frame.More
	up.write(first, fr{kind: frame.Response, id: long.id, flags: frame.More | frame.Continues, body: strings.Repeat("a", 56<<10)})
	quick.write(rpcCall(1, "quick"))
	got := up.next()
	for got.kind != frame.Request {
		got = up.next() // credit for what has gone on
	}
	up.write(fr{kind: frame.Response, id: long.id, flags: frame.More | frame.Continues, body: strings.Repeat("a", 100<<10)})
	up.write(got.answer("quick"))
	quick.expectFrame(1, 200, "quick")
	total := 0
	f := slow.next()
	for ; f.kind == frame.Response; f = slow.next() {
		total += len(f.body)
	}
	require.Equal(t, frame.Window, total)
	require.Equal(t, frame.Cancel, f.kind) // it has had its time
	for f = up.next(); f.kind == frame.Credit; {
		f = up.next()
	}
	require.Equal(t, frame.Cancel, f.kind)
	require.Zero(t, g.stats().LiveExchanges)
}

func TestMoreThanThereIsCreditFor(t *testing.T) {
	o := newOrigin(t)
	s := noRetries(frames(o.addr))
	s.options.Low, s.options.High = 1<<10, 4<<10
	g := s.start(t)
	c := g.dialFrames()
	head := rpcCall(1, strings.Repeat("b", 200<<10))
	head.flags = frame.More
	c.write(head, fr{kind: frame.Request, id: 1, flags: frame.More | frame.Continues, body: strings.Repeat("b", 400<<10)})
	for {
		f := c.next()
		if f.kind == frame.Response {
			require.Contains(t, f.body, `"error":"bad_framing"`)
			break
		}
	}
	c.write(rpcCall(2, "x")) // the connection goes on
	up := o.acceptFrames()
	for f := up.next(); ; f = up.next() {
		if f.body == "x" {
			up.write(f.answer("y"))
			break
		}
	}
	c.expectFrame(2, 200, "y")
}

func TestDrainOfFrameClients(t *testing.T) {
	o := newOrigin(t)
	g := frames(o.addr).start(t)
	idle, busy := g.dialFrames(), g.dialFrames().write(rpcCall(1, ""))
	up := o.acceptFrames()
	got := up.next()
	idle.write(fr{kind: frame.Heartbeat, id: 1})
	require.Equal(t, frame.Heartbeat, idle.next().kind) // it is known to the loop
	g.server.BeginDrain()
	for _, c := range []*fpeer{idle, busy} {
		f := c.next()
		require.Equal(t, frame.GoAway, f.kind)
		require.Equal(t, uint64(frame.LastIDUnknown), f.id)
	}
	busy.write(rpcCall(2, "")) // on its way when the word came
	second := up.next()
	final := idle.next()
	require.Equal(t, frame.GoAway, final.kind)
	require.Zero(t, final.id)
	idle.expectClosed()
	require.Equal(t, uint64(2), busy.next().id)
	up.write(got.answer("1"), second.answer("2"))
	busy.expectFrame(1, 200, "1")
	busy.expectFrame(2, 200, "2")
	busy.expectClosed()
}

// A client that comes out of the backlog of a drain is served, and told to go at
// once.
func TestFrameClientThatComesWithTheDrain(t *testing.T) {
	o := newOrigin(t)
	g := frames(o.addr).start(t)
	goOn := g.stopLoop()
	g.server.BeginDrain()
	drains, dialled := make(chan struct{}), make(chan struct{})
	g.server.workers[0].loop.Post(taskOf(func() { // before it looks at the backlog
		close(drains)
		<-dialled
	}))
	goOn()
	<-drains
	c := g.dialFrames().write(rpcCall(1, "late"))
	close(dialled)
	up := o.acceptFrames()
	f := up.next()
	got := c.next()
	require.Equal(t, frame.GoAway, got.kind)
	require.Equal(t, uint64(math.MaxUint64), got.id, "what is on its way is still taken")
	up.write(f.answer("served"))
	c.expectFrame(1, 200, "served")
}

func TestTooManyStreams(t *testing.T) {
	o := newOrigin(t)
	g := frames(o.addr).start(t)
	c := g.dialFrames()
	var all []fr
	for i := range maxStreams + 1 {
		all = append(all, rpcCall(uint64(i+1), ""))
	}
	go func() { c.write(all...) }()
	up := o.acceptFrames()
	for range maxStreams {
		up.next()
	}
	c.expectFailure(maxStreams+1, codec.Overloaded)
	require.Equal(t, uint64(1), g.stats().StreamsRefused)
}

func TestFrameServiceMisbehaves(t *testing.T) {
	for name, tt := range map[string]struct {
		wire   func(got fr) string
		reason codec.Reason
	}{
		"garbage": {func(fr) string { return "HTTP/1.1 200 OK\r\n\r\n        " }, codec.UpstreamReset},
		"second answer": {func(f fr) string {
			m := f.answer("a")
			m.flags = frame.More
			return string(m.bytes()) + string(m.bytes())
		}, codec.UpstreamBadResponse},
		"broken head":    {func(f fr) string { b := f.answer("", "x", "y").bytes(); b[25] = 0; return string(b) }, codec.UpstreamBadResponse},
		"request of its": {func(f fr) string { return string(rpcCall(f.id, "").bytes()) }, codec.UpstreamReset},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t)
			g := noRetries(frames(o.addr)).start(t)
			c := g.dialFrames().write(rpcCall(1, ""))
			up := o.acceptFrames()
			up.send(tt.wire(up.next()))
			f := c.next()
			for f.kind == frame.Response && f.flags&frame.More != 0 {
				f = c.next()
			}
			if f.kind == frame.Cancel {
				require.Equal(t, tt.reason.Status(), f.status)
				return
			}
			require.Contains(t, f.body, fmt.Sprintf(`"error":%q`, tt.reason))
		})
	}
}

func TestFramesOfOtherEndpointsOnly(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := l.Addr().String()
	require.NoError(t, l.Close())
	g := frames(addr).start(t)
	c := g.dialFrames().write(rpcCall(1, ""))
	c.expectFailure(1, codec.UpstreamRefused)
}

// Requests in front of a connection that takes no more bytes stay with it when
// its endpoint leaves the configuration.
func TestRequestsInFrontOfALinkThatLeaves(t *testing.T) {
	const many = 64
	o, next := newOrigin(t), newOrigin(t)
	s := frames(o.addr)
	s.limits.Wait = patience
	g := s.start(t)
	c := g.dialFrames()
	body := strings.Repeat("a", 200<<10)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for id := range uint64(many) {
			if _, err := c.conn.Write(rpcCall(id+1, body).bytes()); err != nil {
				return
			}
		}
	}()
	<-sent
	require.Eventually(t, func() bool { return g.stats().LiveExchanges == many }, patience, time.Millisecond)
	s.endpoints = []string{next.addr}
	g.server.Publish(g.compile(2))
	require.Eventually(t, func() bool { return g.server.Passed() == 2 }, patience, time.Millisecond)
	up := o.acceptFrames()
	total := 0
	for whole := 0; whole < many; {
		f := up.next()
		require.Equal(t, frame.Request, f.kind)
		total += len(f.body)
		if f.flags&frame.More == 0 {
			whole++
			up.write(f.answer(""))
		}
	}
	require.Equal(t, many*len(body), total)
	for answered := 0; answered < many; {
		if f := c.next(); f.kind == frame.Response { // else it is credit
			require.Equal(t, 200, f.status)
			answered++
		}
	}
	up.expectCut()
}
