package e2e_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// unixHead is head with a unix socket in the run's own folder as the listener.
var unixHead = strings.Replace(head, "127.0.0.1:0", "unix:FOLDER/web.sock", 1)

// dialingUnix makes a client whose every connection leads to the socket.
func dialingUnix(t *testing.T, path string) *http.Client {
	t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

func fetch(t *testing.T, client *http.Client, url string) (int, string) {
	t.Helper()
	res, err := client.Get(url)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(body)
}

func TestUnixSocket(t *testing.T) {
	p := newProgram(t, unixHead+hello)
	path := filepath.Join(p.folder, "web.sock")
	p.command("sh", "-c", `umask 0117; exec "$0" run -c "$1"`, binary, p.config())
	p.await("serving", p.serving)
	assert.Equal(t, "unix:"+path, p.web)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o660), info.Mode().Perm(), "the rights are the umask's")
	status, body := fetch(t, dialingUnix(t, path), "http://a.test/hello")
	assert.Equal(t, 200, status)
	assert.Equal(t, "hello", body)

	second := newProgram(t, strings.ReplaceAll(unixHead, "FOLDER", p.folder)+hello)
	second.launch("run", "-c", second.config())
	assert.Equal(t, 1, second.exit())
	assert.Contains(t, second.stderr.String(), "listener web: listen on unix:"+path+": bind: address already in use")
	status, _ = fetch(t, dialingUnix(t, path), "http://a.test/hello")
	assert.Equal(t, 200, status, "the first serves on")

	p.signal(syscall.SIGTERM)
	assert.Equal(t, 0, p.exit())
	assert.NoFileExists(t, path)
}

func TestUnixSocketOfADeadProgramIsReplaced(t *testing.T) {
	first := start(t, unixHead+hello)
	path := filepath.Join(first.folder, "web.sock")
	first.signal(syscall.SIGKILL)
	assert.Equal(t, -1, first.exit())
	require.FileExists(t, path)
	start(t, strings.ReplaceAll(unixHead, "FOLDER", first.folder)+hello)
	status, _ := fetch(t, dialingUnix(t, path), "http://a.test/hello")
	assert.Equal(t, 200, status)
}

func TestUnixSocketThatCannotBe(t *testing.T) {
	tests := []struct {
		name, path string
		prepare    func(t *testing.T, folder string)
		want       string
	}{
		{"a file", "plain", func(t *testing.T, folder string) {
			require.NoError(t, os.WriteFile(filepath.Join(folder, "plain"), []byte("precious"), 0o600))
		}, "the file exists and is not a socket"},
		{"no folder", "no/web.sock", func(*testing.T, string) {}, "bind: no such file or directory"},
		{"no rights", "locked/web.sock", func(t *testing.T, folder string) {
			require.NoError(t, os.Mkdir(filepath.Join(folder, "locked"), 0o555))
		}, "bind: permission denied"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProgram(t, strings.Replace(unixHead, "web.sock", tt.path, 1)+hello)
			tt.prepare(t, p.folder)
			p.withoutPrivilege("run", "-c", p.config())
			assert.Equal(t, 1, p.exit())
			assert.Contains(t, p.stderr.String(), "listener web: listen on unix:"+filepath.Join(p.folder, tt.path)+": ")
			assert.Contains(t, p.stderr.String(), tt.want)
			if text, err := os.ReadFile(filepath.Join(p.folder, "plain")); err == nil {
				assert.Equal(t, "precious", string(text))
			}
		})
	}
}

// withoutPrivilege launches the program so that the rights of files hold for it,
// also if the test runs as root.
func (p *program) withoutPrivilege(args ...string) {
	p.t.Helper()
	if os.Geteuid() != 0 {
		p.launch(args...)
		return
	}
	p.command("setpriv", append([]string{"--bounding-set=-dac_override", binary}, args...)...)
}

func TestUnixPathTooLong(t *testing.T) {
	long := "unix:/" + strings.Repeat("x", 107)
	for name, text := range map[string]string{
		"listener": strings.Replace(head, "127.0.0.1:0", long, 1) + hello,
		"endpoint": head + "services: [{name: app, endpoints: [{address: \"" + long + "\"}]}]\n" + hello,
	} {
		t.Run(name, func(t *testing.T) {
			for _, command := range []string{"check", "run"} {
				p := newProgram(t, text)
				p.launch(command, "-c", p.config())
				assert.Equal(t, 1, p.exit())
				assert.Regexp(t, `corelane.yaml:\d+:\d+: .*address: the path of a unix socket has 108 bytes, 107 fit`,
					p.stdout.String()+p.stderr.String())
			}
		})
	}
}

const unixUpstream = `
services: [{name: app, endpoints: [{address: "unix:FOLDER/app.sock"}], health: {passive: {consecutive_failures: 0}}}]
routes: [{id: app, match: {prefix: /}, service: app}]
`

func TestUnixUpstream(t *testing.T) {
	p := start(t, head+unixUpstream)
	status, body := p.get("/")
	assert.Equal(t, 502, status, "there is no socket")
	assert.Contains(t, body, "upstream_refused")

	path := filepath.Join(p.folder, "app.sock")
	ln, err := net.Listen("unix", path)
	require.NoError(t, err)
	ln.(*net.UnixListener).SetUnlinkOnClose(false)
	app := &httptest.Server{Listener: ln, Config: &http.Server{Handler: http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, r.Header.Get("X-Forwarded-For"))
		},
	)}}
	app.Start()
	status, body = p.get("/")
	assert.Equal(t, 200, status)
	assert.Equal(t, "127.0.0.1", body)
	app.Close()
	require.FileExists(t, path)
	status, body = p.get("/")
	assert.Equal(t, 502, status, "its server is gone")
	assert.Contains(t, body, "upstream_refused")
}

// IPv6 on both sides, and IPv4 clients of a socket for both.
func TestIPv6(t *testing.T) {
	ln, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("this machine has no IPv6")
	}
	app := &httptest.Server{Listener: ln, Config: &http.Server{Handler: http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, r.Header.Get("X-Forwarded-For"))
		},
	)}}
	app.Start()
	defer app.Close()
	p := start(t, `
node: {id: e2e}
listeners: [{name: web, address: "[::]:0", trusted_proxies: [127.0.0.0/8]}]
admin: {address: "127.0.0.1:0", token: `+token+`}
services: [{name: app, endpoints: [{address: "`+ln.Addr().String()+`"}]}]
routes: [{id: app, match: {prefix: /}, service: app}]
`)
	_, port, err := net.SplitHostPort(p.web)
	require.NoError(t, err)
	for host, want := range map[string]string{"127.0.0.1": "203.0.113.9, 127.0.0.1", "::1": "::1"} {
		req, err := http.NewRequest(http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/", nil)
		require.NoError(t, err)
		req.Header.Set("X-Forwarded-For", "203.0.113.9")
		res, err := p.client.Do(req)
		require.NoError(t, err)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		assert.Equal(t, want, string(body))
	}
	p.signal(syscall.SIGTERM)
	assert.Equal(t, 0, p.exit())
	assert.Contains(t, p.stdout.String(), `"client":"203.0.113.9"`, "IPv4 is trusted as IPv4")
	assert.Contains(t, p.stdout.String(), `"client":"::1"`)
}
