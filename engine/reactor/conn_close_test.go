package reactor

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestCloseSendsTheQueueFirst(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		l, s := start(t, o), newScript()
		c, peer := pair(t, l, s, smallBuffers)
		want := pattern(1 << 20)
		do(t, l, func() {
			c.Write(want)
			require.False(t, c.Closed())
			c.Close()
			require.True(t, c.Closed())
			c.Write([]byte("no more"))
			c.Close()
		})
		got, err := io.ReadAll(peer)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got))
		quiet(t, l)
		s.silent(t)
		do(t, l, func() { require.Zero(t, l.Stats().BlocksHeld) })
		require.Zero(t, l.Live())
	})
}

func TestClosedForSlowPeerTimesOut(t *testing.T) {
	l, s := start(t, Options{CPU: -1}), newScript()
	c, peer := pair(t, l, s, smallBuffers)
	do(t, l, func() {
		c.Write(pattern(1 << 20))
		c.Close()
		require.True(t, c.timer.Armed(), "Close never waits for ever")
	})
	for l.Live() > 0 { // each byte that the peer's kernel still takes starts the clock afresh
		do(t, l, func() {
			if !c.timer.Armed() {
				return
			}
			l.Arm(&c.timer, l.Now())
		})
	}
	_, err := io.Copy(io.Discard, peer)
	require.ErrorIs(t, err, unix.ECONNRESET)
	s.silent(t)
}

func TestAbortResets(t *testing.T) {
	l, s := start(t, Options{CPU: -1}), newScript()
	c, peer := pair(t, l, s, nil)
	do(t, l, func() { c.Write([]byte("dropped")); c.Abort(); c.Abort() })
	_, err := peer.Read(make([]byte, 10))
	require.ErrorIs(t, err, unix.ECONNRESET)
	s.silent(t)
}

// Closing over unread input would send a reset, which can destroy an answer on its way.
func TestLingerDiscardsUntilEOF(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		l, s := start(t, o), newScript()
		c, peer := pair(t, l, s, (*Conn).Pause)
		peer.send("unread")
		quiet(t, l)
		do(t, l, func() { c.Write([]byte("413")); c.Linger(patience.Nanoseconds()) })
		peer.expect("413")
		peer.expectEOF()
		for range 50 {
			peer.send(string(pattern(20_000)))
		}
		do(t, l, func() { require.Equal(t, phaseLingering, c.phase) })
		require.NoError(t, peer.CloseWrite())
		for c := l.Live(); c > 0; c = l.Live() {
			quiet(t, l)
		}
		s.silent(t)
	})
}

func TestLingerIsBounded(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		l, s := start(t, o), newScript()
		c, peer := pair(t, l, s, nil)
		do(t, l, func() { c.Linger(1) })
		peer.expectEOF()
		for l.Live() > 0 {
			quiet(t, l)
		}
		s.silent(t)
	})
}

func TestLingerAfterEOFClosesAtOnce(t *testing.T) {
	l, s := start(t, Options{CPU: -1}), newScript()
	c, peer := pair(t, l, s, nil)
	require.NoError(t, peer.CloseWrite())
	require.Equal(t, "eof", s.next(t))
	do(t, l, func() { c.Linger(patience.Nanoseconds()); require.Equal(t, phaseDoomed, c.phase) })
	peer.expectEOF()
}

func TestResetWhileFinishing(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		l, s := start(t, o), newScript()
		c, peer := pair(t, l, s, smallBuffers)
		do(t, l, func() { c.Write(pattern(1 << 20)); c.Close() })
		require.Equal(t, int64(1), l.Live())
		peer.reset()
		for l.Live() > 0 {
			quiet(t, l)
		}
		s.silent(t)
	})
}

// A client that resets while its exchange is paused must be noticed.
func TestResetWhilePaused(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		for name, unread := range map[string]string{"nothing unread": "", "input unread": "body"} {
			t.Run(name, func(t *testing.T) {
				l, s := start(t, o), newScript()
				_, peer := pair(t, l, s, (*Conn).Pause)
				if unread != "" {
					peer.send(unread)
				}
				quiet(t, l)
				peer.reset()
				require.Equal(t, "close ECONNRESET", s.next(t))
				s.silent(t)
			})
		}
	})
}

func TestResetAfterHalfClose(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		l, s := start(t, o), newScript()
		_, peer := pair(t, l, s, nil)
		require.NoError(t, peer.CloseWrite())
		require.Equal(t, "eof", s.next(t))
		peer.reset()
		require.Contains(t, []string{"close EPIPE", "close ECONNRESET"}, s.next(t))
	})
}

func TestResetWhileReading(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		l, s := start(t, o), newScript()
		_, peer := pair(t, l, s, nil)
		release := hold(t, l)
		peer.send("last words")
		peer.reset()
		release()
		first := s.next(t)
		if first == "data last words" {
			first = s.next(t)
		}
		require.Equal(t, "close ECONNRESET", first)
	})
}

// Two events of one batch: the first callback closes the connection of the second, and a third gets the
// slot. The stale event must find nobody.
func TestStaleEventsFindNobody(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		l, s := start(t, o), newScript()
		a, peerA := pair(t, l, s, nil)
		b, peerB := pair(t, l, s, nil)
		s.data = func(c *Conn, p []byte) int {
			s.log <- "data " + string(p)
			a.Abort()
			b.Abort()
			return len(p)
		}
		release := hold(t, l)
		peerA.send("x")
		peerB.send("x")
		release()
		require.Equal(t, "data x", s.next(t))
		quiet(t, l)
		s.silent(t)
		require.Zero(t, l.Live())
	})
}

func TestAddressesAndCounters(t *testing.T) {
	l, s := start(t, Options{CPU: -1}), newScript()
	c, peer := pair(t, l, s, nil)
	peer.send("12345")
	s.next(t)
	do(t, l, func() {
		require.Equal(t, peer.LocalAddr().String(), c.Remote().String())
		require.Equal(t, peer.RemoteAddr().String(), c.Local().String())
		require.Equal(t, uint64(5), c.BytesIn())
		require.Same(t, l, c.Loop())
		require.NotNil(t, c.Listener())
		require.Same(t, s, c.Handler())
		require.Positive(t, c.Accepted())
		require.LessOrEqual(t, c.Accepted(), l.Now())
		other := newScript()
		c.SetHandler(other)
		c.Close()
	})
}

func TestLoopEndClosesConnections(t *testing.T) {
	l, err := NewLoop(Options{CPU: -1})
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- l.Run() }()
	s := newScript()
	_, peer := pair(t, l, s, nil)
	l.Stop()
	require.NoError(t, await(t, done, "the loop to end"))
	require.Equal(t, "close "+ErrLoopStopped.Error(), s.next(t))
	peer.expectEOF()
	require.Zero(t, l.Live())
}
