package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/pool"
)

// endpoint is the gateway's n-th.
func (g *gateway) endpoint(n int) *pool.Endpoint {
	return g.server.Current().Services["origin"].Pool.Members[n].Endpoint
}

func TestDrainClosesIdleConnectionsAndLetsTheOthersEnd(t *testing.T) {
	o := newOrigin(t)
	g := newSetup(o.addr).start(t)
	first, second := g.dial().get("/1"), g.dial()
	idle := o.accept()
	idle.request()
	second.get("/2")
	busy := o.accept()
	busy.request()
	idle.send(ok)
	first.expect(200, "ok")

	e := g.endpoint(0)
	require.True(t, e.SetDraining(true, 0))
	g.server.CloseIdle(e)
	idle.expectClosed()

	first.get("/3").expectReason(codec.NoEndpoint)
	busy.send(ok)
	second.expect(200, "ok")
	busy.expectClosed() // it is not kept for another
	require.Eventually(t, func() bool { return e.Conns() == 0 }, patience, time.Millisecond)

	e.SetDraining(false, 0)
	second.get("/4")
	again := o.accept()
	again.request()
	again.send(ok)
	second.expect(200, "ok")
}

func TestEjectionClosesIdleConnectionsOfAllLoops(t *testing.T) {
	bad, good := newOrigin(t), newOrigin(t).serve(echoOK)
	s := newSetup(bad.addr, good.addr)
	s.options.Loops = 2
	s.balance = pool.RoundRobin
	s.retries.Attempts = 0
	s.passive = pool.Passive{ConsecutiveFailures: 1, Eject: time.Hour, MaxEjected: 50}
	g := s.start(t)

	// Each loop begins its round at another endpoint and takes turns.
	clients := []*peer{g.dial(), g.dial(), g.dial(), g.dial()}
	var peers []*peer
	for len(peers) < 2 {
		for _, c := range clients {
			c.get("/")
		}
		for range 2 {
			p := bad.accept()
			p.request()
			peers = append(peers, p)
		}
		for _, p := range peers {
			p.send(ok)
		}
		for _, c := range clients {
			c.expect(200, "ok")
		}
	}
	for _, c := range clients {
		c.get("/")
	}
	for _, p := range peers {
		p.request()
	}
	peers[0].send("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
	peers[0].expectClosed()
	require.True(t, g.endpoint(0).Ejected(0))
	peers[1].send(ok)
	peers[1].expectClosed()
	events, _ := g.server.TakeEvents()
	require.Len(t, events, 1)
	require.Equal(t, EventEjected, events[0].Kind)
	require.Equal(t, bad.addr, events[0].Name)
	require.Equal(t, time.Hour.Nanoseconds(), events[0].Nanos)
}
