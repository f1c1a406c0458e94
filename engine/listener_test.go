package engine

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestListenerLimitFollowsTheGeneration(t *testing.T) {
	o := newOrigin(t).serve(echoOK)
	s := newSetup(o.addr)
	s.options.Loops = 2
	s.listener.MaxConnections = 1
	g := s.start(t)
	first := g.dial()
	first.get("/").expect(200, "ok")
	g.dial().expectClosed()
	require.Equal(t, []ListenerInfo{{Name: "web", Address: g.addr, Connections: 1, Limit: 1, Refused: 1}}, g.server.Listeners())

	s.listener.MaxConnections = 2
	g.server.Publish(g.compile(2))
	second := g.dial()
	second.get("/").expect(200, "ok")
	g.dial().expectClosed()

	s.listener.MaxConnections = 1
	g.server.Publish(g.compile(3))
	first.get("/").expect(200, "ok") // who is in stays
	second.close()
	require.Eventually(t, func() bool { return g.server.Listeners()[0].Connections == 1 }, patience, time.Millisecond)
	g.dial().expectClosed()
	require.Equal(t, uint64(3), g.server.Listeners()[0].Refused)
}

// Each listener has its own policy, and all share the process's limit.
func TestSeveralListeners(t *testing.T) {
	s := newSetup()
	s.options.Listeners = append(s.options.Listeners, ListenerOptions{Name: "balanced", Address: "127.0.0.1:0"})
	s.options.MaxConnections = 2
	s.filters = []any{seen{}}
	g := s.start(t)
	snap := g.compile(2)
	policy := s.listener
	policy.Name, policy.ProxyProtocol = "balanced", true
	snap.Listeners[policy.Name] = &policy
	g.server.Publish(snap)

	plain := g.dial()
	plain.send(simple).expect(200, "127.0.0.1|"+plain.conn.LocalAddr().String()+"|127.0.0.1")
	dialBalanced := func() *peer {
		conn, err := net.Dial("tcp", g.server.Addresses()[1])
		require.NoError(t, err)
		return newPeer(t, conn)
	}
	dialBalanced().send(proxyV1, simple).expect(200, "192.0.2.7|192.0.2.7:40000|192.0.2.7")
	dialBalanced().expectClosed()
	g.dial().expectClosed()
	require.Equal(t, 2, g.server.Connections())
	for _, l := range g.server.Listeners() {
		require.Equal(t, 1, l.Connections)
	}
}
