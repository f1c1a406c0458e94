package engine

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/reactor"
)

// tunnel opens one and returns both of its ends.
func tunnel(g *gateway, o *origin) (client, upstream *peer) {
	g.t.Helper()
	c := g.dial().send("GET /ws HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: echo\r\n\r\n")
	up := o.accept()
	r := up.request()
	require.Equal(g.t, "echo", r.Header.Get("Upgrade"))
	require.Equal(g.t, "Upgrade", r.Header.Get("Connection"))
	up.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nfirst")
	head := c.readUntil("\r\n\r\nfirst")
	require.Contains(g.t, head, "101 Switching Protocols")
	require.Contains(g.t, head, "Connection: Upgrade\r\n")
	require.Contains(g.t, head, "Upgrade: echo\r\n")
	return c, up
}

func TestTunnel(t *testing.T) {
	o := newOrigin(t)
	g := newSetup(o.addr).start(t)
	c, up := tunnel(g, o)
	c.send("GET / HTTP/1.1\r\n\r\n\x00\xff")
	up.readUntil("\r\n\r\n\x00\xff")
	up.send("down")
	c.readUntil("down")
	t.Run("half-close", func(t *testing.T) {
		require.NoError(t, c.conn.CloseWrite())
		b, err := io.ReadAll(up.in)
		require.NoError(t, err)
		require.Empty(t, b)
		up.send("last words").close()
		b, err = io.ReadAll(c.in)
		require.NoError(t, err)
		require.Equal(t, "last words", string(b))
	})
	rec := g.records.next(t)
	require.Contains(t, rec, `"status":101,"reason":""`)
	require.Contains(t, rec, `"bytes_in":20,"bytes_out":19`)
}

func TestTunnelReset(t *testing.T) {
	for name, reset := range map[string]func(c, up *peer) *peer{
		"by the client":   func(c, up *peer) *peer { c.reset(); return up },
		"by the upstream": func(c, up *peer) *peer { up.reset(); return c },
	} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t)
			g := newSetup(o.addr).start(t)
			reset(tunnel(g, o)).expectCut()
			g.records.next(t)
		})
	}
}

func TestClientAborts(t *testing.T) {
	o := newOrigin(t)
	g := newSetup(o.addr).start(t)
	c := g.dial().get("/slow")
	up := o.accept()
	up.request()
	c.reset()
	up.expectCut() // the upstream's work is cancelled
	rec := g.records.next(t)
	require.Contains(t, rec, `"status":499,"reason":"client_aborted"`)
	require.Zero(t, g.stats().LiveExchanges)
}

func TestClientAbortsMidBody(t *testing.T) {
	o := newOrigin(t)
	g := newSetup(o.addr).start(t)
	c := g.dial().send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf")
	up := o.accept()
	up.readUntil("half")
	c.reset()
	up.expectCut()
	require.Contains(t, g.records.next(t), `"reason":"client_aborted"`)
}

func TestClientHalfCloses(t *testing.T) {
	t.Run("after the request", func(t *testing.T) {
		o := newOrigin(t)
		g := newSetup(o.addr).start(t)
		c := g.dial().get("/")
		require.NoError(t, c.conn.CloseWrite())
		up := o.accept()
		up.request()
		up.send(ok)
		c.expect(200, "ok")
		c.expectClosed()
	})
	t.Run("within the body", func(t *testing.T) {
		o := newOrigin(t)
		g := newSetup(o.addr).start(t)
		c := g.dial().send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf")
		up := o.accept()
		up.readUntil("half")
		require.NoError(t, c.conn.CloseWrite())
		c.expectReason(codec.BadFraming)
		up.expectCut()
	})
	t.Run("within the head", func(t *testing.T) {
		g := newSetup(refusing(t)).start(t)
		c := g.dial().send("GET / HT")
		require.NoError(t, c.conn.CloseWrite())
		c.expectClosed()
	})
}

func TestClientDrips(t *testing.T) {
	o := newOrigin(t)
	g := newSetup(o.addr).start(t)
	c := g.dial()
	for _, b := range "POST /d HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" {
		c.send(string(b))
	}
	up := o.accept()
	r := up.request()
	b, _ := io.ReadAll(r.Body)
	require.Equal(t, "abc", string(b))
	up.send(ok)
	c.expect(200, "ok")
}

// big is a body that no socket buffer holds.
const big = 64 << 20

func TestClientStopsReading(t *testing.T) {
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.listener.WriteIdle = 100 * time.Millisecond
	g := s.start(t)
	g.dial().get("/")
	up := o.accept()
	up.request()
	up.send("HTTP/1.1 200 OK\r\nContent-Length: 67108864\r\n\r\n")
	sent := up.flood(big)
	require.Less(t, sent, big, "the upstream was not slowed down")
	require.Contains(t, g.records.next(t), `"reason":"client_aborted"`)
}

