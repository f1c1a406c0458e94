package e2e_test

import (
	"bufio"
	"io"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec/proxyproto"
)

// echoLines says its name and then what it hears, until it is killed.
type echoLines struct {
	listener net.Listener
	accepted chan net.Conn
}

func newEchoLines(t *testing.T, name string) *echoLines {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	e := &echoLines{listener: l, accepted: make(chan net.Conn, 64)}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			e.accepted <- conn
			go func() {
				_, _ = io.WriteString(conn, name+"\n")
				_, _ = io.Copy(conn, conn)
				conn.Close()
			}()
		}
	}()
	return e
}

// kill ends it as a process is ended: the port is shut, open connections are reset.
func (e *echoLines) kill() {
	e.listener.Close()
	for len(e.accepted) > 0 {
		conn := (<-e.accepted).(*net.TCPConn)
		_ = conn.SetLinger(0)
		conn.Close()
	}
}

func (w *wire) line() string {
	w.t.Helper()
	line, err := w.in.ReadString('\n')
	require.NoError(w.t, err)
	return strings.TrimSuffix(line, "\n")
}

// What an endpoint had dies with it and is told as a reset; whoever comes then gets
// the other, at no cost but a connect.
func TestKilledEndpointOfAPassage(t *testing.T) {
	a, b := newEchoLines(t, "a"), newEchoLines(t, "b")
	p := start(t, passages(`[{name: in, address: "127.0.0.1:0", protocol: tcp, service: app}]`,
		"app", "balance: round_robin, "+to(a.listener.Addr().String(), b.listener.Addr().String())))
	address := p.addressesOf()[0]
	open := map[string]*wire{}
	for range 2 {
		c := dialWire(t, address)
		open[c.line()] = c
	}
	require.Len(t, open, 2)
	a.kill()
	_, err := open["a"].in.ReadByte()
	require.ErrorIs(t, err, syscall.ECONNRESET)
	open["b"].send("still there\n")
	require.Equal(t, "still there", open["b"].line())
	for range 8 {
		c := dialWire(t, address)
		require.Equal(t, "b", c.line())
		require.NoError(t, c.conn.Close())
	}
	p.await("the records", func() bool { return strings.Count(p.stdout.String(), `"status":200`) == 9 })
	require.Contains(t, p.stdout.String(), `"status":200,"reason":"upstream_reset"`)
	require.Contains(t, p.stdout.String(), `"tries":2`)

	b.kill()
	c, err := net.Dial("tcp", address)
	if err == nil { // the reset may be quicker than that
		t.Cleanup(func() { c.Close() })
		require.NoError(t, c.SetDeadline(time.Now().Add(patience)))
		_, err = c.Read(make([]byte, 1))
	}
	require.ErrorIs(t, err, syscall.ECONNRESET)
	p.await("the refusal", func() bool { return strings.Contains(p.stdout.String(), `"reason":"upstream_refused"`) })
}

// More clients than the listener may have are closed and counted; who leaves makes
// room.
func TestLimitOfPassages(t *testing.T) {
	e := newEchoLines(t, "a")
	p := start(t, passages(`[{name: few, address: "127.0.0.1:0", protocol: tcp, service: app, limits: {connections: 2}}]`, "app", to(e.listener.Addr().String())))
	address := p.addressesOf()[0]
	first, second := dialWire(t, address), dialWire(t, address)
	require.Equal(t, "a", first.line())
	require.Equal(t, "a", second.line())
	dialWire(t, address).expectClosed()
	text := p.metrics()
	assert.Contains(t, text, "\ncorelane_listener_connections_refused_total{listener=\"few\"} 1\n")
	assert.Contains(t, text, "\ncorelane_listener_info{listener=\"few\",protocol=\"tcp\"} 1\n")
	require.NoError(t, first.conn.Close())
	p.await("a place", func() bool { return p.metric(`corelane_listener_connections{listener="few"}`) == 1 })
	require.Equal(t, "a", dialWire(t, address).line())
}

// The header of version 2 is read and written too, with the server name behind it.
func TestPassedClientsInBinary(t *testing.T) {
	told := make(chan proxyproto.Header, 1)
	first := serveConns(t, func(conn net.Conn) {
		in := bufio.NewReader(conn)
		b, _ := in.Peek(28)
		h, n, err := proxyproto.Parse(b)
		if err != nil {
			return
		}
		told <- h
		_, _ = in.Discard(n)
		_, _ = io.Copy(conn, in)
	})
	p := start(t, passages(`[{name: in, address: "127.0.0.1:0", protocol: tcp, proxy_protocol: true, service: app}]`, "app", "proxy_protocol: v2, "+to(first)))
	address := p.addressesOf()[0]
	client, server := netip.MustParseAddrPort("192.0.2.7:4711"), netip.MustParseAddrPort("198.51.100.1:443")
	header := string(proxyproto.AppendV2(nil, client, server))
	c := dialWire(t, address).send(header + "behind it\n")
	require.Equal(t, "behind it", c.line())
	require.Equal(t, proxyproto.Header{Version: 2, Source: client, Destination: server}, <-told)
	dialWire(t, address).send("SSH-2.0-OpenSSH\r\n").expectClosed()
	require.Equal(t, float64(1), p.metric("corelane_proxy_protocol_refused_total"))
}

// Another protocol needs a restart and is refused; nothing changes meanwhile.
func TestListenersKeepTheirProtocol(t *testing.T) {
	e := newEchoLines(t, "a")
	services := []string{"app", to(e.listener.Addr().String())}
	p := start(t, passages(`[{name: in, address: "127.0.0.1:0", protocol: tcp, service: app}]`, services...))
	p.write(passages(`[{name: in, address: "127.0.0.1:0"}]`, services...))
	p.await("the refusal", func() bool { return strings.Contains(p.stderr.String(), "listeners[0].protocol (of in)") })
	require.Equal(t, "a", dialWire(t, p.addressesOf()[0]).line())
	require.Equal(t, uint64(1), uint64(p.status().Generation))
}
