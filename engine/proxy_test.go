package engine

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/codec/proxyproto"
	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/filters"
)

// Headers that tell of the client 192.0.2.7.
const (
	proxyV1 = "PROXY TCP4 192.0.2.7 198.51.100.1 40000 80\r\n"
	proxyV2 = "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c\xc0\x00\x02\x07\xc6\x33\x64\x01\x9c\x40\x00\x50"
)

// simple is a whole request.
const simple = "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"

// seen is a filter that answers with what it is told of the client.
type seen struct{}

// OnRequest implements filters.RequestFilter.
func (seen) OnRequest(c *filters.Context) filters.Verdict {
	forwarded := "absent"
	if c.Request.First(codec.XForwardedFor) >= 0 {
		forwarded = string(c.Request.Get(codec.XForwardedFor))
	}
	return c.Respond(200, fmt.Appendf(nil, "%v|%v|%s", c.Client, c.Peer, forwarded))
}

// behindBalancer is a gateway whose listener expects PROXY headers.
func behindBalancer(t *testing.T, change func(s *setup)) *gateway {
	t.Helper()
	s := newSetup()
	s.listener.ProxyProtocol = true
	s.filters = []any{seen{}}
	if change != nil {
		change(s)
	}
	return s.start(t)
}

func TestProxyHeaderTellsTheClient(t *testing.T) {
	tests := []struct{ name, header, want string }{
		{"v1", proxyV1, "192.0.2.7|192.0.2.7:40000|192.0.2.7"},
		{"v2", proxyV2, "192.0.2.7|192.0.2.7:40000|192.0.2.7"},
		{"IPv4 in IPv6", "PROXY TCP6 ::ffff:192.0.2.7 ::1 40000 80\r\n", "192.0.2.7|192.0.2.7:40000|192.0.2.7"},
		{"IPv6", "PROXY TCP6 2001:db8::7 ::1 40000 80\r\n", "2001:db8::7|[2001:db8::7]:40000|2001:db8::7"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := behindBalancer(t, nil)
			c := g.dial().send(tt.header, simple)
			c.expect(200, tt.want)
			c.send(simple)
			c.expect(200, tt.want) // of the connection, not of its first request
			client := strings.Split(tt.want, "|")[0]
			require.Contains(t, g.records.next(t), `"client":"`+client+`"`)
		})
	}
}

// A balancer that checks the port, or does not know, speaks for itself.
func TestProxyHeaderWithoutAddress(t *testing.T) {
	for name, header := range map[string]string{
		"UNKNOWN": "PROXY UNKNOWN\r\n",
		"LOCAL":   "\r\n\r\n\x00\r\nQUIT\n\x20\x00\x00\x00",
		"UNSPEC":  "\r\n\r\n\x00\r\nQUIT\n\x21\x00\x00\x00",
	} {
		t.Run(name, func(t *testing.T) {
			c := behindBalancer(t, nil).dial().send(header, simple)
			local := c.conn.LocalAddr().String()
			c.expect(200, "127.0.0.1|"+local+"|127.0.0.1")
		})
	}
}

func TestProxyHeaderInPieces(t *testing.T) {
	for name, header := range map[string]string{"v1": proxyV1, "v2": proxyV2} {
		t.Run(name, func(t *testing.T) {
			g := behindBalancer(t, nil)
			wire := header + simple
			for i := range wire {
				c := g.dial().send(wire[:i])
				awaitRead(t, g, i)
				c.send(wire[i:])
				c.expect(200, "192.0.2.7|192.0.2.7:40000|192.0.2.7")
				c.close()
			}
			c := g.dial()
			for i := range wire {
				c.send(wire[i : i+1])
				awaitRead(t, g, i+1)
			}
			c.expect(200, "192.0.2.7|192.0.2.7:40000|192.0.2.7")
			require.Zero(t, g.stats().ProxyRefused)
			require.Eventually(t, func() bool { used, _ := g.server.Memory(); return used == 0 }, patience, time.Millisecond)
		})
	}
}

// awaitRead waits until the newest connection has been read n bytes, so that
// what is sent next arrives in a piece of its own.
func awaitRead(t *testing.T, g *gateway, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		got := -1
		onLoop(t, g, 0, func(w *worker) {
			if w.clients != nil {
				got = int(w.session().conn.BytesIn())
			}
		})
		return got == n
	}, patience, 50*time.Microsecond)
}

