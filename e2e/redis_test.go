package e2e_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// redisServer runs redis-server, or a fake if it is not installed.
func redisServer(t *testing.T) (address string) {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Log("redis-server is not installed: a fake of a few commands stands in for it")
		f := &fakeRedis{values: map[string]string{}}
		return serveConns(t, f.serve)
	}
	port := freePort(t)
	c := exec.Command(path, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", t.TempDir())
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait() // killed
	})
	return "127.0.0.1:" + port
}

// fakeRedis knows SET, GET and PING.
type fakeRedis struct {
	mu     sync.Mutex
	values map[string]string
}

func (f *fakeRedis) serve(conn net.Conn) {
	in := bufio.NewReader(conn)
	for {
		var count int
		if _, err := fmt.Fscanf(in, "*%d\r\n", &count); err != nil {
			return
		}
		words := make([]string, count)
		for i := range words {
			var size int
			if _, err := fmt.Fscanf(in, "$%d\r\n", &size); err != nil {
				return
			}
			b := make([]byte, size+2)
			if _, err := io.ReadFull(in, b); err != nil {
				return
			}
			words[i] = string(b[:size])
		}
		if _, err := io.WriteString(conn, f.answer(words)); err != nil {
			return
		}
	}
}

func (f *fakeRedis) answer(words []string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch command := strings.ToLower(words[0]); {
	case command == "ping":
		return "+PONG\r\n"
	case command == "set" && len(words) == 3:
		f.values[words[1]] = words[2]
		return "+OK\r\n"
	case command == "get" && len(words) == 2:
		if value, ok := f.values[words[1]]; ok {
			return fmt.Sprintf("$%d\r\n%s\r\n", len(value), value)
		}
		return "$-1\r\n"
	default:
		return fmt.Sprintf("-ERR wrong number of arguments for '%s' command\r\n", command)
	}
}

// resp is a command as clients send it.
func resp(words ...string) string {
	b := fmt.Sprintf("*%d\r\n", len(words))
	for _, w := range words {
		b += fmt.Sprintf("$%d\r\n%s\r\n", len(w), w)
	}
	return b
}

// expectText reads exactly that.
func (w *wire) expectText(want string) {
	w.t.Helper()
	got := make([]byte, len(want))
	n, err := io.ReadFull(w.in, got)
	require.NoError(w.t, err, string(got[:n]))
	require.Equal(w.t, want, string(got))
}

// redisThrough uses Redis through a program that was built with its protocol.
func redisThrough(t *testing.T, built string) {
	t.Helper()
	p := newProgram(t, `
node: {id: e2e}
admin: {address: "127.0.0.1:0", token: `+token+`}
listeners:
  - {name: web, address: "127.0.0.1:0"}
  - {name: redis, address: "127.0.0.1:0", protocol: resp}
services: [{name: redis, protocol: resp, endpoints: [{address: "`+redisServer(t)+`"}], health: {passive: {consecutive_failures: 0}}}]
routes:
  - {id: ping, match: {rpc: {key: ping}}, service: redis}
  - {id: get, match: {rpc: {key: get}}, service: redis}
  - {id: set, match: {rpc: {key: set}}, service: redis}
  - {id: web-get, match: {path: /redis/get}, service: redis}
`)
	p.command(built, "run", "-c", p.config())
	p.await("serving", p.serving)
	p.await("redis", func() bool {
		c := dialWire(t, p.listeners[1]).send(resp("PING"))
		line, err := c.in.ReadString('\n')
		require.NoError(t, err)
		return line == "+PONG\r\n"
	})
	c := dialWire(t, p.listeners[1])
	c.send(resp("SET", "name", "Ann") + resp("GET", "name") + resp("GET", "nobody"))
	c.expectText("+OK\r\n$3\r\nAnn\r\n$-1\r\n")
	c.send(resp("get")).expectText("-ERR wrong number of arguments for 'get' command\r\n")
	c.send(resp("FLUSHALL")).expectText("-ERR route_not_found ")
	_, err := c.in.ReadString('\n')
	require.NoError(t, err)

	value := string(pattern(1 << 20))
	c.send(resp("SET", "long", value)).expectText("+OK\r\n")
	c.send(resp("GET", "long")).expectText(fmt.Sprintf("$%d\r\n%s\r\n", len(value), value))
	var asked, answered strings.Builder
	for i := range 200 {
		text := fmt.Sprint(i)
		asked.WriteString(resp("SET", "n", text) + resp("GET", "n"))
		fmt.Fprintf(&answered, "+OK\r\n$%d\r\n%s\r\n", len(text), text)
	}
	c.send(asked.String()).expectText(answered.String())

	res, err := p.client.Post("http://"+p.web+"/redis/get", "application/json", strings.NewReader(`["name"]`))
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, res.StatusCode)
	assert.JSONEq(t, `"Ann"`, string(body))
}
