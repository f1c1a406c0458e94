package e2e_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rawOrigin answers each connection's first request with the bytes that belong
// to its path, as badly as a test wants.
type rawOrigin struct {
	listener net.Listener
	scripts  map[string]func(c net.Conn)
	done     sync.WaitGroup
	end      chan struct{}
}

func newRawOrigin(t *testing.T, scripts map[string]func(c net.Conn)) *rawOrigin {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	o := &rawOrigin{listener: ln, scripts: scripts, end: make(chan struct{})}
	o.done.Go(o.accept)
	t.Cleanup(func() {
		close(o.end)
		ln.Close()
		o.done.Wait()
	})
	return o
}

func (o *rawOrigin) address() string { return o.listener.Addr().String() }

func (o *rawOrigin) accept() {
	for {
		c, err := o.listener.Accept()
		if err != nil {
			return
		}
		o.done.Go(func() { o.serve(c) })
	}
}

// serve reads one request and follows the script of its path.
func (o *rawOrigin) serve(c net.Conn) {
	defer c.Close()
	stop := make(chan struct{})
	defer close(stop)
	go func() { // whatever the script waits for ends with the test
		select {
		case <-o.end:
			c.Close()
		case <-stop:
		}
	}()
	req, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, req.Body)
	if script := o.scripts[req.URL.Path]; script != nil {
		script(c)
	}
}

// say sends text and closes.
func say(text string) func(net.Conn) {
	return func(c net.Conn) { _, _ = io.WriteString(c, text) }
}

// sayAndReset sends text and resets the connection.
func sayAndReset(text string) func(net.Conn) {
	return func(c net.Conn) {
		_, _ = io.WriteString(c, text)
		_ = c.(*net.TCPConn).SetLinger(0)
	}
}

// sayAndHang sends text and then nothing until the gateway gives up.
func sayAndHang(text string) func(net.Conn) {
	return func(c net.Conn) {
		_, _ = io.WriteString(c, text)
		_, _ = io.Copy(io.Discard, c)
	}
}

// badDays sends everything to one origin with short limits of time.
func badDays(address, more string) string {
	return fmt.Sprintf(head+`
engine: {loops: 1}
services:
  - name: bad
    endpoints: [{address: %q}]
    limits: {head: 4KiB}
    timeouts: {connect: 300ms, first_byte: 300ms, idle: 300ms}
    retries: {attempts: 0}
    health: {passive: {consecutive_failures: 0}}
    %s
routes: [{id: all, match: {prefix: /}, service: bad}]
`, address, more)
}

func TestBadUpstreams(t *testing.T) {
	o := newRawOrigin(t, map[string]func(net.Conn){
		"/nothing":      say(""),
		"/reset":        sayAndReset(""),
		"/half-head":    say("HTTP/1.1 200 OK\r\nContent-Le"),
		"/reset-head":   sayAndReset("HTTP/1.1 200 OK\r\nContent-Le"),
		"/garbage":      say("SSH-2.0-OpenSSH_9.2\r\n"),
		"/two-lengths":  say("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
		"/long-head":    say("HTTP/1.1 200 OK\r\nX-Long: " + strings.Repeat("x", 8<<10) + "\r\n\r\n"),
		"/hang":         sayAndHang(""),
		"/hang-in-head": sayAndHang("HTTP/1.1 200 OK\r\n"),
	})
	p := start(t, badDays(o.address(), ""))
	tests := []struct {
		path   string
		status int
		reason string
	}{
		{"/nothing", 502, "upstream_reset"},
		{"/reset", 502, "upstream_reset"},
		{"/half-head", 502, "upstream_reset"},
		{"/reset-head", 502, "upstream_reset"},
		{"/garbage", 502, "upstream_bad_response"},
		{"/two-lengths", 502, "upstream_bad_response"},
		{"/long-head", 502, "upstream_bad_response"},
		{"/hang", 504, "upstream_timeout"},
		{"/hang-in-head", 504, "upstream_timeout"},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			code, body := p.get(tt.path)
			assert.Equal(t, tt.status, code, body)
			assert.Contains(t, body, `"error":"`+tt.reason+`"`)
			p.await("the record", func() bool {
				return strings.Contains(p.stdout.String(), `"path":"`+tt.path+`"`)
			})
		})
	}
}