// Extensions make a header of version 2 longer than one read of a small piece.
func TestProxyHeaderWithExtensions(t *testing.T) {
	long := make([]byte, proxyproto.MaxV2-16-12-3)
	extension := append([]byte{0x04, byte(len(long) >> 8), byte(len(long))}, long...)
	size := 12 + len(extension)
	header := proxyV2[:14] + string([]byte{byte(size >> 8), byte(size)}) + proxyV2[16:] + string(extension)
	g := behindBalancer(t, nil)
	for _, cut := range []int{0, 20, 2000, len(header) - 1, len(header), len(header) + 5} {
		c := g.dial().send((header + simple)[:cut])
		awaitRead(t, g, cut)
		c.send((header + simple)[cut:])
		c.expect(200, "192.0.2.7|192.0.2.7:40000|192.0.2.7")
		c.close()
	}
}

func TestProxyHeaderIsRequired(t *testing.T) {
	tests := []struct{ name, wire, why string }{
		{"HTTP", simple, proxyproto.ErrNoHeader.Error()},
		{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", proxyproto.ErrNoHeader.Error()},
		{"garbage", strings.Repeat("\x00\xff", 4096), proxyproto.ErrNoHeader.Error()},
		{"malformed", "PROXY TCP4 1.2.3.4\r\n" + simple, proxyproto.ErrLine.Error()},
		{"endless", "PROXY UNKNOWN " + strings.Repeat("x", 200), proxyproto.ErrTooLong.Error()},
		{"too large", proxyV2[:14] + "\xff\xff", proxyproto.ErrTooLong.Error()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := behindBalancer(t, nil)
			c := g.dial().send(tt.wire)
			c.expectClosed()
			stats := g.stats()
			require.Equal(t, uint64(1), stats.ProxyRefused)
			require.Zero(t, stats.Requests, "it was never a request")
			events, _ := g.server.TakeEvents()
			require.Len(t, events, 1)
			require.Equal(t, EventProxyRefused, events[0].Kind)
			require.Equal(t, "web", events[0].Name)
			require.Equal(t, c.conn.LocalAddr().String(), events[0].Peer.String())
			require.EqualError(t, events[0].Value.(error), tt.why)
		})
	}
}

func TestProxyHeaderCutShort(t *testing.T) {
	g := behindBalancer(t, nil)
	c := g.dial().send(proxyV1[:20])
	awaitRead(t, g, 20)
	require.NoError(t, c.conn.CloseWrite())
	c.expectClosed()
	require.Equal(t, uint64(1), g.stats().ProxyRefused)

	check := g.dial()
	require.NoError(t, check.conn.CloseWrite())
	check.expectClosed()
	require.Zero(t, g.stats().ProxyRefused, "who sends nothing looks whether the port is open")
}

// A flood of refusals is counted one by one, and told of once a second.
func TestProxyRefusalsArePaced(t *testing.T) {
	g := behindBalancer(t, nil)
	onLoop(t, g, 0, func(w *worker) { w.proxyTold = w.loop.Now() + int64(time.Hour) })
	for range 5 {
		g.dial().send(simple).expectClosed()
	}
	require.Equal(t, uint64(5), g.stats().ProxyRefused)
	events, _ := g.server.TakeEvents()
	require.Empty(t, events)
	onLoop(t, g, 0, func(w *worker) { w.proxyTold = w.loop.Now() - proxyRefusalPause })
	g.dial().send(simple).expectClosed()
	g.dial().send(simple).expectClosed()
	events, _ = g.server.TakeEvents()
	require.Len(t, events, 1)
}

// The head clock runs from accept over the header and the first request's head.
func TestProxyHeaderAndHeadClock(t *testing.T) {
	tests := []struct {
		name, sent string
		refused    uint64
		reason     codec.Reason
	}{
		{"nothing", "", 1, codec.ReasonNone},
		{"half a header", proxyV1[:12], 1, codec.ReasonNone},
		{"a header alone", proxyV1, 0, codec.ReasonNone},
		{"a header and half a request", proxyV1 + simple[:10], 0, codec.RequestTimeout},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := behindBalancer(t, func(s *setup) { s.listener.Head = 50 * time.Millisecond })
			c := g.dial().send(tt.sent)
			if tt.reason != codec.ReasonNone {
				c.expectReason(tt.reason)
			}
			c.expectClosed()
			require.Equal(t, tt.refused, g.stats().ProxyRefused)
		})
	}
}

// Who is trusted is decided by the address that the header gives.
func TestProxyHeaderAndTrustedProxies(t *testing.T) {
	g := behindBalancer(t, func(s *setup) {
		s.listener.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	})
	const request = "GET / HTTP/1.1\r\nHost: a.test\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n"
	g.dial().send(proxyV1, request).expect(200, "203.0.113.9|192.0.2.7:40000|203.0.113.9, 192.0.2.7")
	stranger := strings.Replace(proxyV1, "192.0.2.7", "198.51.100.7", 1)
	g.dial().send(stranger, request).expect(200, "198.51.100.7|198.51.100.7:40000|198.51.100.7")
}

