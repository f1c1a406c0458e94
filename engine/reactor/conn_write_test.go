package reactor

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// smallBuffers makes a socket that takes little at once.
func smallBuffers(c *Conn) {
	_ = unix.SetsockoptInt(c.FD(), unix.SOL_SOCKET, unix.SO_SNDBUF, 4096)
}

func TestWritesOfOneCallbackLeaveTogether(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		l, s := start(t, o), newScript()
		c, peer := pair(t, l, s, nil)
		do(t, l, func() {
			writes := l.Stats().Writes
			c.Commit(append(c.Stage(), "head "...))
			c.Write([]byte("body "))
			c.Commit(append(c.Stage(), "tail"...))
			require.Equal(t, 14, c.Queued())
			require.Equal(t, writes, l.Stats().Writes)
			c.Flush()
			require.Equal(t, writes+1, l.Stats().Writes)
			require.Zero(t, c.Queued())
			require.Equal(t, uint64(14), c.BytesOut())
		})
		peer.expect("head body tail")
	})
}

func TestGatherListsOfTwoConnections(t *testing.T) {
	l, s := start(t, Options{CPU: -1}), newScript()
	a, peerA := pair(t, l, s, nil)
	b, peerB := pair(t, l, s, nil)
	do(t, l, func() {
		a.Commit(append(a.Stage(), "a1 "...))
		b.Commit(append(b.Stage(), "b1"...))
		a.Write([]byte("a2"))
	})
	peerA.expect("a1 a2")
	peerB.expect("b1")
}

func TestManyPieces(t *testing.T) {
	l, s := start(t, Options{CPU: -1}), newScript()
	c, peer := pair(t, l, s, nil)
	var want bytes.Buffer
	sizes := []int{1, 511, 512, 513, 2000, 9000, 3, 700}
	do(t, l, func() {
		for i := range 300 {
			p := bytes.Repeat([]byte{byte(i)}, sizes[i%len(sizes)])
			want.Write(p)
			switch i % 3 {
			case 0:
				c.Commit(append(c.Stage(), p...))
			default:
				c.Write(p)
			}
		}
	})
	got := make([]byte, want.Len())
	_, err := io.ReadFull(peer, got)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want.Bytes(), got))
}

// append may move what was staged; then it is queued where it lies.
func TestCommitOfOutgrownStage(t *testing.T) {
	l, s := start(t, Options{CPU: -1}), newScript()
	c, peer := pair(t, l, s, nil)
	want := pattern(scratchSize + 100)
	do(t, l, func() {
		c.Commit(append(c.Stage(), "small "...))
		c.Commit(append(c.Stage(), want...))
		c.Commit(c.Stage()) // nothing
	})
	peer.expect("small " + string(want))
}

// A head that is staged in front of a body from the read buffer goes out by one plain write.
func TestHeadIsPrepended(t *testing.T) {
	l, s := start(t, Options{CPU: -1}), newScript()
	var vectors int
	s.data = func(c *Conn, b []byte) int {
		c.Commit(append(c.Stage(), "HEAD:"...))
		c.Write(b[4:])
		return len(b)
	}
	_, peer := pair(t, l, s, func(c *Conn) { c.SetTransport(&countVectors{n: &vectors}) })
	body := string(pattern(3000))
	peer.send("skip" + body)
	peer.expect("HEAD:" + body)
	do(t, l, func() { require.Zero(t, vectors) })
}

type countVectors struct {
	plainSocket
	n *int
}

func (v *countVectors) Writev(c *Conn, pieces [][]byte) (int, error) {
	*v.n++
	return v.plainSocket.Writev(c, pieces)
}

func TestQueueOrderAndMarks(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		o.High, o.Low = 100_000, 20_000
		l, s := start(t, o), newScript()
		lows := make(chan int, 8)
		s.drain = func(c *Conn) { lows <- c.Queued() }
		c, peer := pair(t, l, s, smallBuffers)
		want := pattern(1 << 20)
		rest := want
		do(t, l, func() {
			for !c.OverHigh() {
				n := min(len(rest), 30_000)
				c.Write(rest[:n])
				rest = rest[n:]
				c.Flush()
			}
			require.Greater(t, c.Queued(), o.High)
			require.Positive(t, l.Stats().BlocksHeld)
			require.Equal(t, l.Stats().BlocksHeld*BlockSize, l.Memory().Used())
		})
		sent := want[:len(want)-len(rest)]
		got := make([]byte, len(sent))
		_, err := io.ReadFull(peer, got)
		require.NoError(t, err)
		require.True(t, bytes.Equal(sent, got))
		require.Equal(t, "drain", s.next(t))
		require.LessOrEqual(t, await(t, lows, "the mark"), o.Low)
		quiet(t, l)
		s.silent(t)
		do(t, l, func() {
			require.False(t, c.OverHigh())
			require.Zero(t, l.Stats().BlocksHeld)
			require.Zero(t, l.Memory().Used())
		})
	})
}

