package e2e_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wire is a client's connection of which a test writes every byte.
type wire struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func dialWire(t *testing.T, address string) *wire {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	t.Cleanup(func() { conn.Close() })
	return &wire{t: t, conn: conn, in: bufio.NewReader(conn)}
}

func (w *wire) send(text string) *wire {
	w.t.Helper()
	_, err := io.WriteString(w.conn, text)
	require.NoError(w.t, err)
	return w
}

const getHello = "GET /hello HTTP/1.1\r\nHost: a.test\r\n\r\n"

// expect reads one answer; it returns whether the connection ends with it.
func (w *wire) expect(status int) (last bool) {
	w.t.Helper()
	res, err := http.ReadResponse(w.in, nil)
	require.NoError(w.t, err)
	_, err = io.Copy(io.Discard, res.Body)
	require.NoError(w.t, err)
	require.Equal(w.t, status, res.StatusCode)
	return res.Close
}

// expectClosed reads the end. A reset is one too: what was sent is not read.
func (w *wire) expectClosed() {
	w.t.Helper()
	rest, err := io.ReadAll(w.in)
	if timeout, ok := err.(net.Error); ok {
		require.False(w.t, timeout.Timeout(), "the connection stays open")
	}
	require.Empty(w.t, string(rest))
}

// metrics are those of the program, one a line.
func (p *program) metrics() string {
	p.t.Helper()
	status, text := p.call(http.MethodGet, "http://"+p.admin+"/metrics")
	require.Equal(p.t, 200, status)
	return text
}

// listenersOf is a head with listeners of a test.
func listenersOf(list string) string {
	return strings.Replace(head, `[{name: web, address: "127.0.0.1:0"}]`, list, 1)
}

// addressesOf finds the listeners' addresses in the log.
func (p *program) addressesOf() []string {
	p.t.Helper()
	var answer struct {
		Listeners []struct{ Address string } `json:"listeners"`
	}
	require.Equal(p.t, 200, p.ask(http.MethodGet, "/api/v1/status", &answer))
	var all []string
	for _, l := range answer.Listeners {
		all = append(all, l.Address)
	}
	return all
}

// A flood on one listener does not take the places of the other.
func TestListenersHaveTheirOwnPolicies(t *testing.T) {
	p := start(t, listenersOf(`
  - {name: open, address: "127.0.0.1:0", limits: {keepalive_requests: 2}}
  - {name: few, address: "127.0.0.2:0", limits: {connections: 1}}
`)+hello)
	addresses := p.addressesOf()
	open, few := addresses[0], addresses[1]

	held := dialWire(t, few).send(getHello)
	assert.False(t, held.expect(200))
	for range 3 {
		dialWire(t, few).expectClosed()
	}
	held.send(getHello).expect(200)

	c := dialWire(t, open)
	assert.False(t, c.send(getHello).expect(200))
	assert.True(t, c.send(getHello).expect(200), "keepalive_requests")
	c.expectClosed()

	text := p.metrics()
	assert.Contains(t, text, "\ncorelane_listener_connections_refused_total{listener=\"few\"} 3\n")
	assert.Contains(t, text, "\ncorelane_listener_connections_refused_total{listener=\"open\"} 0\n")
	assert.Contains(t, text, "\ncorelane_listener_connections{listener=\"few\"} 1\n")
	assert.Contains(t, text, "\ncorelane_connections_refused_total 0\n")

	p.write(listenersOf(`
  - {name: open, address: "127.0.0.1:0"}
  - {name: few, address: "127.0.0.2:0", limits: {connections: 2}}
`) + hello)
	p.await("the new limit", func() bool { return p.status().Generation == 2 })
	dialWire(t, few).send(getHello).expect(200)
	dialWire(t, few).expectClosed()
}

