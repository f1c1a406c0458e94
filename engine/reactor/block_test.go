package reactor

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func idleLoop(t testing.TB, o Options) *Loop {
	l, err := NewLoop(o)
	require.NoError(t, err)
	t.Cleanup(func() { l.Stop(); require.NoError(t, l.Run()) })
	return l
}

func TestBlocksAreDistinctAndCounted(t *testing.T) {
	m := NewMemory(3 * BlockSize)
	l := idleLoop(t, Options{CPU: -1, Memory: m})
	var held []*Block
	for i := range 3 * regionBlocks {
		b := l.GetBlock()
		require.Len(t, b.Bytes(), BlockSize)
		require.Equal(t, i >= 3, m.Over())
		copy(b.Bytes(), bytes.Repeat([]byte{byte(i)}, BlockSize))
		held = append(held, b)
	}
	require.Equal(t, int64(3*regionSize), m.Used())
	require.Equal(t, int64(3*BlockSize), m.Limit())
	require.Same(t, m, l.Memory())
	for i, b := range held {
		require.Equal(t, byte(i), b.Bytes()[0])
		require.Equal(t, byte(i), b.Bytes()[BlockSize-1])
		l.PutBlock(b)
	}
	require.Zero(t, m.Used())
	require.Zero(t, l.stats.BlocksHeld)
	m.Add(1 << 40)
	require.True(t, m.Over())
	require.False(t, NewMemory(0).Over(), "0 is no limit")
}

func TestLastBlockIsUsedFirst(t *testing.T) {
	l := idleLoop(t, Options{CPU: -1})
	a, b := l.GetBlock(), l.GetBlock()
	l.PutBlock(a)
	require.Same(t, a, l.GetBlock())
	l.PutBlock(b)
	l.PutBlock(a)
	require.Same(t, a, l.GetBlock())
	l.PutBlock(a)
	require.Panics(t, func() { l.PutBlock(a) }, "given back twice")
}

func TestUnusedMemoryIsGivenBack(t *testing.T) {
	a := &arena{}
	var held []*Block
	for range 2*regionBlocks + 1 {
		held = append(held, a.get())
	}
	require.Len(t, a.regions, 3)
	for _, b := range held[1:] {
		a.put(b)
	}
	more := true
	for range 2 * decayTicks {
		more = a.decay()
	}
	require.False(t, more, "nothing is left to watch")
	require.Nil(t, a.regions[1])
	require.Nil(t, a.regions[2])
	require.NotNil(t, a.regions[0], "one block is still held")
	require.Equal(t, regionBlocks-1, len(bitsOf(a.regions[0].dropped)))
	for range 2 * regionBlocks { // holes are filled again
		held = append(held, a.get())
	}
	require.Len(t, a.regions, 3)
	require.Equal(t, byte(0), held[len(held)-1].Bytes()[7])
	a.free()
}

func bitsOf(w uint64) (set []int) {
	for i := range 64 {
		if w&(1<<i) != 0 {
			set = append(set, i)
		}
	}
	return set
}

func TestBusyMemoryIsKept(t *testing.T) {
	a := &arena{}
	for range 3 * decayTicks {
		b := a.get()
		require.True(t, a.decay() || b.region.dropped != 0)
		a.put(b)
		a.decay()
		require.NotNil(t, a.regions[0])
	}
}

// A chain is a queue of bytes, whatever the sizes.
func TestChainAgainstModel(t *testing.T) {
	l := idleLoop(t, Options{CPU: -1})
	rnd := rand.New(rand.NewPCG(5, 6))
	var q chain
	var model []byte
	for range 2000 {
		switch rnd.IntN(3) {
		case 0:
			p := pattern(rnd.IntN(40_000))
			q.add(l, p)
			model = append(model, p...)
		case 1:
			n := rnd.IntN(len(model) + 1)
			q.drop(l, n)
			model = model[n:]
		default:
			pieces, total := q.pieces(make([][]byte, 0, 3))
			flat := bytes.Join(pieces, nil)
			require.Len(t, flat, total)
			require.True(t, bytes.HasPrefix(model, flat))
		}
		require.Equal(t, len(model), q.size)
	}
	flat := make([]byte, q.size)
	q.move(l, flat)
	require.True(t, bytes.Equal(model, flat))
	q.add(l, flat)
	q.clear(l)
	require.Zero(t, q.size)
	require.Zero(t, l.stats.BlocksHeld)
}

func TestBlocksAllocateNothing(t *testing.T) {
	l := idleLoop(t, Options{CPU: -1})
	l.PutBlock(l.GetBlock())
	require.Zero(t, testing.AllocsPerRun(1000, func() { l.PutBlock(l.GetBlock()) }))
}

func BenchmarkBlock(b *testing.B) {
	l := idleLoop(b, Options{CPU: -1})
	for range b.N {
		l.PutBlock(l.GetBlock())
	}
}
