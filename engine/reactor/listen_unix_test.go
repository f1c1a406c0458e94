package reactor

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Whatever stands at the path and is not a socket of a server that is gone stays as it is.
func TestListenUnixRemovesNothingOfOthers(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	require.NoError(t, os.WriteFile(at("file"), []byte("precious"), 0o600))
	require.NoError(t, os.Mkdir(at("folder"), 0o700))
	require.NoError(t, os.Symlink(at("stale"), at("link")))
	require.NoError(t, os.Symlink(at("nowhere"), at("dangling")))
	live, err := net.Listen("unix", at("live"))
	require.NoError(t, err)
	defer live.Close()
	datagrams, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: at("datagrams")})
	require.NoError(t, err)
	defer datagrams.Close()
	leaveStale(t, at("stale"))
	for name, want := range map[string]string{
		"file":      "not a socket",
		"folder":    "not a socket",
		"link":      "not a socket",
		"dangling":  "not a socket",
		"live":      "address already in use",
		"datagrams": "connect: protocol wrong type",
		"no/folder": "folder " + at("no") + ": bind: no such file or directory",
	} {
		t.Run(name, func(t *testing.T) {
			before, beforeErr := os.Lstat(at(name))
			_, err := Listen(ListenOptions{Address: "unix:" + at(name)})
			require.ErrorContains(t, err, want)
			require.ErrorContains(t, err, "listen on unix:"+at(name))
			after, afterErr := os.Lstat(at(name))
			require.Equal(t, beforeErr == nil, afterErr == nil)
			if beforeErr == nil {
				require.True(t, os.SameFile(before, after))
			}
		})
	}
	_, err = Listen(ListenOptions{Address: "unix:/" + strings.Repeat("x", MaxUnixPath)})
	require.ErrorContains(t, err, "has 108 bytes, 107 fit")
}

// leaveStale leaves the file of a server that is gone.
func leaveStale(t *testing.T, path string) {
	t.Helper()
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	require.NoError(t, err)
	ln.SetUnlinkOnClose(false)
	require.NoError(t, ln.Close())
}

// A server that does not get round to accepting is alive.
func TestListenUnixFullBacklogIsInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	ln, err := Listen(ListenOptions{Address: "unix:" + path, Backlog: 1})
	require.NoError(t, err)
	defer ln.StopAccepting()
	for err == nil {
		var fd int
		fd, err = sysSocket(unix.AF_UNIX)
		require.NoError(t, err)
		defer unix.Close(fd)
		err = unix.Connect(fd, &unix.SockaddrUnix{Name: path})
	}
	require.ErrorIs(t, err, unix.EAGAIN)
	_, err = Listen(ListenOptions{Address: "unix:" + path})
	require.ErrorIs(t, err, unix.EADDRINUSE)
	require.FileExists(t, path)
}

func TestUnixSocketFileEndsWithTheListener(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	l := start(t, Options{CPU: -1})
	for _, replaced := range []bool{false, true} {
		ln, err := Listen(ListenOptions{Address: "unix:" + path})
		require.NoError(t, err)
		ln.Serve([]*Loop{l}, nil, func(*Conn) Handler { return echo{} })
		require.FileExists(t, path)
		if replaced {
			require.NoError(t, os.Remove(path))
			other, err := net.Listen("unix", path)
			require.NoError(t, err)
			defer other.Close()
		}
		ln.StopAccepting()
		for len(listeners(t, l)) > 0 {
			quiet(t, l)
		}
		if replaced {
			require.FileExists(t, path, "it belongs to another now")
		} else {
			require.NoFileExists(t, path)
		}
	}
}

func TestUnixSocketFileEndsWithTheLoop(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	l, err := NewLoop(Options{CPU: -1})
	require.NoError(t, err)
	ln, err := Listen(ListenOptions{Address: "unix:" + path})
	require.NoError(t, err)
	ln.Serve([]*Loop{l}, nil, func(*Conn) Handler { return echo{} })
	l.Stop()
	require.NoError(t, l.Run())
	require.NoFileExists(t, path)

	ln, err = Listen(ListenOptions{Address: "unix:" + path})
	require.NoError(t, err)
	ln.Serve([]*Loop{l}, nil, func(*Conn) Handler { return echo{} })
	require.NoFileExists(t, path, "nobody would ever accept")
}

// [::] serves IPv4 as well, and its peers are shown as what they are.
func TestListenDualStack(t *testing.T) {
	l := start(t, Options{CPU: -1})
	ln, err := Listen(ListenOptions{Address: "[::]:0", Loops: 1})
	if err != nil {
		require.ErrorContains(t, err, "[::]:0") // a machine without IPv6
		return
	}
	remotes, locals := make(chan string, 1), make(chan string, 1)
	ln.Serve([]*Loop{l}, nil, func(c *Conn) Handler {
		remotes <- c.Remote().String()
		locals <- c.Local().String()
		return echo{}
	})
	_, port, err := net.SplitHostPort(ln.Address())
	require.NoError(t, err)
	for _, host := range []string{"127.0.0.1", "::1"} {
		c := dial(t, net.JoinHostPort(host, port))
		require.Equal(t, c.LocalAddr().String(), await(t, remotes, "accept"))
		require.Equal(t, net.JoinHostPort(host, port), await(t, locals, "accept"))
	}
}
