//go:build linux

package reactor

import (
	"bytes"
	"io"
	"math/rand"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// relayer writes to the other connection what comes, and hears what is relayed.
type relayer struct {
	script
	to      *Conn
	relayed int
	again   bool
}

// OnData copies what comes when the relay has ended for want of large pieces, and
// begins it again where a test cannot do without.
func (r *relayer) OnData(c *Conn, b []byte) int {
	r.to.Write(b)
	if r.again {
		c.RelayTo(r.to)
	}
	return len(b)
}

func (r *relayer) OnRelayed(_ *Conn, n int) { r.relayed += n }

func (r *relayer) OnEOF(*Conn) { r.to.CloseWrite() }

// relayed makes a pair of connections of which one is relayed to the other.
func relayed(t *testing.T, l *Loop) (from, to *Conn, source, sink *client, r *relayer) {
	r = &relayer{script: *newScript(), again: true}
	from, source = pair(t, l, &r.script, nil)
	to, sink = pair(t, l, newScript(), nil)
	do(t, l, func() {
		r.to = to
		from.SetHandler(r)
		require.True(t, from.RelayTo(to))
		require.False(t, from.RelayTo(to), "once is enough")
	})
	return from, to, source, sink, r
}

// Bytes arrive as they were sent, whatever the pace of the reader, and the end
// comes behind them.
func TestRelay(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		l := start(t, o)
		from, _, source, sink, r := relayed(t, l)
		data := make([]byte, 24<<20)
		rand.New(rand.NewSource(1)).Read(data)
		go func() {
			_, _ = source.Write(data)
			_ = source.CloseWrite()
		}()
		got, piece := make([]byte, 0, len(data)), make([]byte, 1<<20)
		for {
			n, err := sink.Read(piece[:1+rand.Intn(len(piece))])
			got = append(got, piece[:n]...)
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
		}
		require.True(t, bytes.Equal(data, got))
		do(t, l, func() {
			// What comes in small pieces for a while, as a busy machine may have it, is copied.
			require.Positive(t, r.relayed)
			require.Equal(t, uint64(r.relayed), l.Stats().Relayed)
			require.Equal(t, uint64(len(data)), from.BytesIn())
			require.Equal(t, uint64(len(data)), r.to.BytesOut())
			require.False(t, from.Relaying(), "the end gives the pipe back")
			require.Len(t, l.pipes, 1)
		})
	})
}

// What was written before goes first.
func TestRelayGoesBehindWhatWasWritten(t *testing.T) {
	l := start(t, Options{CPU: -1})
	_, to, source, sink, _ := relayed(t, l)
	do(t, l, func() { to.Write([]byte("first ")) })
	source.send("second")
	sink.expect("first second")
}

// A flow that has become thin is copied again.
func TestThinRelayEnds(t *testing.T) {
	l := start(t, Options{CPU: -1})
	from, _, source, sink, r := relayed(t, l)
	r.again = false
	for range maxScant {
		source.send("x")
		sink.expect("x")
	}
	source.send("copied")
	sink.expect("copied")
	do(t, l, func() {
		require.False(t, from.Relaying())
		require.Equal(t, maxScant, r.relayed)
		require.Len(t, l.pipes, 1)
		require.True(t, from.RelayTo(r.to))
		require.Empty(t, l.pipes)
	})
}

// Whoever ends first, the pipe is given back, and nothing stays open.
func TestRelayEndsWithItsConnections(t *testing.T) {
	for name, end := range map[string]func(from, to *Conn){
		"the source":      func(from, _ *Conn) { from.Abort() },
		"the destination": func(_, to *Conn) { to.Abort() },
	} {
		t.Run(name, func(t *testing.T) {
			l := start(t, Options{CPU: -1})
			before := descriptors(t)
			from, to, source, sink, _ := relayed(t, l)
			source.send("x")
			sink.expect("x")
			do(t, l, func() { end(from, to) })
			do(t, l, func() {
				require.Nil(t, from.relay)
				require.Nil(t, to.relayed)
				require.Len(t, l.pipes, 1)
				l.closePipes()
				l.pipeCount = 0
			})
			source.Close()
			sink.Close()
			do(t, l, func() { from.Abort(); to.Abort() })
			require.Eventually(t, func() bool { return descriptors(t) <= before }, patience, time.Millisecond)
		})
	}
}

