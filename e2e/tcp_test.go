package e2e_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// passages is a configuration with tcp listeners.
func passages(listeners string, services ...string) string {
	all := listenersOf(listeners) + "services:\n"
	for i := 0; i < len(services); i += 2 {
		all += "  - {name: " + services[i] + ", protocol: tcp, " + services[i+1] + "}\n"
	}
	return all
}

func to(addresses ...string) string {
	return `endpoints: [{address: "` + strings.Join(addresses, `"}, {address: "`) + `"}]`
}

// echoAll answers with all that came, once the client has said it.
func echoAll(conn net.Conn) {
	b, err := io.ReadAll(conn)
	if err == nil {
		_, _ = conn.Write(append([]byte("heard: "), b...))
	}
}

// Half a connection ends before the other, the service may speak first, and a
// dead endpoint is passed over.
func TestPassThrough(t *testing.T) {
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, gone.Close())
	echo := serveConns(t, echoAll)
	greeter := serveConns(t, func(conn net.Conn) { _, _ = io.WriteString(conn, "220 ready\r\n") })
	p := start(t, passages(`[{name: echo, address: "127.0.0.1:0", protocol: tcp, service: echo}, {name: mail, address: "127.0.0.2:0", protocol: tcp, service: mail}]`,
		"echo", to(gone.Addr().String(), echo), "mail", to(greeter)))
	addresses := p.addressesOf()
	for range 4 {
		c := dialWire(t, addresses[0]).send("hello")
		require.NoError(t, c.conn.(*net.TCPConn).CloseWrite())
		all, err := io.ReadAll(c.in)
		require.NoError(t, err)
		require.Equal(t, "heard: hello", string(all))
	}
	c := dialWire(t, addresses[1])
	line, err := c.in.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "220 ready\r\n", line)
	c.expectClosed()
	require.NoError(t, c.conn.Close())
	p.await("the record", func() bool {
		return strings.Contains(p.stdout.String(), `"route":"tcp:mail","method":"TCP","host":"","path":"","endpoint":"`+greeter+`","status":200`)
	})
	require.Contains(t, p.metrics(), `corelane_requests_total{code_class="2xx",route="tcp:echo"} 4`)
}

// certified serves TLS under a name and says it.
func certified(t *testing.T, name string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	require.NoError(t, err)
	config := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	return serveConns(t, func(conn net.Conn) {
		_, _ = io.WriteString(tls.Server(conn, config), "I am "+name+"\n")
	})
}

// greeting asks for a server name and reads what the service says.
func greeting(address, name string) (string, error) {
	conn, err := tls.Dial("tcp", address, &tls.Config{ServerName: name, InsecureSkipVerify: true})
	if err != nil {
		return "", err
	}
	defer conn.Close()
	return bufio.NewReader(conn).ReadString('\n')
}

func TestServerNames(t *testing.T) {
	shop, rest := certified(t, "shop"), certified(t, "rest")
	p := start(t, passages(`[{name: tls, address: "127.0.0.1:0", protocol: tcp, sni: {shop.example.com: shop, "*.example.com": rest}}]`,
		"shop", to(shop), "rest", to(rest)))
	address := p.addressesOf()[0]
	for name, want := range map[string]string{"shop.example.com": "I am shop\n", "SHOP.example.com": "I am shop\n", "a.b.example.com": "I am rest\n"} {
		got, err := greeting(address, name)
		require.NoError(t, err, name)
		require.Equal(t, want, got, name)
	}
	_, err := greeting(address, "example.org")
	require.ErrorContains(t, err, "unrecognized name")
	dialWire(t, address).send("GET / HTTP/1.1\r\n\r\n").expectClosed()
	p.await("the records", func() bool { return strings.Count(p.stdout.String(), `"reason":"route_not_found"`) == 2 })
	require.Contains(t, p.stdout.String(), `"host":"shop.example.com"`)

	// The names of a running listener can change; the service of the others stays.
	p.write(passages(`[{name: tls, address: "127.0.0.1:0", protocol: tcp, service: rest, sni: {shop.example.com: shop}}]`,
		"shop", to(rest), "rest", to(rest)))
	p.await("the new names", func() bool { return p.status().Generation == 2 })
	for _, name := range []string{"shop.example.com", "example.org"} {
		got, err := greeting(address, name)
		require.NoError(t, err)
		require.Equal(t, "I am rest\n", got)
	}
}

// Who the client is passes through: told by one header, told on by another, and
// judged by a list.
func TestPassedClients(t *testing.T) {
	first := serveConns(t, func(conn net.Conn) {
		line, _ := bufio.NewReader(conn).ReadString('\n')
		_, _ = io.WriteString(conn, "told: "+line)
	})
	p := start(t, passages(`[{name: in, address: "127.0.0.1:0", protocol: tcp, proxy_protocol: true, service: app, filters: [{ip_list: {deny: [203.0.113.0/24]}}], limits: {connections: 2}}]`,
		"app", "proxy_protocol: v1, "+to(first)))
	address := p.addressesOf()[0]
	c := dialWire(t, address).send("PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\r\n")
	line, err := c.in.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "told: PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\r\n", line)
	require.NoError(t, c.conn.Close())
	dialWire(t, address).send("PROXY TCP4 203.0.113.9 198.51.100.1 4711 443\r\n").expectClosed()
	for _, record := range []string{`"status":403,"reason":"ip_denied"`, `"client":"192.0.2.7"`} {
		p.await("the record", func() bool { return strings.Contains(p.stdout.String(), record) })
	}
}

