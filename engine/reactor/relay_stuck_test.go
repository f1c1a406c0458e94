//go:build linux

package reactor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// stuckRelay is a pair whose destination takes nothing: bytes wait in the pipe.
type stuckRelay struct {
	l            *Loop
	from, to     *Conn
	source, sink *client
	heard        *script // by from
	ended        *script // by to
}

func newStuckRelay(t *testing.T, o Options) *stuckRelay {
	s := &stuckRelay{l: start(t, o), heard: newScript(), ended: newScript()}
	s.from, s.source = pair(t, s.l, s.heard, nil)
	s.to, s.sink = pair(t, s.l, s.ended, nil)
	do(t, s.l, func() {
		s.from.SetHandler(&relayer{script: *s.heard, to: s.to, again: true})
		require.True(t, s.from.RelayTo(s.to))
	})
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = s.source.Write(make([]byte, 64<<20))
	}()
	t.Cleanup(func() {
		s.source.Close()
		<-sent
	})
	require.Eventually(t, func() (stuck bool) {
		do(t, s.l, func() { stuck = s.from.stuck() })
		return stuck
	}, patience, time.Millisecond)
	return s
}

// Who breaks while bytes wait is noticed at once, although the source is not read.
func TestStuckRelayBreaks(t *testing.T) {
	tests := []struct {
		name string
		act  func(s *stuckRelay)
		want func(t *testing.T, s *stuckRelay)
	}{
		{"the source resets", func(s *stuckRelay) { s.source.reset() }, func(t *testing.T, s *stuckRelay) {
			require.Equal(t, "close ECONNRESET", s.heard.next(t))
		}},
		{"the destination resets", func(s *stuckRelay) { s.sink.reset() }, func(t *testing.T, s *stuckRelay) {
			require.Contains(t, []string{"close ECONNRESET", "close EPIPE"}, s.ended.next(t))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			forPollers(t, func(t *testing.T, o Options) {
				s := newStuckRelay(t, o)
				tt.act(s)
				tt.want(t, s)
				quiet(t, s.l)
				do(t, s.l, func() {
					require.Zero(t, s.l.Memory().Used(), "nothing is counted any more")
					require.Nil(t, s.from.relay)
					require.Nil(t, s.to.relayed)
				})
			})
		})
	}
}