// A destination that takes nothing has its time, also for what lies in the pipe.
func TestStuckRelay(t *testing.T) {
	l := start(t, Options{CPU: -1})
	s := newScript()
	from, source := pair(t, l, newScript(), nil)
	to, _ := pair(t, l, s, nil)
	do(t, l, func() {
		r := &relayer{script: *newScript(), to: to, again: true}
		from.SetHandler(r)
		to.SetWriteTimeout(int64(50 * time.Millisecond))
		require.True(t, from.RelayTo(to))
	})
	go func() { _, _ = source.Write(make([]byte, 64<<20)) }()
	require.Contains(t, s.next(t), "close")
	do(t, l, func() { require.Nil(t, to.relayed) })
}

// Bytes in the pipe cannot follow a close: the peer sees that it was cut.
func TestCloseOfAStuckRelay(t *testing.T) {
	l := start(t, Options{CPU: -1})
	_, to, source, sink, _ := relayed(t, l)
	go func() { _, _ = source.Write(make([]byte, 64<<20)) }()
	require.Eventually(t, func() (held bool) {
		do(t, l, func() { held = to.OverHigh() })
		return held
	}, patience, time.Millisecond)
	do(t, l, to.Close)
	_, err := io.Copy(io.Discard, sink)
	require.ErrorIs(t, err, unix.ECONNRESET)
}

// stall has source send until its bytes lie in the pipe.
func stall(t *testing.T, l *Loop, from *Conn, source *client, data []byte) {
	t.Helper()
	go func() { _, _ = source.Write(data) }()
	require.Eventually(t, func() (stuck bool) {
		do(t, l, func() { stuck = from.stuck() })
		return stuck
	}, patience, time.Millisecond)
}

// A client that goes is noticed while its bytes wait for somebody who takes none.
func TestStuckRelayHearsOfAReset(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		l, s := start(t, o), newScript()
		from, source := pair(t, l, s, nil)
		to, _ := pair(t, l, newScript(), nil)
		do(t, l, func() {
			from.SetHandler(&relayer{script: *s, to: to, again: true})
			require.True(t, from.RelayTo(to))
		})
		stall(t, l, from, source, make([]byte, 64<<20))
		source.reset()
		require.Contains(t, s.next(t), "close")
		do(t, l, func() {
			require.Nil(t, to.relayed)
			require.Zero(t, l.Memory().Used())
			require.Zero(t, l.pipeCount, "a pipe that is not empty is of no use to others")
		})
	})
}

// What an upstream said before it broke comes first, in order, and then the news.
func TestStuckRelayDeliversBeforeAReset(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		l, s := start(t, o), newScript()
		ln := listen(t)
		from := dialed(t, l, s, ln.Addr().String())
		source := accept(t, ln)
		to, sink := pair(t, l, newScript(), nil)
		r := &relayer{script: *s, to: to, again: true}
		do(t, l, func() {
			from.SetHandler(r)
			require.True(t, from.RelayTo(to))
		})
		data := pattern(64 << 20)
		stall(t, l, from, source, data)
		source.reset()
		var least int
		do(t, l, func() {
			require.False(t, from.Closed())
			least = r.relayed + from.relay.held
		})
		got := make([]byte, least)
		_, err := io.ReadFull(sink, got)
		require.NoError(t, err)
		require.True(t, bytes.Equal(data[:least], got))
		go func() { _, _ = io.Copy(io.Discard, sink) }()
		require.Contains(t, s.next(t), "close")
	})
}

// A low mark for queues bounds what lies in a pipe, and so does the budget.
func TestRelayedPieces(t *testing.T) {
	memory := NewMemory(1 << 20)
	for high, want := range map[int]int{0: relaySize, 8 << 20: relaySize, 100 << 10: 200 << 10, 1 << 10: minPipe} {
		l := start(t, Options{CPU: -1, High: high, Memory: memory})
		do(t, l, func() {
			require.Equal(t, want, l.relayPiece())
			memory.Add(2 << 20)
			require.Equal(t, BlockSize, l.relayPiece())
			memory.Add(-2 << 20)
		})
	}
}

func TestPipesAreBounded(t *testing.T) {
	l := start(t, Options{CPU: -1})
	do(t, l, func() { l.pipeCount = maxPipes })
	a, _ := pair(t, l, newScript(), nil)
	b, _ := pair(t, l, newScript(), nil)
	do(t, l, func() {
		a.SetHandler(&relayer{script: *newScript(), to: b})
		require.False(t, a.RelayTo(b))
		l.pipeCount = 0
	})
}

func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(all)
}
