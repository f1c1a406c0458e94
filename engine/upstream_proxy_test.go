package engine

import (
	"io"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec/proxyproto"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
)

// telling is a gateway that sends PROXY headers to its origin.
func telling(o *origin, v snapshot.ProxyVersion) *setup {
	s := noRetries(newSetup(o.addr))
	s.proxy = v
	return s
}

// proxyHeader reads a PROXY header at the origin.
func (p *peer) proxyHeader() proxyproto.Header {
	p.t.Helper()
	for n := 1; ; n++ {
		b, err := p.in.Peek(n)
		require.NoError(p.t, err, "%q", b)
		h, size, err := proxyproto.Parse(b)
		require.NoError(p.t, err, "%q", b)
		if size > 0 {
			_, err := p.in.Discard(size)
			require.NoError(p.t, err)
			return h
		}
	}
}

func TestUpstreamIsToldTheClient(t *testing.T) {
	for name, v := range map[string]snapshot.ProxyVersion{"v1": snapshot.ProxyV1, "v2": snapshot.ProxyV2} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t)
			g := telling(o, v).start(t)
			a, b := g.dial(), g.dial()
			for _, c := range []*peer{a, a, b} {
				c.get("/")
				up := o.accept()
				require.Equal(t, proxyproto.Header{
					Version:     int(v),
					Source:      c.conn.LocalAddr().(*net.TCPAddr).AddrPort(),
					Destination: netip.MustParseAddrPort(g.addr),
				}, up.proxyHeader())
				require.Equal(t, "/", up.request().URL.Path)
				up.send(ok)
				c.expect(200, "ok")
				up.expectClosed() // what is told of one client must not be told of another
			}
			require.Zero(t, g.stats().Pool.Reused)
		})
	}
}

// Behind a balancer the client is the one that the balancer tells of.
func TestUpstreamIsToldWhatWasTold(t *testing.T) {
	const forwarded = "GET / HTTP/1.1\r\nHost: a.test\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n"
	tests := []struct {
		name, wire, line string
		trust            bool
	}{
		{"by a PROXY header", proxyV1 + simple, proxyV1, false},
		{"by a trusted field", proxyV1 + forwarded, "PROXY TCP4 203.0.113.9 198.51.100.1 0 80\r\n", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := newOrigin(t)
			s := telling(o, snapshot.ProxyV1)
			s.listener.ProxyProtocol = true
			if tt.trust {
				s.listener.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
			}
			c := s.start(t).dial().send(tt.wire)
			up := o.accept()
			up.readLine(tt.line)
			up.request()
			up.send(ok)
			c.expect(200, "ok")
		})
	}
}

// readLine reads one line and compares it.
func (p *peer) readLine(want string) {
	p.t.Helper()
	line, err := p.in.ReadString('\n')
	require.NoError(p.t, err)
	require.Equal(p.t, want, line)
}

func TestUpstreamIsToldOfNobody(t *testing.T) {
	o := newOrigin(t)
	s := telling(o, snapshot.ProxyV1)
	path := filepath.Join(t.TempDir(), "s.sock")
	s.options.Listeners[0].Address = "unix:" + path
	s.start(t)
	c, err := net.Dial("unix", path)
	require.NoError(t, err)
	defer c.Close()
	_, err = io.WriteString(c, simple)
	require.NoError(t, err)
	up := o.accept()
	up.readLine("PROXY UNKNOWN\r\n")
	up.request()
	up.send(ok)
}

func TestEveryTryBeginsWithTheHeader(t *testing.T) {
	o := newOrigin(t)
	s := telling(o, snapshot.ProxyV1)
	s.retries = snapshot.Retries{Attempts: 1, Reset: true}
	c := s.start(t).dial().get("/")
	first := o.accept()
	first.proxyHeader()
	first.request()
	first.reset()
	second := o.accept()
	require.Equal(t, c.conn.LocalAddr().String(), second.proxyHeader().Source.String())
	second.request()
	second.send(ok)
	c.expect(200, "ok")
}

func TestIdleConnectionsOfAnEarlierConfigurationAreNotUsed(t *testing.T) {
	o := newOrigin(t)
	s := telling(o, snapshot.ProxyNone)
	g := s.start(t)
	c := g.dial()
	old := warm(g, o, c)
	s.proxy = snapshot.ProxyV1
	g.server.Publish(g.compile(2))
	c.get("/")
	up := o.accept()
	up.proxyHeader()
	up.request()
	up.send(ok)
	c.expect(200, "ok")
	old.expectClosed()
}

// Nor is one that becomes free while a request of the new configuration waits.
func TestGrantedConnectionsOfAnEarlierConfigurationAreNotUsed(t *testing.T) {
	o := newOrigin(t)
	s := telling(o, snapshot.ProxyNone)
	s.limits = pool.Limits{MaxConnections: 1, MaxWaiting: 10, Wait: patience, Idle: time.Minute}
	g := s.start(t)
	running := g.dial().get("/running")
	old := o.accept()
	old.request()
	s.proxy = snapshot.ProxyV1
	g.server.Publish(g.compile(2))
	waiting := g.dial().get("/waiting")
	require.Eventually(t, func() bool { return g.stats().Pool.Waiting == 1 }, patience, time.Millisecond)
	old.send(ok)
	running.expect(200, "ok")
	up := o.accept()
	require.Equal(t, waiting.conn.LocalAddr().String(), up.proxyHeader().Source.String())
	require.True(t, strings.HasSuffix(up.request().URL.Path, "waiting"))
	up.send(ok)
	waiting.expect(200, "ok")
	old.expectClosed()
}
