package engine

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/codec/proxyproto"
	"github.com/corelane/corelane/codec/tlshello"
	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/pool"
)

// passing says where connections go: to the service "origin" unless closed, by
// their names to others.
type passing struct {
	closed bool
	names  map[string]string
}

func (p *passing) compile(s *setup, services map[string]*snapshot.Service) *snapshot.Passage {
	to := func(name string) *snapshot.Route {
		svc := services[name]
		svc.Opaque = true
		timeouts, retries := svc.Timeouts, svc.Retries
		timeouts.TunnelIdle = snapshot.Inherit
		return &snapshot.Route{
			Info: filters.RouteInfo{ID: "tcp:web"}, Service: svc, Timeouts: timeouts, Retries: retries,
			Series: snapshot.NewSeries("tcp:web"),
		}
	}
	names := map[string]*snapshot.Route{}
	for name, service := range p.names {
		names[name] = to(service)
	}
	if p.closed {
		return snapshot.NewPassage(nil, names)
	}
	return snapshot.NewPassage(to("origin"), names)
}

func newPassing(endpoints ...string) *setup {
	s := newSetup(endpoints...)
	s.passing = new(passing)
	s.listener.TunnelIdle = patience
	return s
}

func (p *peer) closeWrite() *peer {
	p.t.Helper()
	require.NoError(p.t, p.conn.CloseWrite())
	return p
}

// expectReset reads up to a reset.
func (p *peer) expectReset() {
	p.t.Helper()
	b, err := io.ReadAll(p.in)
	require.Empty(p.t, string(b))
	require.True(p.t, errors.Is(err, unix.ECONNRESET), "%v", err)
}

// expectRefused connects and is reset, which may come before dial has returned.
func (g *gateway) expectRefused() {
	g.t.Helper()
	conn, err := net.Dial("tcp", g.addr)
	if err != nil {
		require.ErrorIs(g.t, err, unix.ECONNRESET)
		return
	}
	newPeer(g.t, conn).expectReset()
}

func TestBytesPassBothWays(t *testing.T) {
	for _, poller := range []string{reactor.PollerEpoll, reactor.PollerGnet} {
		t.Run(poller, func(t *testing.T) {
			o := newOrigin(t)
			s := newPassing(o.addr)
			s.options.Poller = poller
			g := s.start(t)
			c := g.dial()
			up := o.accept() // before a byte was sent
			up.send("220 ready\r\n")
			c.readUntil("220 ready\r\n")
			c.send("EHLO\r\n")
			up.readUntil("EHLO\r\n")
			c.closeWrite()
			up.expectClosed()
			up.send("the rest")
			up.close()
			c.readUntil("the rest")
			c.expectClosed()

			line := g.records.next(t)
			for _, want := range []string{
				`"route":"tcp:web","method":"TCP","host":"","path":"","endpoint":"` + o.addr + `","status":200,"reason":""`,
				`"bytes_in":6,"bytes_out":19,"tries":1`, `"client":"127.0.0.1"`,
			} {
				require.Contains(t, line, want)
			}
			require.Zero(t, g.endpoint(0).Conns())
		})
	}
}

func TestUpstreamHalfCloses(t *testing.T) {
	o := newOrigin(t)
	g := newPassing(o.addr).start(t)
	c := g.dial()
	up := o.accept().send("bye").closeWrite()
	c.readUntil("bye")
	c.expectClosed()
	c.send("still here")
	up.readUntil("still here")
	c.close()
	up.expectClosed()
	require.Contains(t, g.records.next(t), `"status":200,"reason":""`)
}

func TestHalfCloseBeforeTheConnect(t *testing.T) {
	o := newOrigin(t)
	g := newPassing(o.addr).start(t)
	c := g.dial().send("all I have to say").closeWrite()
	up := o.accept()
	up.readUntil("all I have to say")
	up.expectClosed()
	up.send("done").close()
	c.readUntil("done")
	c.expectClosed()
}