func TestMaxConnections(t *testing.T) {
	p := start(t, listenersOf(`
  - {name: one, address: "127.0.0.1:0"}
  - {name: two, address: "127.0.0.2:0"}
`)+"engine: {max_connections: 2, loops: 2, pin: none}\n"+hello)
	addresses := p.addressesOf()
	one := dialWire(t, addresses[0]).send(getHello)
	one.expect(200)
	dialWire(t, addresses[1]).send(getHello).expect(200)
	dialWire(t, addresses[0]).expectClosed()
	dialWire(t, addresses[1]).expectClosed()
	assert.Contains(t, p.metrics(), "\ncorelane_connections_refused_total 2\n")
	require.NoError(t, one.conn.Close())
	p.await("a place", func() bool { return strings.Contains(p.metrics(), "\ncorelane_connections 1\n") })
	dialWire(t, addresses[1]).send(getHello).expect(200)
}

func TestProxyProtocol(t *testing.T) {
	told := make(chan string, 8)
	app := listenRaw(t, func(line string) { told <- line })
	p := start(t, listenersOf(`[{name: web, address: "127.0.0.1:0", proxy_protocol: true}]`)+`
services:
  - {name: app, proxy_protocol: v1, endpoints: [{address: "`+app+`"}]}
routes:
  - {id: hello, match: {path: /hello}, service: app}
`)
	const line = "PROXY TCP4 192.0.2.7 198.51.100.1 40000 80\r\n"
	c := dialWire(t, p.web).send(line + getHello)
	c.expect(200)
	c.send(getHello).expect(200)
	assert.Equal(t, line, <-told)
	assert.Equal(t, line, <-told, "a connection for each request")
	for _, bad := range []string{getHello, "\x16\x03\x01\x02\x00\x01", "PROXY TCP4 nobody\r\n"} {
		dialWire(t, p.web).send(bad).expectClosed()
	}
	assert.Contains(t, p.metrics(), "\ncorelane_proxy_protocol_refused_total 3\n")
	p.await("the event", func() bool {
		return strings.Contains(p.stderr.String(), "did not begin with a PROXY header") &&
			strings.Contains(p.stderr.String(), `"listener":"web","peer":"127.0.0.1:`)
	})
	p.signal(syscall.SIGTERM)
	assert.Equal(t, 0, p.exit())
	assert.Equal(t, 2, strings.Count(p.stdout.String(), `"client":"192.0.2.7"`))
	assert.Equal(t, 2, strings.Count(p.stdout.String(), "\n"), "what was refused was no request")
}

// listenRaw answers one request on each connection and tells the line before it.
func listenRaw(t *testing.T, tell func(line string)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			in := bufio.NewReader(c)
			line, _ := in.ReadString('\n')
			if _, err := http.ReadRequest(in); err == nil {
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
				tell(line)
			}
			_, _ = in.ReadByte() // until the gateway has closed
			c.Close()
		}
	}()
	t.Cleanup(func() {
		ln.Close()
		<-done
	})
	return ln.Addr().String()
}

// Connections are spread over the loops by each mode, and all are served.
func TestAcceptModes(t *testing.T) {
	for _, mode := range []string{"handoff", "hash", "cpu"} {
		t.Run(mode, func(t *testing.T) {
			p := start(t, head+"engine: {loops: 2, pin: none, accept: "+mode+"}\n"+hello)
			var clients []*wire
			for range 8 {
				c := dialWire(t, p.web).send(getHello)
				c.expect(200)
				clients = append(clients, c)
			}
			for _, c := range clients {
				c.send(getHello).expect(200)
			}
			var answer struct {
				Loops []struct {
					Connections int
					Handoffs    uint64 `json:"handoffs_out"`
				}
			}
			require.Equal(t, 200, p.ask(http.MethodGet, "/api/v1/loops", &answer))
			require.Len(t, answer.Loops, 2)
			a, b := answer.Loops[0], answer.Loops[1]
			assert.Equal(t, 8, a.Connections+b.Connections)
			if mode == "handoff" {
				assert.Equal(t, 4, a.Connections, "evenly")
			} else {
				assert.Zero(t, a.Handoffs+b.Handoffs, "where the kernel put them")
			}
		})
	}
}