// flood sends until all is sent or the connection breaks.
func (p *peer) flood(n int) (sent int) {
	piece := []byte(strings.Repeat("x", 64<<10))
	for sent < n {
		k, err := p.conn.Write(piece)
		sent += k
		if err != nil {
			return sent
		}
	}
	return sent
}

func TestUpstreamStopsReading(t *testing.T) {
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.timeouts.Idle = 100 * time.Millisecond
	g := s.start(t)
	c := g.dial().send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 67108864\r\n\r\n")
	o.accept()
	done := make(chan int, 1)
	go func() { done <- c.flood(big) }()
	c.expectReason(codec.UpstreamTimeout)
	c.close()
	require.Less(t, <-done, big, "the client was not slowed down")
}

func TestSlowReaderGetsEverything(t *testing.T) {
	const size = 8 << 20
	o := newOrigin(t)
	g := newSetup(o.addr).start(t)
	c := g.dial().get("/")
	up := o.accept()
	up.request()
	up.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
	done := make(chan int, 1)
	go func() {
		n := 0
		for n < size {
			up.send("10000\r\n", strings.Repeat("x", 64<<10), "\r\n")
			n += 64 << 10
		}
		up.send("0\r\n\r\n")
		done <- n
	}()
	require.Eventually(t, func() bool { used, _ := g.server.Memory(); return used > 256<<10 }, patience, time.Millisecond)
	used, _ := g.server.Memory()
	require.Less(t, used, int64(1<<20), "queued far beyond the high mark")
	_, _, body := c.response("GET")
	require.Len(t, body, size)
	require.Equal(t, size, <-done)
}

func TestConnectionLimit(t *testing.T) {
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.options.MaxConnections = 1
	g := s.start(t)
	c := g.dial()
	warm(g, o, c)
	g.dial().expectClosed()
	require.Equal(t, 1, g.server.Connections())
}

func TestKeepaliveRequests(t *testing.T) {
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.listener.KeepaliveRequests = 2
	g := s.start(t)
	c := g.dial()
	up := warm(g, o, c)
	c.get("/")
	up.request()
	up.send(ok)
	require.Equal(t, "close", c.expect(200, "ok").Get("Connection"))
	c.expectClosed()
}

func TestDrain(t *testing.T) {
	o := newOrigin(t)
	g := newSetup(o.addr).start(t)
	idle, busy := g.dial(), g.dial()
	up := warm(g, o, idle)
	busy.get("/slow")
	up.request()
	g.server.BeginDrain()
	idle.expectClosed()
	idle.close()
	up.send(ok)
	require.Equal(t, "close", busy.expect(200, "ok").Get("Connection"))
	busy.expectClosed()
	busy.close()
	require.Eventually(t, func() bool { return g.server.Connections() == 0 }, patience, time.Millisecond)
}

func TestStopCutsWhatRuns(t *testing.T) {
	o := newOrigin(t)
	g := newSetup(o.addr).start(t)
	c := g.dial().get("/slow")
	o.accept().request()
	require.NoError(t, g.server.Stop())
	c.expectReason(codec.Draining)
	require.Contains(t, g.records.next(t), `"reason":"draining"`)
	require.Zero(t, g.endpoint(0).Failures())
}

func TestOverloadIsRefused(t *testing.T) {
	s := newSetup(refusing(t))
	s.options.Memory = 1
	g := s.start(t)
	c := g.dial().get("/")
	c.expectReason(codec.UpstreamRefused)
	g.server.memory.Add(2)
	c.get("/").expectReason(codec.Overloaded)
	late := g.dial().get("/") // waits in the backlog
	require.Eventually(t, func() bool { return g.server.Connections() == 1 }, patience, time.Millisecond)
	g.server.memory.Add(-2)
	late.expectReason(codec.UpstreamRefused)
	c.get("/").expectReason(codec.UpstreamRefused)
}

func TestBudgetBoundsWhatRuns(t *testing.T) {
	const streams, budget = 8, 512 << 10
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.options.Memory = budget
	g := s.start(t)
	sent := make(chan int, streams)
	var cs []*peer
	for range streams {
		c := g.dial()
		require.NoError(t, c.conn.SetReadBuffer(4096))
		cs = append(cs, c.get("/"))
		up := o.accept()
		up.request()
		require.NoError(t, up.conn.SetWriteBuffer(4096))
		up.send("HTTP/1.1 200 OK\r\nContent-Length: 67108864\r\n\r\n")
		go func() { sent <- up.flood(big) }()
	}
	// Every stream is stuck when nothing moves any more between two looks.
	last := int64(-1)
	require.Eventually(t, func() bool {
		used, _ := g.server.Memory()
		still := used == last
		last = used
		return still && used > budget/2
	}, patience, 100*time.Millisecond)
	// Each stream may have had two reads under way, and a block half full.
	require.LessOrEqual(t, last, int64(budget+streams*(2*reactor.ReadBuffer+reactor.BlockSize)))
	for _, c := range cs {
		c.reset()
	}
	for range streams {
		<-sent
	}
}