func TestResetsArePassedOn(t *testing.T) {
	t.Run("the client's", func(t *testing.T) {
		o := newOrigin(t)
		g := newPassing(o.addr).start(t)
		c := g.dial().send("hello")
		up := o.accept()
		up.readUntil("hello") // the tunnel is open
		c.reset()
		up.expectReset()
		require.Contains(t, g.records.next(t), `"status":200,"reason":"client_aborted"`)
	})
	t.Run("the upstream's", func(t *testing.T) {
		o := newOrigin(t)
		g := newPassing(o.addr).start(t)
		c := g.dial().send("hello")
		up := o.accept()
		up.readUntil("hello")
		up.reset()
		c.expectReset()
		require.Contains(t, g.records.next(t), `"status":200,"reason":"upstream_reset"`)
		require.Zero(t, g.endpoint(0).Failures(), "that is how some protocols end")
	})
	t.Run("the client's before the connect", func(t *testing.T) {
		o := newOrigin(t)
		g := newPassing(fillBacklog(t, o)).start(t)
		c := g.dial()
		g.awaitLive(1)
		c.reset()
		require.Contains(t, g.records.next(t), `"status":499,"reason":"client_aborted"`)
	})
}

// awaitLive waits until so many exchanges are under way.
func (g *gateway) awaitLive(n int) {
	g.t.Helper()
	require.Eventually(g.t, func() bool { return g.stats().LiveExchanges == n }, patience, time.Millisecond)
}

// A server that has said all and gone resets what the client says then; the client
// is still to get the answer.
func TestUpstreamGoneAfterItsLastWord(t *testing.T) {
	o := newOrigin(t)
	g := newPassing(o.addr).start(t)
	c := g.dial()
	require.NoError(t, c.conn.SetReadBuffer(4096))
	said := strings.Repeat("x", 128<<10)
	up := o.accept().send(said).closeWrite()
	require.Eventually(t, func() (heard bool) {
		onLoop(t, g, 0, func(w *worker) { heard = w.oldest.upstreamEOF })
		return heard
	}, patience, time.Millisecond)
	up.reset()
	require.Contains(t, g.records.next(t), `"status":200,"reason":""`)
	c.readUntil(said)
	c.expectClosed()
}

func TestNobodyThere(t *testing.T) {
	tests := []struct {
		name      string
		endpoints []string
		reason    codec.Reason
	}{
		{"refused", []string{refusing(t)}, codec.UpstreamRefused},
		{"no endpoint", nil, codec.NoEndpoint},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := newPassing(tt.endpoints...).start(t)
			g.expectRefused()
			line := g.records.next(t)
			require.Contains(t, line, `"reason":"`+tt.reason.String()+`"`)
			require.Contains(t, line, `"bytes_out":0`)
		})
	}
}

func TestAnotherEndpointIsTried(t *testing.T) {
	o := newOrigin(t)
	s := newPassing(refusing(t), o.addr)
	s.balance = pool.RoundRobin
	g := s.start(t)
	for range 2 {
		c := g.dial().send("hello")
		o.accept().readUntil("hello")
		c.close()
	}
	require.Positive(t, g.stats().RetriedConnect)
}

func TestConnectTimeoutOfPassedConnections(t *testing.T) {
	s := noRetries(newPassing(fillBacklog(t, newOrigin(t))))
	s.connect = 50 * time.Millisecond
	g := s.start(t)
	g.expectRefused()
	require.Contains(t, g.records.next(t), `"status":504,"reason":"connect_timeout"`)
}

// The limit is one for the process, and the connection that waits gets its place.
func TestPassedConnectionsKeepToTheLimit(t *testing.T) {
	o := newOrigin(t)
	s := newPassing(o.addr)
	s.limits.MaxConnections = 1
	s.limits.Wait = patience
	g := s.start(t)
	first := g.dial()
	up := o.accept()
	second := g.dial().send("me too")
	g.awaitLive(2)
	require.Equal(t, int64(1), g.endpoint(0).Conns())
	first.reset()
	up.expectReset()
	o.accept().readUntil("me too")
	second.close()
}