func TestProxyHeaderOnEveryLoop(t *testing.T) {
	for _, accept := range []string{"handoff", "hash", "cpu"} {
		t.Run(accept, func(t *testing.T) {
			g := behindBalancer(t, func(s *setup) { s.options.Loops, s.options.Accept = 2, accept })
			for i := range 8 {
				header := fmt.Sprintf("PROXY TCP4 192.0.2.%d 198.51.100.1 40000 80\r\n", i)
				c := g.dial().send(header[:9])
				c.send(header[9:], simple)
				c.expect(200, fmt.Sprintf("192.0.2.%d|192.0.2.%d:40000|192.0.2.%d", i, i, i))
			}
			require.Equal(t, 8, g.server.Connections())
		})
	}
}

// The bytes of a header that is not whole count as buffers, as long as they are held.
func TestProxyHeaderIsCountedWhileHeld(t *testing.T) {
	g := behindBalancer(t, nil)
	c := g.dial().send(proxyV1[:9])
	awaitRead(t, g, 9)
	used, _ := g.server.Memory()
	require.Positive(t, used)
	c.send(proxyV1[9:])
	awaitRead(t, g, len(proxyV1))
	used, _ = g.server.Memory()
	require.Zero(t, used)
	c.send(simple).expect(200, "192.0.2.7|192.0.2.7:40000|192.0.2.7")
}

func TestProxyHeaderWithoutMemory(t *testing.T) {
	g := behindBalancer(t, func(s *setup) { s.options.Memory = 1 })
	g.dial().send(proxyV1[:9]).expectClosed()
	require.Equal(t, uint64(1), g.stats().ProxyRefused)
	require.Eventually(t, func() bool { used, _ := g.server.Memory(); return used == 0 }, patience, time.Millisecond)
}

func TestProxyHeaderAndDrain(t *testing.T) {
	g := behindBalancer(t, nil)
	idle := g.dial()
	awaitRead(t, g, 0)
	g.server.BeginDrain()
	idle.expectClosed()
	require.Zero(t, g.stats().ProxyRefused)
}

// Without the option a PROXY header is a request that makes no sense.
func TestProxyHeaderUnasked(t *testing.T) {
	for name, header := range map[string]string{"v1": proxyV1, "v2": proxyV2} {
		t.Run(name, func(t *testing.T) {
			s := newSetup()
			s.filters = []any{seen{}}
			s.start(t).dial().send(header, simple).expectReason(codec.BadRequest)
		})
	}
}

// A peer on a unix socket has no address: it is trusted by name or not at all,
// and a PROXY header gives it one.
func TestUnixPeers(t *testing.T) {
	const forwarded = "GET / HTTP/1.1\r\nHost: a.test\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n"
	tests := []struct {
		name         string
		trust, proxy bool
		wire, want   string
	}{
		{"stranger", false, false, forwarded, "invalid IP|invalid AddrPort|absent"},
		{"trusted", true, false, forwarded, "203.0.113.9|invalid AddrPort|203.0.113.9"},
		{"trusted and silent", true, false, simple, "invalid IP|invalid AddrPort|absent"},
		{"with a header", true, true, proxyV1 + forwarded, "192.0.2.7|192.0.2.7:40000|192.0.2.7"},
		{"with an empty header", true, true, "PROXY UNKNOWN\r\n" + forwarded, "203.0.113.9|invalid AddrPort|203.0.113.9"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.sock")
			behindBalancer(t, func(s *setup) {
				s.options.Listeners[0].Address = "unix:" + path
				s.listener.ProxyProtocol, s.listener.TrustUnix = tt.proxy, tt.trust
			})
			conn, err := net.Dial("unix", path)
			require.NoError(t, err)
			defer conn.Close()
			require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
			_, err = io.WriteString(conn, strings.Replace(tt.wire, "Host:", "Connection: close\r\nHost:", 1))
			require.NoError(t, err)
			answer, err := io.ReadAll(conn)
			require.NoError(t, err)
			_, body, _ := strings.Cut(string(answer), "\r\n\r\n")
			require.Equal(t, tt.want, body)
		})
	}
}

// onLoop runs fn on a loop and waits for it.
func onLoop(t *testing.T, g *gateway, loop int, fn func(w *worker)) {
	t.Helper()
	w, done := g.server.workers[loop], make(chan struct{})
	w.loop.Post(&reactor.Task{Run: func(*reactor.Loop) { defer close(done); fn(w) }})
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("the loop does not answer")
	}
}