func TestNotifyEmpty(t *testing.T) {
	l, s := start(t, Options{CPU: -1, High: 61 << 20}), newScript()
	c, peer := pair(t, l, s, smallBuffers)
	do(t, l, func() { c.Write([]byte("taken at once")); c.NotifyEmpty() })
	require.Equal(t, "drain", s.next(t))
	peer.expect("taken at once")

	want := pattern(1 << 20)
	do(t, l, func() {
		c.Write(want)
		c.NotifyEmpty()
		c.Flush()
		require.Positive(t, c.Queued())
	})
	peer.expect(string(want))
	require.Equal(t, "drain", s.next(t))
	do(t, l, func() { require.Zero(t, c.Queued()) })
	s.silent(t)
}

func TestWriteTimeoutResets(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		l, s := start(t, o), newScript()
		c, peer := pair(t, l, s, smallBuffers)
		do(t, l, func() {
			c.SetWriteTimeout(int64(20e6))
			c.Write(pattern(1 << 20)) // more than the peer's buffer, and it does not read
		})
		require.Equal(t, "close "+ErrWriteTimeout.Error(), s.next(t))
		_, err := io.Copy(io.Discard, peer)
		require.ErrorIs(t, err, unix.ECONNRESET)
		quiet(t, l)
		do(t, l, func() { require.Zero(t, l.Stats().BlocksHeld) })
	})
}

func TestWriteTimeoutSetWhileQueued(t *testing.T) {
	l, s := start(t, Options{CPU: -1}), newScript()
	c, _ := pair(t, l, s, smallBuffers)
	do(t, l, func() { c.Write(pattern(1 << 20)) })
	do(t, l, func() {
		require.False(t, c.timer.Armed())
		c.SetWriteTimeout(1)
		c.SetWriteTimeout(0)
		require.False(t, c.timer.Armed())
		c.SetWriteTimeout(1)
	})
	require.Equal(t, "close "+ErrWriteTimeout.Error(), s.next(t))
}

func TestCloseWriteFollowsTheQueue(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		o.High = 61 << 20
		l, s := start(t, o), newScript()
		c, peer := pair(t, l, s, smallBuffers)
		want := pattern(1 << 20)
		do(t, l, func() {
			c.Write(want)
			c.CloseWrite()
			c.CloseWrite()
			c.Write([]byte("too late"))
			c.Commit(append(c.Stage(), "too late"...))
		})
		got, err := io.ReadAll(peer)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got))
		peer.send("but reading goes on")
		require.Equal(t, "data but reading goes on", s.next(t))
		require.NoError(t, peer.CloseWrite())
		require.Equal(t, "eof", s.next(t))
		do(t, l, c.Close)
	})
}

func TestCommitWithoutStage(t *testing.T) {
	l, s := start(t, Options{CPU: -1}), newScript()
	c, _ := pair(t, l, s, nil)
	do(t, l, func() {
		require.Panics(t, func() { c.Commit([]byte("x")) })
	})
}

// What an upstream sent before it broke is an answer: it is delivered before the failure is told.
func TestAnswerBeforeBrokenPipe(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		l, s := start(t, o), newScript()
		upstream := listen(t)
		c := dialed(t, l, s, upstream.Addr().String())
		peer := accept(t, upstream)
		do(t, l, c.Pause)
		peer.send("413 too large")
		peer.reset()
		quiet(t, l)
		s.silent(t) // paused, and there is something to read
		do(t, l, func() { c.Write([]byte("rest of the body")) })
		quiet(t, l)
		do(t, l, c.Resume)
		require.Equal(t, "data 413 too large", s.next(t))
		require.Equal(t, "close ECONNRESET", s.next(t))
	})
}