func TestFewestConnections(t *testing.T) {
	a, b := newOrigin(t), newOrigin(t)
	s := newPassing(a.addr, b.addr)
	s.balance = pool.LeastRequests
	g := s.start(t)
	for range 8 {
		g.dial()
	}
	for range 4 { // two by two, since each counts until it ends
		a.accept()
		b.accept()
	}
}

func TestIdleTunnelsEnd(t *testing.T) {
	o := newOrigin(t)
	s := newPassing(o.addr)
	s.listener.TunnelIdle = 100 * time.Millisecond
	g := s.start(t)
	c := g.dial()
	up := o.accept()
	up.expectClosed()
	c.expectClosed()
	require.Contains(t, g.records.next(t), `"status":200,"reason":""`)
}

// Whoever takes nothing has its time, and a stream that is cut does not end as one
// that is whole.
func TestStuckTunnelsAreCut(t *testing.T) {
	for name, set := range map[string]func(*setup){
		"write_idle":  func(s *setup) { s.listener.WriteIdle = 100 * time.Millisecond },
		"tunnel_idle": func(s *setup) { s.listener.TunnelIdle = 100 * time.Millisecond },
	} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t)
			s := newPassing(o.addr)
			set(s)
			g := s.start(t)
			flooded := func(from, stuck *peer, reason codec.Reason) {
				sent := make(chan int, 1)
				go func() { sent <- from.flood(big) }()
				require.Contains(t, g.records.next(t), `"status":200,"reason":"`+reason.String()+`"`)
				_, err := io.Copy(io.Discard, stuck.in)
				require.ErrorIs(t, err, unix.ECONNRESET)
				require.Less(t, <-sent, big)
			}
			c := g.dial()
			flooded(c, o.accept(), codec.UpstreamTimeout)
			c = g.dial()
			flooded(o.accept(), c, codec.ClientAborted)
		})
	}
}

func TestSlowReaderBoundsMemory(t *testing.T) {
	o := newOrigin(t)
	g := newPassing(o.addr).start(t)
	c := g.dial()
	require.NoError(t, c.conn.SetReadBuffer(4096))
	up := o.accept()
	sent := make(chan int, 1)
	go func() { sent <- up.flood(big) }()
	last := int64(-1)
	require.Eventually(t, func() bool {
		used, _ := g.server.Memory()
		still := used == last && used > 0
		last = used
		return still
	}, patience, 100*time.Millisecond)
	require.LessOrEqual(t, last, int64(2*g.setup.options.High)+reactor.BlockSize)
	c.reset()
	<-sent
}

// A thick flow is relayed inside the kernel, to its last byte, and its end leaves
// the other direction as it was.
func TestThickFlowsAreRelayed(t *testing.T) {
	for _, poller := range []string{reactor.PollerEpoll, reactor.PollerGnet} {
		t.Run(poller, func(t *testing.T) {
			o := newOrigin(t)
			s := newPassing(o.addr)
			s.options.Poller = poller
			g := s.start(t)
			c := g.dial()
			up := o.accept()
			in := g.floodUntilRelayed(c, up)
			up.send("half")
			c.readUntil("half")
			out := g.floodUntilRelayed(up, c)
			require.Contains(t, g.records.next(t), fmt.Sprintf(`"bytes_in":%d,"bytes_out":%d`, in, out+len("half")))
			require.Zero(t, g.endpoint(0).Conns())
		})
	}
}

// floodUntilRelayed has from send until the kernel passes its bytes on, and end. It
// returns how many those were, all of which have come.
func (g *gateway) floodUntilRelayed(from, to *peer) (sent int) {
	before := g.stats().Reactor.Relayed
	got := make(chan int64, 1)
	go func() {
		n, _ := io.Copy(io.Discard, to.in)
		got <- n
	}()
	require.Eventually(g.t, func() bool {
		sent += from.flood(8 << 20)
		return g.stats().Reactor.Relayed > before
	}, patience, time.Millisecond)
	from.closeWrite()
	require.Equal(g.t, int64(sent), <-got)
	return sent
}

