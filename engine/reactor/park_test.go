package reactor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// parker writes small when data comes and runs a step behind that, with the
// write parked.
type parker struct {
	script
	step func(c *Conn)
}

func (p *parker) OnData(c *Conn, b []byte) int {
	c.Write([]byte("first "))
	d := &Deferred{Run: func(int64) { p.step(c) }}
	c.Loop().Defer(d)
	return len(b)
}

func TestParkedWrites(t *testing.T) {
	big := strings.Repeat("x", parkLimit+1)
	cases := []struct {
		name string
		step func(t *testing.T, c *Conn)
		want string
		eof  bool
	}{
		{"leave with the batch", func(t *testing.T, c *Conn) {
			require.Equal(t, len("first "), len(c.parked))
			require.Equal(t, len("first "), c.Queued())
			require.Zero(t, c.BytesOut())
		}, "first ", false},
		{"go before a second write", func(_ *testing.T, c *Conn) { c.Write([]byte("second")) }, "first second", false},
		{"go before a big write", func(_ *testing.T, c *Conn) { c.Write([]byte(big)) }, "first " + big, false},
		{"are flushed", func(t *testing.T, c *Conn) {
			c.Flush()
			require.Equal(t, uint64(len("first ")), c.BytesOut())
		}, "first ", false},
		{"go before a FIN", func(_ *testing.T, c *Conn) { c.CloseWrite() }, "first ", true},
		{"go before the close", func(_ *testing.T, c *Conn) { c.Close() }, "first ", true},
		{"go before lingering", func(_ *testing.T, c *Conn) { c.Linger(int64(patience)) }, "first ", true},
		{"and drained is drained", func(t *testing.T, c *Conn) { c.NotifyEmpty() }, "first ", false},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			forPollers(t, func(t *testing.T, o Options) {
				l := start(t, o)
				p := &parker{script: *newScript()}
				p.step = func(c *Conn) { tc.step(t, c) }
				c, peer := pair(t, l, &p.script, nil)
				do(t, l, func() { c.SetHandler(p) })
				peer.send("go")
				peer.expect(tc.want)
				if tc.eof {
					peer.expectEOF()
				}
			})
		})
	}
}

func TestParkedWritesOfAnAbortedConnectionAreDropped(t *testing.T) {
	l := start(t, Options{CPU: -1})
	p := &parker{script: *newScript(), step: func(c *Conn) { c.Abort() }}
	c, peer := pair(t, l, &p.script, nil)
	do(t, l, func() { c.SetHandler(p) })
	peer.send("go")
	_, err := peer.Read(make([]byte, 10))
	require.ErrorContains(t, err, "reset")
	do(t, l, func() { require.Empty(t, l.lot.conns) })
}

// A batch with more writes than the lot holds sends some of them early.
func TestFullLot(t *testing.T) {
	l := start(t, Options{CPU: -1})
	type end struct {
		c    *Conn
		peer *client
	}
	var ends []end
	for range maxParked + 3 {
		c, peer := pair(t, l, newScript(), nil)
		ends = append(ends, end{c, peer})
	}
	do(t, l, func() {
		l.lot.open = true
		for _, e := range ends {
			e.c.Write([]byte("x"))
			l.park()
		}
		require.Len(t, l.lot.conns, 3)
		l.lot.open = false
		l.unpark()
	})
	for _, e := range ends {
		e.peer.expect("x")
	}
}

// A connection that gathers is written to in turn with others, and each of them in
// one system call.
func TestGatheringConnections(t *testing.T) {
	l := start(t, Options{CPU: -1})
	a, peerA := pair(t, l, newScript(), nil)
	b, peerB := pair(t, l, newScript(), nil)
	whole := strings.Repeat("y", bayLimit)
	do(t, l, func() {
		a.SetGathers()
		b.SetGathers()
		l.lot.open = true
		before := l.stats.Writes
		for range 100 {
			a.Write([]byte("a"))
			b.Write([]byte("b"))
		}
		l.park()
		require.Equal(t, before, l.stats.Writes)
		require.Len(t, a.parked, 100)
		require.Equal(t, 100, a.Queued())
		l.unpark()
		require.Equal(t, before+2, l.stats.Writes)
		require.Len(t, l.lot.bays, 2)

		a.Write([]byte("a"))
		b.Write([]byte("b"))
		a.Write([]byte(whole)) // no room behind what is parked
		b.Write([]byte("b"))
		require.Len(t, a.parked, bayLimit)
		a.Write([]byte(whole + "z")) // more than is ever parked
		l.lot.open = false
		l.park()
		l.unpark()
		require.Zero(t, a.Queued()+b.Queued())
	})
	peerA.expect(strings.Repeat("a", 101) + whole + whole + "z")
	peerB.expect(strings.Repeat("b", 102))
}
