package engine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
)

// TestLoopIsWarmWhenItReports: what the first request needs is there, and nothing
// of the rehearsal is left.
func TestLoopIsWarmWhenItReports(t *testing.T) {
	o := newOrigin(t).serve(echoOK)
	g := newSetup(o.addr).start(t)
	require.Eventually(t, func() bool { return g.server.Passed() == 1 }, patience, 1)
	empty := new(codec.Head).Size()
	on(g, func(w *worker) {
		require.Equal(t, warmExchanges, w.freeCount)
		for x := w.free; x != nil; x = x.next {
			require.Greater(t, x.req.Size(), empty+len(rehearsedRequest))
			require.Greater(t, x.resp.Size(), empty+len(rehearsedResponse))
			require.Zero(t, x.req.Len())
			require.False(t, x.running())
		}
		require.Zero(t, w.live)
		require.Zero(t, w.server.memory.Used())
	})
	first, second := g.server.Rings()[0].Peek()
	require.Empty(t, append(first, second...), "nobody sees the rehearsal")
	require.Zero(t, g.stats().Requests)
	c := g.dial()
	c.get("/").expect(200, "ok")
	on(g, func(w *worker) { require.Equal(t, warmExchanges, w.freeCount, "none was made") })
	g.server.Publish(g.compile(2))
	require.Eventually(t, func() bool { return g.server.Passed() == 2 }, patience, 1)
	on(g, func(w *worker) { require.Equal(t, warmExchanges, w.freeCount, "once is enough") })
}
