package reactor

import (
	"net"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func listen(t testing.TB) *net.TCPListener {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	return ln.(*net.TCPListener)
}

func accept(t testing.TB, ln *net.TCPListener) *client {
	require.NoError(t, ln.SetDeadline(time.Now().Add(patience)))
	c, err := ln.AcceptTCP()
	require.NoError(t, err)
	require.NoError(t, c.SetDeadline(time.Now().Add(patience)))
	t.Cleanup(func() { _ = c.Close() })
	return &client{c, t}
}

// dialed is an established connection to address.
func dialed(t testing.TB, l *Loop, s *script, address string) *Conn {
	t.Helper()
	c := dialing(t, l, s, address, netip.Addr{}, nil)
	require.Equal(t, "connect", s.next(t))
	return c
}

func dialing(t testing.TB, l *Loop, h ConnectHandler, address string, source netip.Addr, then func(c *Conn)) *Conn {
	t.Helper()
	a, err := ParseAddr(address)
	require.NoError(t, err)
	var c *Conn
	do(t, l, func() {
		c, err = l.Dial(a, source, h)
		if err == nil && then != nil {
			then(c)
		}
	})
	require.NoError(t, err)
	return c
}

func TestDialAndTalk(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		l, s := start(t, o), newScript()
		ln := listen(t)
		c := dialed(t, l, s, ln.Addr().String())
		peer := accept(t, ln)
		do(t, l, func() { c.Write([]byte("ping")) })
		peer.expect("ping")
		peer.send("pong")
		require.Equal(t, "data pong", s.next(t))
		require.Nil(t, c.Listener())
		require.NoError(t, peer.Close())
		require.Equal(t, "eof", s.next(t))
		require.Zero(t, l.Live(), "the gauge counts clients")
		do(t, l, c.Close)
	})
}

func TestDialStagedBeforeConnect(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		l, s := start(t, o), newScript()
		ln := listen(t)
		s.connect = func(c *Conn) { c.Write([]byte(" third")) }
		dialing(t, l, s, ln.Addr().String(), netip.MustParseAddr("127.0.0.1"), func(c *Conn) {
			c.Commit(append(c.Stage(), "first"...))
			c.Write([]byte(" second"))
			c.NotifyEmpty()
			require.False(t, c.Closed())
		})
		accept(t, ln).expect("first second third")
		require.Equal(t, "connect", s.next(t))
		require.Equal(t, "drain", s.next(t))
	})
}

func TestDialCloseWriteBeforeConnect(t *testing.T) {
	l, s := start(t, Options{CPU: -1}), newScript()
	ln := listen(t)
	dialing(t, l, s, ln.Addr().String(), netip.Addr{}, (*Conn).CloseWrite)
	accept(t, ln).expectEOF()
	require.Equal(t, "connect", s.next(t))
}

func TestDialRefused(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		l, s := start(t, o), newScript()
		ln := listen(t)
		address := ln.Addr().String()
		require.NoError(t, ln.Close())
		failures := make(chan error, 1)
		s.closed = func(_ *Conn, err error) { failures <- err }
		c := dialing(t, l, s, address, netip.Addr{}, func(c *Conn) { c.Write([]byte("lost")) })
		require.Equal(t, "close ECONNREFUSED", s.next(t))
		err := await(t, failures, "the error")
		require.ErrorIs(t, err, unix.ECONNREFUSED)
		var op *net.OpError
		require.ErrorAs(t, err, &op)
		require.Equal(t, address, op.Addr.String())
		quiet(t, l)
		do(t, l, func() { require.True(t, c.Closed()); require.Zero(t, l.Stats().BlocksHeld) })
	})
}

func TestDialGivenUp(t *testing.T) {
	l, s := start(t, Options{CPU: -1}), newScript()
	ln := listen(t)
	for _, giveUp := range []func(*Conn){(*Conn).Abort, (*Conn).Close} {
		dialing(t, l, s, ln.Addr().String(), netip.Addr{}, giveUp)
		quiet(t, l)
		s.silent(t)
	}
}

func TestDialImmediateError(t *testing.T) {
	l, s := start(t, Options{CPU: -1}), newScript()
	missing := "unix:" + filepath.Join(t.TempDir(), "missing.sock")
	for address, source := range map[string]netip.Addr{
		missing:       {},
		"127.0.0.1:9": netip.MustParseAddr("203.0.113.77"), // not ours
	} {
		a, err := ParseAddr(address)
		require.NoError(t, err)
		do(t, l, func() { _, err = l.Dial(a, source, s) })
		require.ErrorContains(t, err, "dial "+a.Network()+" "+address)
		s.silent(t)
	}
}

func TestDialUnix(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		l, s := start(t, o), newScript()
		address := "unix:" + filepath.Join(t.TempDir(), "s.sock")
		ln, err := Listen(ListenOptions{Address: address, Loops: 1})
		require.NoError(t, err)
		ln.Serve([]*Loop{l}, nil, func(*Conn) Handler { return echo{} })
		c := dialed(t, l, s, address)
		do(t, l, func() {
			c.Write([]byte("hello"))
			require.False(t, c.Remote().IsValid())
			require.False(t, c.Local().IsValid())
		})
		require.Equal(t, "data hello", s.next(t))
		do(t, l, c.CloseWrite)
		require.Equal(t, "eof", s.next(t))
		do(t, l, c.Close)
	})
}

// The regular end of a response over a unix socket looks like a hang-up in both directions; a paused
// connection must not lose what is unread, nor take the end for a failure.
func TestUnixUpstreamEndsWhilePaused(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		l, s := start(t, o), newScript()
		path := filepath.Join(t.TempDir(), "s.sock")
		ln, err := net.Listen("unix", path)
		require.NoError(t, err)
		defer ln.Close()
		c := dialed(t, l, s, "unix:"+path)
		peer, err := ln.Accept()
		require.NoError(t, err)
		do(t, l, c.Pause)
		_, err = peer.Write([]byte("answer"))
		require.NoError(t, err)
		require.NoError(t, peer.Close())
		quiet(t, l)
		s.silent(t)
		do(t, l, c.Resume)
		require.Equal(t, "data answer", s.next(t))
		require.Equal(t, "eof", s.next(t))
		do(t, l, c.Close)
	})
}

// A client on a unix socket that is gone altogether is noticed while it is paused.
func TestUnixClientGoneWhilePaused(t *testing.T) {
	l, s := start(t, Options{CPU: -1}), newScript()
	path := filepath.Join(t.TempDir(), "s.sock")
	ln, err := Listen(ListenOptions{Address: "unix:" + path})
	require.NoError(t, err)
	ln.Serve([]*Loop{l}, nil, func(c *Conn) Handler { c.Pause(); return s })
	peer, err := net.Dial("unix", path)
	require.NoError(t, err)
	for l.Live() == 0 {
		quiet(t, l)
	}
	require.NoError(t, peer.Close())
	require.Equal(t, "close ECONNRESET", s.next(t))
}

func TestDialAfterTheEnd(t *testing.T) {
	l, err := NewLoop(Options{CPU: -1})
	require.NoError(t, err)
	l.Stop()
	require.NoError(t, l.Run())
	a, err := ParseAddr("127.0.0.1:9")
	require.NoError(t, err)
	_, err = l.Dial(a, netip.Addr{}, newScript())
	require.ErrorIs(t, err, ErrLoopStopped)
}