func TestUpstreamRefuses(t *testing.T) {
	p := start(t, badDays("127.0.0.1:"+freePort(t), ""))
	code, body := p.get("/")
	assert.Equal(t, 502, code)
	assert.Contains(t, body, `"error":"upstream_refused"`)
}

// A body that breaks off must look broken to the client too.
func TestBodiesThatBreakOff(t *testing.T) {
	const length, chunked = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n"
	o := newRawOrigin(t, map[string]func(net.Conn){
		"/length": say(length), "/length-reset": sayAndReset(length), "/length-hang": sayAndHang(length),
		"/chunked": say(chunked), "/chunked-reset": sayAndReset(chunked), "/chunked-hang": sayAndHang(chunked),
		"/chunked-garbage": say(chunked + "no number\r\n"),
	})
	p := start(t, badDays(o.address(), ""))
	for path := range o.scripts {
		t.Run(path, func(t *testing.T) {
			res, err := p.client.Get("http://" + p.web + path)
			require.NoError(t, err)
			defer res.Body.Close()
			if res.StatusCode == http.StatusBadGateway {
				return // it broke before its head was relayed, and was said to
			}
			require.Equal(t, 200, res.StatusCode)
			_, err = io.ReadAll(res.Body)
			assert.Error(t, err, "the client must not take it for whole")
		})
	}
}

// More than was announced never reaches anybody as an answer of its own.
func TestUpstreamSaysTooMuch(t *testing.T) {
	o := newRawOrigin(t, map[string]func(net.Conn){
		"/too-much": sayAndHang("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"),
		"/good":     say("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood"),
	})
	p := start(t, badDays(o.address(), ""))
	for range 5 {
		code, body := p.get("/too-much")
		assert.Equal(t, 200, code)
		assert.Equal(t, "ok", body)
		_, body = p.get("/good")
		assert.Equal(t, "good", body)
	}
}

// One connection is allowed and taken: the next request waits, then it is told
// so; beyond the queue it is told at once.
func TestFullPool(t *testing.T) {
	o := newSlowOrigin(t)
	p := start(t, badDays(strings.TrimPrefix(o.URL, "http://"), "pool: {max_connections: 1, max_waiting: 1, wait: 250ms}\n    "))
	_ = o.begin(t, p)
	codes := make(chan string, 2)
	for range 2 {
		go func() {
			res, err := p.client.Get("http://" + p.web + "/")
			if err != nil {
				codes <- err.Error()
				return
			}
			defer res.Body.Close()
			body, _ := io.ReadAll(res.Body)
			codes <- fmt.Sprint(res.StatusCode, " ", strings.Contains(string(body), "pool_exhausted"))
		}()
	}
	assert.Equal(t, "503 true", <-codes)
	assert.Equal(t, "503 true", <-codes)
}

func TestClientLeaves(t *testing.T) {
	o := newSlowOrigin(t)
	p := start(t, o.configuration("{loops: 1}"))
	c, err := net.Dial("tcp", p.web)
	require.NoError(t, err)
	fmt.Fprint(c, "GET /left HTTP/1.1\r\nHost: x\r\n\r\n")
	<-o.arrived
	require.NoError(t, c.(*net.TCPConn).SetLinger(0))
	require.NoError(t, c.Close())
	p.await("the record", func() bool { return strings.Contains(p.stdout.String(), `"reason":"client_aborted"`) })
	assert.Contains(t, p.stdout.String(), `"status":499`)
}

func TestClientDripsItsHead(t *testing.T) {
	p := start(t, strings.Replace(head, `127.0.0.1:0"}]`, `127.0.0.1:0", timeouts: {head: 200ms}}]`, 1)+hello)
	c, err := net.Dial("tcp", p.web)
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.SetDeadline(time.Now().Add(patience)))
	fmt.Fprint(c, "GET /hello HTTP/1.1\r\nHost:")
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	defer res.Body.Close()
	assert.Equal(t, 408, res.StatusCode)
	assert.True(t, res.Close)
}
