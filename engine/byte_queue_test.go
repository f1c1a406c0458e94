package engine

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/corelane/corelane/engine/reactor"
)

// newIdleLoop is a loop that does not run, for what only needs its memory.
func newIdleLoop(t *testing.T) *reactor.Loop {
	l, err := reactor.NewLoop(reactor.Options{CPU: -1})
	require.NoError(t, err)
	t.Cleanup(func() {
		l.Stop()
		require.NoError(t, l.Run())
	})
	return l
}

// Whatever is put in comes out in order, in pieces of any size, and the memory in use is
// what the queue holds.
func TestByteQueueIsAQueue(t *testing.T) {
	l := newIdleLoop(t)
	rapid.Check(t, func(t *rapid.T) {
		var q byteQueue
		var want []byte
		next := byte(0)
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				p := make([]byte, rapid.OneOf(rapid.IntRange(1, 700), rapid.IntRange(1, 50000)).Draw(t, "size"))
				for i := range p {
					next++
					p[i] = next
				}
				q.add(l, p)
				want = append(want, p...)
			},
			"drop": func(t *rapid.T) {
				if len(want) == 0 {
					t.Skip("empty")
				}
				front := q.front()
				n := rapid.IntRange(1, len(front)).Draw(t, "n")
				if !bytes.Equal(front, want[:len(front)]) {
					t.Fatal("another front")
				}
				q.drop(l, n)
				want = want[n:]
			},
			"release": func(*rapid.T) {
				q.release(l)
				want = nil
			},
			"": func(t *rapid.T) {
				if q.size != len(want) || !bytes.Equal(q.join(nil), want) {
					t.Fatalf("holds %d bytes of %d", q.size, len(want))
				}
				if used := l.Memory().Used(); used != int64(len(q.blocks)*reactor.BlockSize+cap(q.small)) {
					t.Fatal("bytes in the books", used, "blocks", len(q.blocks), "small", cap(q.small))
				}
			},
		})
		q.discard(l)
		if l.Memory().Used() != 0 || l.Stats().BlocksHeld != 0 {
			t.Fatal("the queue has gone, and its memory is in use")
		}
	})
}

// A small queue needs no block, and an empty one keeps little.
func TestByteQueueOfSmallContents(t *testing.T) {
	l := newIdleLoop(t)
	var q byteQueue
	require.Empty(t, q.front())
	q.add(l, make([]byte, smallQueue))
	require.Empty(t, q.blocks)
	q.release(l)
	require.Zero(t, cap(q.small))
	q.add(l, make([]byte, 100))
	kept := cap(q.small)
	q.release(l)
	require.Equal(t, kept, cap(q.small))
	require.Equal(t, int64(kept), l.Memory().Used())
	q.add(l, make([]byte, 100))
	q.add(l, make([]byte, smallQueue))
	require.Len(t, q.blocks, 1)
	require.Len(t, q.front(), smallQueue+100)
	q.discard(l)
	require.Zero(t, l.Memory().Used())
}
