package health

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/pool"
)

// patience bounds what must come; nothing asserts that it comes soon.
const patience = 20 * time.Second

// probed probes an address once.
func probed(t *testing.T, address string, c pool.Check) outcome {
	t.Helper()
	return probedFrom(t, address, c, netip.Addr{})
}

func probedFrom(t *testing.T, address string, c pool.Check, source netip.Addr) outcome {
	t.Helper()
	e, err := pool.NewRegistry().Endpoint("s", address, "")
	require.NoError(t, err)
	if c.Timeout == 0 {
		c.Timeout = patience
	}
	ctx, cancel := context.WithTimeout(t.Context(), c.Timeout)
	defer cancel()
	return newAttempt(Target{Endpoint: e, Check: &c, Source: source})(ctx)
}

var fine = pool.Statuses{}.With(200, 399)

func TestPages(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "all is well") })
	mux.HandleFunc("/status/{code}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "/ok")
		var code int
		_, _ = fmt.Sscan(r.PathValue("code"), &code)
		w.WriteHeader(code)
	})
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "host %s, close %v, agent %s, query %s", r.Host, r.Close, r.UserAgent(), r.URL.RawQuery)
	})
	mux.HandleFunc("/long", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, strings.Repeat("x", maxBody)+"too late")
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	address := s.Listener.Addr().String()
	for name, tt := range map[string]struct {
		check  pool.Check
		result Result
		reason string
	}{
		"ok":                    {pool.Check{Path: "/ok"}, Success, "status 200"},
		"body":                  {pool.Check{Path: "/ok", Body: "is well"}, Success, "status 200 and the body"},
		"another body":          {pool.Check{Path: "/ok", Body: "is ill"}, WrongBody, "the body does not contain what is expected"},
		"behind the bound":      {pool.Check{Path: "/long", Body: "too late"}, WrongBody, "the body does not contain"},
		"not found":             {pool.Check{Path: "/nothing"}, WrongStatus, "status 404"},
		"unavailable":           {pool.Check{Path: "/status/503"}, WrongStatus, "status 503"},
		"expected all the same": {pool.Check{Path: "/status/503", Expect: pool.Statuses{}.With(503, 503)}, Success, "status 503"},
		"not expected":          {pool.Check{Path: "/ok", Expect: pool.Statuses{}.With(204, 204)}, WrongStatus, "status 200"},
		"redirects end there":   {pool.Check{Path: "/status/302", Expect: pool.Statuses{}.With(302, 302)}, Success, "status 302"},
		"own connection":        {pool.Check{Path: "/echo?a=b", Body: "close true, agent corelane-health, query a=b"}, Success, ""},
		"address as host":       {pool.Check{Path: "/echo", Body: "host " + address}, Success, ""},
		"host":                  {pool.Check{Path: "/echo", Host: "orders.example", Body: "host orders.example,"}, Success, ""},
		"no path":               {pool.Check{}, Broken, "empty url"},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.check.Expect == (pool.Statuses{}) {
				tt.check.Expect = fine
			}
			got := probed(t, address, tt.check)
			assert.Equal(t, tt.result, got.result, got.reason)
			assert.Contains(t, got.reason, tt.reason)
		})
	}
}

// rude listens and does to each connection what it is told.
func rude(t *testing.T, script func(c net.Conn)) string {
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
			script(c)
			c.Close()
		}
	}()
	t.Cleanup(func() {
		ln.Close()
		<-done
	})
	return ln.Addr().String()
}

// hear reads the request, says text and then nothing until the peer leaves.
func hear(text string) func(net.Conn) {
	return func(c net.Conn) {
		_ = c.SetDeadline(time.Now().Add(patience))
		_, _ = c.Read(make([]byte, 4096))
		_, _ = io.WriteString(c, text)
		_, _ = io.Copy(io.Discard, c)
	}
}

