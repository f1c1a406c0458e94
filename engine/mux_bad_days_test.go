package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec/frame"
	"github.com/corelane/corelane/filters"
)

// readsAfter does something and waits until the gateway has read n bytes more.
func (g *gateway) readsAfter(n uint64, do func()) {
	g.t.Helper()
	before := g.stats().Reactor.BytesIn
	do()
	require.Eventually(g.t, func() bool { return g.stats().Reactor.BytesIn >= before+n }, patience, time.Millisecond)
}

// A frame that came in pieces lies in its decoder's buffer, which the next frame
// of the same read begins to fill again: what was not sent by then would be lost.
func TestFramesThatCameInPieces(t *testing.T) {
	o := newOrigin(t)
	g := privates(t, true, o.addr).start(t)
	c := g.dial().send(privateFrame(9, "find"))
	up := o.accept()
	id, _ := up.privateFrame()
	up.send(privateFrame(id, "found"))
	c.expectPrivate(9, "found")

	body := func(c string) string { return "find" + strings.Repeat(c, 3000) }
	first, second := privateFrame(1, body("a")), privateFrame(2, body("b"))
	g.readsAfter(1000, func() { c.send(first[:1000]) })
	c.send(first[1000:] + second[:2500])
	id1, got := up.privateFrame()
	require.Equal(t, body("a"), got)
	c.send(second[2500:])
	id2, got := up.privateFrame()
	require.Equal(t, body("b"), got)

	first, second = privateFrame(id1, body("c")), privateFrame(id2, body("d"))
	g.readsAfter(1000, func() { up.send(first[:1000]) })
	up.send(first[1000:] + second[:2500])
	c.expectPrivate(1, body("c"))
	up.send(second[2500:])
	c.expectPrivate(2, body("d"))
}

// swelling is a filter that makes a long body of every end.
type swelling struct{ size int }

func (*swelling) OnRequest(ctx *filters.Context) filters.Verdict {
	ctx.BodyChanges()
	return filters.Continue
}

func (s *swelling) OnRequestBody(ctx *filters.Context, _ []byte, last bool) filters.Verdict {
	ctx.ReplaceBody(nil)
	if last {
		ctx.ReplaceBody([]byte(strings.Repeat("s", s.size)))
	}
	return filters.Continue
}

// What wants no answer has had its end when all of it is sent, also if that took
// the endpoint's credit.
func TestOneWayThatWaitsForCredit(t *testing.T) {
	o := newOrigin(t)
	s := frames(o.addr)
	s.filters = []any{&swelling{frame.Window + 4}}
	g := s.start(t)
	call := rpcCall(1, "small")
	call.kind = frame.OneWay
	g.dialFrames().write(call)
	up := o.acceptFrames()
	received, id := 0, uint64(0)
	for received < frame.Window {
		f := up.next()
		id, received = f.id, received+len(f.body)
	}
	require.Equal(t, 1, g.stats().LiveExchanges)
	up.write(fr{kind: frame.Credit, id: id, body: "\x00\x01\x00\x00"})
	f := up.next()
	for ; f.flags&frame.More != 0; f = up.next() {
		received += len(f.body)
	}
	require.Equal(t, frame.Window+4, received+len(f.body))
	require.Contains(t, g.records.next(t), `"status":202`)
	require.Zero(t, g.stats().LiveExchanges)
}

// An answer that has come whole is the client's, even if its connection ends while
// the client is slow to take it.
func TestAnswerOutlivesItsLink(t *testing.T) {
	o := newOrigin(t)
	g := frames(o.addr).start(t)
	c := g.dialFrames().write(rpcCall(1, ""))
	up := o.acceptFrames()
	asked := up.next()
	half := strings.Repeat("a", frame.Window/2)
	first := asked.answer(half)
	first.flags = frame.More
	more := fr{kind: frame.Response, id: asked.id, flags: frame.More | frame.Continues, body: half}
	last := more
	last.flags = frame.Continues
	up.write(first, more)
	require.Equal(t, frame.Credit, up.next().kind)
	g.readsAfter(frame.Window+48, func() { up.write(more, last) })
	received := 0
	for received < frame.Window {
		received += len(c.next().body)
	}
	up.close()
	require.Eventually(t, func() bool { return g.stats().Pool.Busy == 0 }, patience, time.Millisecond)
	c.write(fr{kind: frame.Credit, id: 1, body: "\x00\x10\x00\x00"})
	f := c.next()
	for ; f.flags&frame.More != 0; f = c.next() {
		received += len(f.body)
	}
	require.Equal(t, frame.Response, f.kind)
	require.Equal(t, 2*frame.Window, received+len(f.body))
	require.Contains(t, g.records.next(t), `"status":200`)
}

