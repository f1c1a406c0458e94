package engine

import (
	"io"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/engine/reactor"
)

// pump sends b; the result tells when all has gone.
func (p *peer) pump(b []byte) (sent chan error) {
	sent = make(chan error, 1)
	go func() {
		_, err := p.conn.Write(b)
		sent <- err
	}()
	return sent
}

// drink reads n bytes; the result brings them.
func (p *peer) drink(n int) (got chan string) {
	got = make(chan string, 1)
	go func() {
		b := make([]byte, n)
		n, _ := io.ReadFull(p.in, b)
		got <- string(b[:n])
	}()
	return got
}

// Large flows go past the program, both ways at once, and a dialogue does not; what
// is logged is the same.
func TestLargeFlowsBothWays(t *testing.T) {
	const pieces = 30
	up, down := make([]byte, 6<<20), make([]byte, 8<<20)
	for i := range up {
		up[i] = byte(i * 7)
	}
	for i := range down {
		down[i] = byte(i>>8 ^ i)
	}
	for _, poller := range []string{reactor.PollerEpoll, reactor.PollerGnet} {
		t.Run(poller, func(t *testing.T) {
			o := newOrigin(t)
			s := newPassing(o.addr)
			s.options.Poller = poller
			g := s.start(t)
			c := g.dial()
			server := o.accept()
			heardUp, heardDown := server.drink(len(up)), c.drink(len(down))
			sentUp, sentDown := c.pump(up), server.pump(down)
			require.NoError(t, <-sentUp)
			require.NoError(t, <-sentDown)
			require.True(t, string(up) == <-heardUp, "the bytes that were sent")
			require.True(t, string(down) == <-heardDown, "the bytes that were sent")

			for range pieces {
				c.send("?")
				server.readUntil("?")
				server.send("!")
				c.readUntil("!")
			}
			onLoop(t, g, 0, func(w *worker) {
				s := w.clients.owner.(*tcpSession)
				require.False(t, s.conn.Relaying())
				require.False(t, s.x.lead.up.(*tcpUpstream).conn.Relaying())
			})
			c.closeWrite()
			server.expectClosed()
			server.close()
			c.expectClosed()
			require.Contains(t, g.records.next(t), `"bytes_in":`+strconv.Itoa(len(up)+pieces)+`,"bytes_out":`+strconv.Itoa(len(down)+pieces))
			require.Equal(t, uint64(len(up)+len(down)+2*pieces), g.stats().Reactor.BytesIn)
		})
	}
}

// A flow that has come to a stop ends as any other, in either direction.
func TestLargeFlowsEndAsOthersDo(t *testing.T) {
	tests := []struct {
		name   string
		setup  func(*setup)
		upward bool
		act    func(client, server *peer)
		reason string
	}{
		{"the client resets while it is sent to", nil, false, func(c, _ *peer) { c.reset() }, "client_aborted"},
		{"the client resets while it sends", nil, true, func(c, _ *peer) { c.reset() }, "client_aborted"},
		{"the server resets while it is sent to", nil, true, func(_, u *peer) { u.reset() }, "upstream_reset"},
		{"the client does not read", func(s *setup) { s.listener.WriteIdle = 100 * time.Millisecond }, false, nil, "client_aborted"},
		{"nothing moves", func(s *setup) { s.listener.TunnelIdle, s.listener.WriteIdle = 100*time.Millisecond, 0 }, false, nil, "client_aborted"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := newOrigin(t)
			s := newPassing(o.addr)
			if tt.setup != nil {
				tt.setup(s)
			}
			g := s.start(t)
			c := g.dial()
			u := o.accept()
			from, to := u, c
			if tt.upward {
				from, to = c, u
			}
			sent := make(chan int, 1)
			go func() { sent <- from.flood(big) }()
			require.Len(t, <-to.drink(4<<20), 4<<20)
			if tt.act != nil {
				g.standsStill()
				tt.act(c, u)
			}
			require.Contains(t, g.records.next(t), `"status":200,"reason":"`+tt.reason+`"`)
			require.Less(t, <-sent, big)
			used, _ := g.server.Memory()
			require.Zero(t, used)
		})
	}
}

// standsStill waits until nothing has moved between two looks.
func (g *gateway) standsStill() {
	g.t.Helper()
	last := uint64(0)
	require.Eventually(g.t, func() bool {
		now := g.stats().Reactor.BytesOut
		still := now == last && now > 0
		last = now
		return still
	}, patience, 50*time.Millisecond)
}
