package engine

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/engine/reactor"
)

// Any split gives the same body, read from any place.
func TestBufferHoldsAnySplit(t *testing.T) {
	g := newSetup(refusing(t)).start(t)
	done := make(chan struct{})
	g.server.workers[0].loop.Post(&reactor.Task{Run: func(l *reactor.Loop) {
		defer close(done)
		random := rand.New(rand.NewPCG(1, 2))
		for range 50 {
			var b buffer
			body := noise(random.IntN(5 * reactor.BlockSize))
			for rest := body; len(rest) > 0; {
				n := 1 + random.IntN(min(len(rest), 40000))
				b.add(l, rest[:n])
				rest = rest[n:]
			}
			at := int64(0)
			if len(body) > 0 {
				at = int64(random.IntN(len(body)))
			}
			got := bytes.Clone(body[:at])
			for int64(len(got)) < b.Len() {
				piece := b.At(int64(len(got)))
				if len(piece) == 0 {
					break
				}
				got = append(got, piece...)
			}
			if !bytes.Equal(body, got) || b.At(b.Len()) != nil || b.At(-1) != nil || b.Len() != int64(len(body)) {
				t.Error("what was put in does not come out", len(body), at)
			}
			b.release(l)
		}
	}})
	<-done
	require.Zero(t, g.stats().Reactor.BlocksHeld)
}
