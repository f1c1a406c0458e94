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