func TestPassedConnectionsAreDrained(t *testing.T) {
	o := newOrigin(t)
	g := newPassing(o.addr).start(t)
	c := g.dial()
	up := o.accept()
	g.server.BeginDrain()
	onLoop(t, g, 0, func(w *worker) { (*idleAlarm)(w).OnTimer(0, 0) })
	c.send("goes on")
	up.readUntil("goes on")
	require.NoError(t, g.server.Stop())
	c.expectReset()
	up.expectReset()
	require.Contains(t, g.records.next(t), `"reason":"draining"`)
}

func TestWhoSaysNothingIsNotWaitedFor(t *testing.T) {
	s := newPassing(newOrigin(t).addr)
	s.passing.names = map[string]string{"a.example": "origin"}
	s.listener.ProxyProtocol = true
	g := s.start(t)
	told, peeking := g.dial(), g.dial().send(proxyV1)
	require.Eventually(t, func() bool { return g.server.Connections() == 2 }, patience, time.Millisecond)
	require.Eventually(t, func() bool { return g.stats().Reactor.BytesIn == uint64(len(proxyV1)) }, patience, time.Millisecond)
	onLoop(t, g, 0, func(w *worker) { (*idleAlarm)(w).OnTimer(0, 0) })
	told.expectClosed()
	peeking.expectClosed()
}

func TestProxyHeaderInAndOut(t *testing.T) {
	o := newOrigin(t)
	s := newPassing(o.addr)
	s.listener.ProxyProtocol = true
	s.proxy = snapshot.ProxyV2
	g := s.start(t)
	c := g.dial().send(proxyV1, "and this")
	up := o.accept()
	require.Equal(t, proxyproto.Header{
		Version: 2, Source: netip.MustParseAddrPort("192.0.2.7:40000"), Destination: netip.MustParseAddrPort("198.51.100.1:80"),
	}, up.proxyHeader())
	up.readUntil("and this")
	c.close()
	up.expectClosed()
	up.close()
	require.Contains(t, g.records.next(t), `"client":"192.0.2.7"`)

	g.dial().send("GET / HTTP/1.1\r\n").expectClosed()
	g.dial().send("PROXY TCP4").closeWrite().expectClosed()
	g.dial().closeWrite().expectClosed()
	require.Equal(t, uint64(2), g.stats().ProxyRefused, "a port check is no refusal")
}

func TestHeadClockBoundsWhatComesFirst(t *testing.T) {
	s := newPassing(newOrigin(t).addr)
	s.passing.names = map[string]string{"a.example": "origin"}
	s.listener.Head = 100 * time.Millisecond
	g := s.start(t)
	g.dial().expectClosed() // silent, as one that said nothing
	g.dial().send("\x16\x03\x01").expectReset()
	require.Contains(t, g.records.next(t), `"status":408,"reason":"request_timeout"`)

	s.listener.ProxyProtocol = true
	g = s.start(t)
	g.dial().send("PROXY").expectClosed()
	require.Equal(t, uint64(1), g.stats().ProxyRefused)
}

// denying resets everybody.
type denying struct{}

func (denying) OnConnection(ctx *filters.Context) filters.Verdict {
	return ctx.Fail(codec.IPDenied, "no")
}

func TestFiltersOfConnections(t *testing.T) {
	o := newOrigin(t)
	s := newPassing(o.addr)
	s.listening = []any{denying{}}
	g := s.start(t)
	g.expectRefused()
	require.Contains(t, g.records.next(t), `"endpoint":"","status":403,"reason":"ip_denied"`)
}

// A client that is not let in does not learn which names there are.
func TestWhoIsDeniedGetsNoAlert(t *testing.T) {
	s := newPassing(newOrigin(t).addr)
	s.passing.names = map[string]string{"a.example": "origin"}
	s.passing.closed = true
	s.listening = []any{denying{}}
	g := s.start(t)
	for _, name := range []string{"a.example", "b.example"} {
		g.dial().send(clientHello(t, name)).expectReset()
		require.Contains(t, g.records.next(t), `"host":"`+name+`","path":"","endpoint":"","status":403,"reason":"ip_denied"`)
	}
}