func TestBadPages(t *testing.T) {
	for name, tt := range map[string]struct {
		script func(net.Conn)
		check  pool.Check
		want   Result
	}{
		"hangs":          {hear(""), pool.Check{Timeout: 50 * time.Millisecond}, TimedOut},
		"hangs in head":  {hear("HTTP/1.1 200 OK\r\n"), pool.Check{Timeout: 50 * time.Millisecond}, TimedOut},
		"hangs in body":  {hear("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nwe"), pool.Check{Timeout: 50 * time.Millisecond, Body: "well"}, TimedOut},
		"body not asked": {hear("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nwe"), pool.Check{}, Success},
		"found early":    {hear("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nwell"), pool.Check{Body: "well"}, Success},
		"garbage":        {hear("SSH-2.0-OpenSSH_9.2\r\n\r\n"), pool.Check{}, Broken},
		"closes":         {func(net.Conn) {}, pool.Check{}, Broken},
		"endless head":   {hear("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 2*maxHead)), pool.Check{}, Broken},
	} {
		t.Run(name, func(t *testing.T) {
			tt.check.Path, tt.check.Expect = "/", fine
			got := probed(t, rude(t, tt.script), tt.check)
			assert.Equal(t, tt.want, got.result, got.reason)
			assert.LessOrEqual(t, len(got.reason), maxReason+len("…"))
		})
	}
}

func TestTextsThatComeInPieces(t *testing.T) {
	const text = "all is well, and what is not will be"
	for _, want := range []string{"all", "is well, and", "be", text, "ill", "be all"} {
		found, err := contains(iotest.OneByteReader(strings.NewReader(text)), []byte(want))
		require.NoError(t, err)
		assert.Equal(t, strings.Contains(text, want), found, want)
	}
	_, err := contains(iotest.ErrReader(io.ErrUnexpectedEOF), []byte("x"))
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestNobodyListens(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, ln.Close())
	for _, kind := range []pool.CheckKind{pool.CheckHTTP, pool.CheckTCP} {
		got := probed(t, ln.Addr().String(), pool.Check{Kind: kind, Path: "/", Expect: fine})
		assert.Equal(t, outcome{ConnectFailed, "connect: connection refused"}, got, kind)
	}
}

func TestTCP(t *testing.T) {
	address := rude(t, func(net.Conn) {})
	tcp := pool.Check{Kind: pool.CheckTCP}
	assert.Equal(t, outcome{Success, "connected"}, probed(t, address, tcp))

	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	_, _ = fmt.Sscan(port, &tcp.Port)
	assert.Equal(t, Success, probed(t, "127.0.0.1:1", tcp).result, "the port is another one")
	assert.Equal(t, Success, probed(t, "[::ffff:127.0.0.1]:1", tcp).result)
}

func TestProbesComeFromTheSource(t *testing.T) {
	from := make(chan string, 1)
	address := rude(t, func(c net.Conn) { from <- c.RemoteAddr().String() })
	got := probedFrom(t, address, pool.Check{Kind: pool.CheckTCP}, netip.MustParseAddr("127.0.0.5"))
	assert.Equal(t, Success, got.result, got.reason)
	assert.True(t, strings.HasPrefix(<-from, "127.0.0.5:"))
}

func TestUnixSockets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", path)
	require.NoError(t, err)
	s := &httptest.Server{Listener: ln, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Host)
	})}}
	s.Start()
	defer s.Close()
	page := pool.Check{Path: "/", Expect: fine, Body: "localhost", Port: 9}
	assert.Equal(t, Success, probed(t, "unix:"+path, page).result)
	assert.Equal(t, Success, probed(t, "unix:"+path, pool.Check{Kind: pool.CheckTCP}).result)
	assert.Equal(t, ConnectFailed, probed(t, "unix:"+path+"x", page).result)
}

func TestFaultsOfThisMachine(t *testing.T) {
	d := &dialer{timeout: time.Second}
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL} {
		assert.Equal(t, NotTried, d.failed(t.Context(), &net.OpError{Op: "dial", Err: e}).result, e)
	}
	assert.Equal(t, TimedOut, d.failed(t.Context(), &net.OpError{Op: "dial", Err: syscall.ETIMEDOUT}).result)
	assert.Equal(t, Broken, d.failed(t.Context(), errors.New("x")).result)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Equal(t, outcome{TimedOut, "no answer within 1s"}, d.failed(ended, errors.New("x")))
}
