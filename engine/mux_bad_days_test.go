package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