func TestOverloadRefusesConnections(t *testing.T) {
	s := newPassing(newOrigin(t).addr)
	s.options.Memory = 1
	g := s.start(t)
	g.server.memory.Add(2)
	onLoop(t, g, 0, func(w *worker) {
		x := w.takeExchange()
		down := &tcpSession{w: w, state: tcpClosed, x: x}
		x.pass(down, w.server.current.Load().Listeners["web"], w.server.current.Load(), nil)
	})
	require.Contains(t, g.records.next(t), `"status":503,"reason":"overloaded"`)
	g.server.memory.Add(-2)
}

// clientHello is what a client of TLS sends first.
func clientHello(t *testing.T, name string) string {
	t.Helper()
	near, far := net.Pipe()
	go func() { _ = tls.Client(near, &tls.Config{ServerName: name, InsecureSkipVerify: true}).Handshake() }()
	b := make([]byte, tlshello.Max)
	n, err := far.Read(b)
	require.NoError(t, err)
	require.NoError(t, far.Close())
	return string(b[:n])
}

func TestServerNameDecides(t *testing.T) {
	rest, shop, wild := newOrigin(t), newOrigin(t), newOrigin(t)
	s := newPassing(rest.addr)
	s.others = map[string][]string{"shop": {shop.addr}, "wild": {wild.addr}}
	s.passing.names = map[string]string{"shop.example.com": "shop", "*.example.com": "wild"}
	g := s.start(t)
	tests := []struct {
		name, sends string
		to          *origin
		host        string
	}{
		{"exact", clientHello(t, "shop.example.com"), shop, "shop.example.com"},
		{"pattern", clientHello(t, "A.example.com"), wild, "a.example.com"},
		{"another name", clientHello(t, "example.org"), rest, "example.org"},
		{"no name", clientHello(t, ""), rest, ""},
		{"no TLS", "SSH-2.0-OpenSSH\r\n", rest, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := g.dial().send(tt.sends)
			up := tt.to.accept()
			up.readUntil(tt.sends)
			up.close()
			c.expectClosed()
			c.close()
			require.Contains(t, g.records.next(t), `"host":"`+tt.host+`"`)
		})
	}
}

func TestServerNameInPieces(t *testing.T) {
	shop := newOrigin(t)
	s := newPassing(refusing(t))
	s.others = map[string][]string{"shop": {shop.addr}}
	s.passing.names = map[string]string{"shop.example.com": "shop"}
	g := s.start(t)
	hello := clientHello(t, "shop.example.com")
	c := g.dial()
	for i, n := 0, 1; i < len(hello); i, n = i+n, n*3 {
		c.send(hello[i:min(i+n, len(hello))])
		sent := uint64(min(i+n, len(hello)))
		require.Eventually(t, func() bool { return g.stats().Reactor.BytesIn >= sent }, patience, time.Millisecond)
	}
	c.send("more")
	shop.accept().readUntil(hello + "more")
	used, _ := g.server.Memory()
	require.Zero(t, used, "what was looked at is not counted any more")
}

func TestUnknownServerNames(t *testing.T) {
	s := newPassing(newOrigin(t).addr)
	s.passing.names = map[string]string{"shop.example.com": "origin"}
	s.passing.closed = true
	g := s.start(t)
	hello := clientHello(t, "evil.example")
	c := g.dial().send(hello)
	c.readUntil(string(tlshello.UnrecognizedName))
	c.expectClosed()
	require.Contains(t, g.records.next(t), `"host":"evil.example","path":"","endpoint":"","status":404,"reason":"route_not_found"`)

	for wire, reason := range map[string]string{
		"GET / HTTP/1.1\r\n":       "route_not_found",
		"\x16\x03\x01\x00\x01\x02": "bad_request",
	} {
		g.dial().send(wire).expectReset()
		require.Contains(t, g.records.next(t), `"reason":"`+reason+`"`)
	}
	g.dial().send(hello[:50]).closeWrite().expectReset()
	require.Contains(t, g.records.next(t), `"reason":"bad_request"`)
	g.dial().closeWrite().expectClosed()
}
