package reactor

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDataThenEOF(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		l, s := start(t, o), newScript()
		c, peer := pair(t, l, s, nil)
		peer.send("one")
		require.Equal(t, "data one", s.next(t))
		peer.send("two")
		require.Equal(t, "data two", s.next(t))
		require.NoError(t, peer.CloseWrite())
		require.Equal(t, "eof", s.next(t))
		do(t, l, func() {
			require.True(t, c.EOF())
			c.Write([]byte("still writing"))
			c.Close()
		})
		peer.expect("still writing")
		peer.expectEOF()
		s.silent(t)
	})
}

// Reading stops at a short read, and the FIN that came in the same edge must be seen all the same.
func TestDataAndEOFInOneEdge(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		l, s := start(t, o), newScript()
		_, peer := pair(t, l, s, nil)
		release := hold(t, l)
		peer.send("all")
		require.NoError(t, peer.CloseWrite())
		release()
		require.Equal(t, "data all", s.next(t))
		require.Equal(t, "eof", s.next(t))
	})
}

func TestShortReadEndsReading(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		l, s := start(t, o), newScript()
		_, peer := pair(t, l, s, nil)
		quiet(t, l)
		var before, after uint64
		do(t, l, func() { before = l.Stats().Reads })
		peer.send("short")
		require.Equal(t, "data short", s.next(t))
		do(t, l, func() { after = l.Stats().Reads })
		require.Equal(t, uint64(1), after-before, "one read for one message")
	})
}

func TestPauseKeepsEOFForLater(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		l, s := start(t, o), newScript()
		c, peer := pair(t, l, s, (*Conn).Pause)
		peer.send("late")
		require.NoError(t, peer.CloseWrite())
		quiet(t, l)
		s.silent(t)
		do(t, l, func() {
			require.True(t, c.Paused())
			c.Resume()
			require.False(t, c.EOF(), "Resume never calls back")
		})
		require.Equal(t, "data late", s.next(t))
		require.Equal(t, "eof", s.next(t))
	})
}

func TestPauseInsideOnData(t *testing.T) {
	l, s := start(t, Options{CPU: -1}), newScript()
	got := make(chan int, 64)
	s.data = func(c *Conn, b []byte) int { c.Pause(); got <- len(b); return len(b) }
	c, peer := pair(t, l, s, func(c *Conn) { c.SetReadSize(4) })
	release := hold(t, l)
	peer.send("0123456789")
	release()
	for _, want := range []int{4, 4, 2} {
		require.Equal(t, want, await(t, got, "a delivery"))
		require.Empty(t, got, "paused means no delivery")
		do(t, l, c.Resume)
	}
}

// What a handler leaves is kept, pauses the connection, and comes again in front of newer bytes.
func TestUnconsumedIsKept(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		l, s := start(t, o), newScript()
		s.data = func(_ *Conn, b []byte) int { s.log <- string(b); return min(len(b), 3) }
		c, peer := pair(t, l, s, nil)
		release := hold(t, l)
		peer.send("abcdefgh")
		release()
		require.Equal(t, "abcdefgh", s.next(t))
		do(t, l, func() {
			require.Equal(t, 5, c.Kept())
			require.True(t, c.Paused())
			require.Equal(t, int64(1), l.Stats().BlocksHeld)
			c.Resume()
		})
		require.Equal(t, "defgh", s.next(t), "kept bytes alone when the socket has none")
		peer.send("XYZ")
		quiet(t, l)
		do(t, l, c.Resume)
		require.Equal(t, "ghXYZ", s.next(t), "merged in front of newer bytes")
		require.NoError(t, peer.CloseWrite())
		quiet(t, l)
		do(t, l, c.Resume)
		require.Equal(t, "YZ", s.next(t))
		do(t, l, c.Resume)
		require.Equal(t, "eof", s.next(t), "after everything before it was consumed")
		quiet(t, l)
		do(t, l, func() { require.Zero(t, l.Stats().BlocksHeld) })
	})
}

// More than a block is kept and given again in one piece, whatever the handler consumes.
func TestLargeDeliveriesKept(t *testing.T) {
	l := start(t, Options{CPU: -1})
	want := pattern(300 << 10)
	var got []byte
	finished := make(chan struct{})
	s := newScript()
	step := 1
	s.data = func(c *Conn, b []byte) int {
		step = step*7%9973 + 1
		n := min(len(b), step)
		got = append(got, b[:n]...)
		c.Resume()
		if n < len(b) {
			l.Defer(&Deferred{Run: func(int64) { c.Resume() }})
		}
		return n
	}
	s.eof = func(*Conn) { close(finished) }
	_, peer := pair(t, l, s, func(c *Conn) { c.SetReadSize(ReadBuffer) })
	peer.send(string(want))
	require.NoError(t, peer.CloseWrite())
	await(t, finished, "the end")
	require.True(t, bytes.Equal(want, got))
}

func TestResumeIsCheapWhenNothingWaits(t *testing.T) {
	l, s := start(t, Options{CPU: -1}), newScript()
	c, peer := pair(t, l, s, nil)
	peer.send("x")
	s.next(t)
	do(t, l, func() {
		reads := l.Stats().Reads
		c.Pause()
		c.Resume()
		require.Nil(t, l.ready.head)
		require.Equal(t, reads, l.Stats().Reads)
	})
}

func TestConsumingTooMuchIsAPanic(t *testing.T) {
	l, s := start(t, Options{CPU: -1}), newScript()
	s.data = func(_ *Conn, b []byte) int { return len(b) + 1 }
	_, peer := pair(t, l, s, nil)
	peer.send("x")
	require.Equal(t, "close "+ErrPanic.Error(), s.next(t))
}

// endless is a socket that always has more.
type endless struct{ plainSocket }

func (endless) Read(_ *Conn, p []byte) (int, error) { return len(p), nil }

// A connection that never runs dry gets its budget each turn, and others are served in between.
func TestReadBudget(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		l, greedy, other := start(t, o), newScript(), newScript()
		perTurn := map[uint64]int{}
		stop := false
		greedy.data = func(c *Conn, b []byte) int {
			perTurn[l.turn] += len(b)
			if stop {
				c.Abort()
			}
			return len(b)
		}
		_, modest := pair(t, l, other, nil)
		_, peer := pair(t, l, greedy, func(c *Conn) { c.SetTransport(endless{}) })
		peer.send("go")
		for range 5 {
			modest.send("me too")
			require.True(t, strings.HasPrefix(other.next(t), "data me too"))
		}
		do(t, l, func() { stop = true })
		quiet(t, l)
		do(t, l, func() {
			require.NotEmpty(t, perTurn)
			for _, n := range perTurn {
				require.LessOrEqual(t, n, bytesPerTurn+defaultReadSize)
			}
		})
	})
}

func TestTransportIsReadUntilWouldBlock(t *testing.T) {
	l, s := start(t, Options{CPU: -1}), newScript()
	_, peer := pair(t, l, s, func(c *Conn) { c.SetTransport(&hoarder{}) })
	peer.send("x")
	for _, want := range []string{"data a", "data b", "data c"} {
		require.Equal(t, want, s.next(t))
	}
}

// hoarder gives short pieces although it has more, as TLS records do.
type hoarder struct {
	plainSocket
	given int
}

func (h *hoarder) Read(_ *Conn, p []byte) (int, error) {
	if h.given == 3 {
		return 0, ErrWouldBlock
	}
	p[0] = 'a' + byte(h.given)
	h.given++
	return 1, nil
}