func TestIdlePassages(t *testing.T) {
	silent := serveConns(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
	p := start(t, passages(`[{name: in, address: "127.0.0.1:0", protocol: tcp, service: app, timeouts: {tunnel_idle: 100ms}}]`, "app", to(silent)))
	dialWire(t, p.addressesOf()[0]).send("x").expectClosed()
}

// A drain leaves open connections until its time is up.
func TestDrainOfPassages(t *testing.T) {
	echo := serveConns(t, func(conn net.Conn) { _, _ = io.Copy(conn, conn) })
	p := start(t, "engine: {drain_timeout: 20s}\n"+passages(`[{name: in, address: "127.0.0.1:0", protocol: tcp, service: app}]`, "app", to(echo)))
	c := dialWire(t, p.addressesOf()[0]).send("one\n")
	said := func(want string) {
		line, err := c.in.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, want, line)
	}
	said("one\n")
	p.signal(syscall.SIGTERM)
	p.await("the drain", func() bool { return strings.Contains(p.stderr.String(), "drain") })
	c.send("two\n")
	said("two\n")
	require.NoError(t, c.conn.Close())
	require.Equal(t, 0, p.exit())
}

// A client that does not read holds what the queues may hold, and not the answer.
func TestSlowReaderOfAPassage(t *testing.T) {
	const sent = 64 << 20
	wrote := make(chan int64, 1)
	flood := serveConns(t, func(conn net.Conn) {
		_ = conn.SetWriteDeadline(time.Now().Add(patience))
		n, _ := io.Copy(conn, io.LimitReader(zeros{}, sent))
		wrote <- n
	})
	p := start(t, passages(`[{name: in, address: "127.0.0.1:0", protocol: tcp, service: app}]`, "app", to(flood)))
	c := dialWire(t, p.addressesOf()[0])
	// What lies in the kernel's queues differs from run to run, and may be all.
	p.await("a flow", func() bool { return p.metric("corelane_exchanges") == 1 })
	require.Less(t, p.metric("corelane_buffer_bytes"), float64(4<<20))
	n, err := io.Copy(io.Discard, c.in)
	require.NoError(t, err)
	require.Equal(t, int64(sent), n)
	require.Equal(t, int64(sent), <-wrote)
	require.NoError(t, c.conn.Close())
	p.await("the record", func() bool { return strings.Contains(p.stdout.String(), `"bytes_out":67108864`) })
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

// accepting is a service whose connections a test plays one by one.
func accepting(t *testing.T) (address string, next func() *wire, stop func()) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	stop = func() { ln.Close() }
	t.Cleanup(stop)
	return ln.Addr().String(), func() *wire {
		t.Helper()
		conn, err := ln.Accept()
		require.NoError(t, err)
		require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
		t.Cleanup(func() { conn.Close() })
		return &wire{t: t, conn: conn, in: bufio.NewReader(conn)}
	}, stop
}

// until reads a text and nothing before it.
func (w *wire) until(text string) *wire {
	w.t.Helper()
	got := make([]byte, len(text))
	_, err := io.ReadFull(w.in, got)
	require.NoError(w.t, err)
	require.Equal(w.t, text, string(got))
	return w
}

// A service that is killed takes the connections to it with it and no others, and
// new ones find the endpoint that is left.
func TestPassageToAKilledService(t *testing.T) {
	dies, atDying, kill := accepting(t)
	lives, atLiving, _ := accepting(t)
	p := start(t, passages(`[{name: db, address: "127.0.0.1:0", protocol: tcp, service: db}]`, "db", "balance: round_robin, "+to(dies, lives)))
	for range 2 {
		dialWire(t, p.web)
	}
	killed, left := atDying(), atLiving()
	kill()
	require.NoError(t, killed.conn.(*net.TCPConn).SetLinger(0))
	require.NoError(t, killed.conn.Close())
	p.await("the log", func() bool { return strings.Contains(p.stdout.String(), `"reason":"upstream_reset"`) })
	for range 4 {
		c := dialWire(t, p.web).send("next")
		atLiving().until("next").send("ok")
		c.until("ok")
	}
	left.send("still here")
	require.Equal(t, 1, strings.Count(p.stdout.String(), `"method":"TCP"`), "all others are open")
}

// A change of the service reaches new connections; open ones stay where they are.
func TestPassageAfterAReload(t *testing.T) {
	a, atA, _ := accepting(t)
	b, atB, _ := accepting(t)
	const listener = `[{name: db, address: "127.0.0.1:0", protocol: tcp, service: db}]`
	p := start(t, passages(listener, "db", to(a)))
	old := dialWire(t, p.web).send("1")
	there := atA().until("1")
	p.write(passages(listener, "db", to(b)))
	p.await("the change", func() bool { return p.status().Generation == 2 })
	dialWire(t, p.web).send("2")
	atB().until("2")
	old.send("3")
	there.until("3")
}