// A service without ids may close behind each answer, while a filter still looks at
// it.
func TestServiceThatClosesBehindItsAnswer(t *testing.T) {
	o := newOrigin(t)
	s := noRetries(privates(t, false, o.addr))
	handles := make(chan filters.Handle, 1)
	s.filters = []any{&probe{
		response: func(ctx *filters.Context) filters.Verdict {
			handles <- ctx.Wait(patience)
			return filters.Wait
		},
		resume: func(*filters.Context, any) filters.Verdict { return filters.Continue },
	}}
	g := s.start(t)
	c := g.dial().send(privateFrame(1, "find"))
	up := o.accept()
	up.privateFrame()
	up.send(privateFrame(1, "found"))
	up.close()
	require.Eventually(t, func() bool { return g.stats().Pool.Busy == 0 }, patience, time.Millisecond)
	h := <-handles
	require.True(t, h.Resume(nil))
	_, got := c.privateFrame()
	require.Equal(t, "found", got)
}

// A client may give credit before the answer begins.
func TestCreditBeforeTheAnswer(t *testing.T) {
	o := newOrigin(t)
	g := frames(o.addr).start(t)
	c := g.dialFrames().write(rpcCall(1, ""), fr{kind: frame.Credit, id: 1, body: "\x00\x04\x00\x00"})
	up := o.acceptFrames()
	asked := up.next()
	half := strings.Repeat("a", frame.Window/2)
	for i := range 4 {
		f := fr{kind: frame.Response, id: asked.id, flags: frame.More | frame.Continues, body: half}
		switch i {
		case 0:
			f.flags, f.status = frame.More, 200
		case 3:
			f.flags = frame.Continues
		}
		up.write(f)
	}
	c.expectFrame(1, 200, strings.Repeat("a", 2*frame.Window))
}

// wholeRequest reads pieces to the end of a request.
func (p *fpeer) wholeRequest() fr {
	p.t.Helper()
	for {
		if f := p.next(); f.flags&frame.More == 0 {
			return f
		}
	}
}

// fillLink sends requests until the connection to an endpoint that does not read is
// full.
func (p *fpeer) fillLink(g *gateway, from int) (n int) {
	body := strings.Repeat("f", 200<<10)
	for n = 0; n < 40; n++ {
		g.readsAfter(uint64(len(body)), func() { p.write(rpcCall(uint64(from+n), body)) })
	}
	return n
}

// What waits for room on a link that is given up still gets it.
func TestLinkThatIsGivenUpTakesWhoWaits(t *testing.T) {
	o := newOrigin(t)
	s := frames(o.addr)
	s.options.High, s.options.Low = 64<<10, 16<<10
	s.limits.Wait = 0
	g := s.start(t)
	c := g.dialFrames().write(rpcCall(1, "x"))
	up := o.acceptFrames()
	require.NoError(t, up.conn.SetReadBuffer(64<<10))
	up.write(up.next().answer("y"))
	c.expectFrame(1, 200, "y")
	n := c.fillLink(g, 2)
	late := g.dialFrames().write(rpcCall(1, "late"))
	require.Eventually(t, func() bool { return g.stats().LiveExchanges == n+1 }, patience, time.Millisecond)
	e, err := g.registry.Endpoint("origin", o.addr, "")
	require.NoError(t, err)
	g.server.CloseIdle(e)
	for range n + 1 {
		up.write(up.wholeRequest().answer("answered"))
	}
	late.expectFrame(1, 200, "answered")
}

// Requests that have waited for credit wait for room when the connection is full by
// then, and go on.
func TestCreditForAFullLink(t *testing.T) {
	const streams, extra = 100, 60 << 10
	o := newOrigin(t)
	s := frames(o.addr)
	s.options.High, s.options.Low = 64<<10, 16<<10
	g := s.start(t)
	slow, c := g.dialFrames(), g.dialFrames()
	c.write(rpcCall(1, "x"))
	up := o.acceptFrames()
	require.NoError(t, up.conn.SetReadBuffer(64<<10))
	up.write(up.next().answer("y"))
	c.next()
	var ids []uint64
	for i := range uint64(streams) {
		head := rpcCall(i+1, strings.Repeat("s", frame.Window/2))
		head.flags = frame.More
		more := fr{kind: frame.Request, id: i + 1, flags: frame.More | frame.Continues, body: head.body}
		slow.write(head, more)
		var f fr
		for received := 0; received < frame.Window; received += len(f.body) {
			f = up.next()
		}
		ids = append(ids, f.id)
		more.body = strings.Repeat("s", extra) // there is no credit for it
		g.readsAfter(extra, func() { slow.write(more) })
	}
	for range c.fillLink(g, 2) {
		up.write(up.wholeRequest().answer(""))
		c.next()
	}
	g.readsAfter(streams*28, func() {
		for _, id := range ids {
			up.write(fr{kind: frame.Credit, id: id, body: "\x00\x02\x00\x00"})
		}
	})
	for received := 0; received < streams*extra; {
		received += len(up.next().body)
	}
	for i := range uint64(streams) {
		slow.write(fr{kind: frame.Request, id: i + 1, flags: frame.Continues, body: "end"})
	}
	for range ids {
		up.wholeRequest()
	}
}
