package reactor

import (
	"io"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

// forwarder is a proxy in its simplest form: a head in front of what the client sends, and the answer back.
type forwarder struct {
	client, upstream *Conn
}

func (r *forwarder) OnData(c *Conn, b []byte) int {
	if c == r.client {
		r.upstream.Commit(append(r.upstream.Stage(), "head "...))
		r.upstream.Write(b)
	} else {
		r.client.Commit(append(r.client.Stage(), "head "...))
		r.client.Write(b)
	}
	return len(b)
}
func (r *forwarder) OnEOF(c *Conn)        { c.Close() }
func (r *forwarder) OnDrain(*Conn)        {}
func (r *forwarder) OnClose(*Conn, error) {}
func (r *forwarder) OnConnect(*Conn)      {}

// proxied is a client whose bytes go through a loop to an echo server on another.
func proxied(t testing.TB, o Options) (*Loop, *client) {
	l, origin := start(t, o), start(t, o)
	_, address := serve(t, func(*Conn) Handler { return echo{} }, origin)
	target, err := ParseAddr(address)
	require.NoError(t, err)
	_, address = serve(t, func(c *Conn) Handler {
		r := &forwarder{client: c}
		if r.upstream, err = l.Dial(target, netip.Addr{}, r); err != nil {
			return nil
		}
		return r
	}, l)
	return l, dial(t, address)
}

// The price of an exchange: two reads, two writes, no allocation, for small bodies and for large ones.
func TestExchangeCosts(t *testing.T) {
	forPollers(t, func(t *testing.T, o Options) {
		for name, size := range map[string]int{"small": 128, "large": 12_000} {
			t.Run(name, func(t *testing.T) {
				l, c := proxied(t, o)
				request, answer := pattern(size), make([]byte, size+10)
				exchange := func() {
					_, _ = c.Write(request)
					_, _ = io.ReadFull(c, answer)
				}
				for range 100 {
					exchange()
				}
				var before, after Stats
				do(t, l, func() { before = *l.Stats() })
				allocs := testing.AllocsPerRun(100, exchange)
				if o.Poller == PollerGnet {
					allocs = max(0, allocs-4) // gnet's queue makes a node for each turn, here four of them
				}
				require.Zero(t, allocs)
				do(t, l, func() { after = *l.Stats() })
				const n = 101 // AllocsPerRun runs once more
				require.Equal(t, uint64(2*n), after.Writes-before.Writes)
				require.InDelta(t, 2*n, after.Reads-before.Reads, n/10) // a large body may arrive in two pieces
				require.Equal(t, string(request), string(answer[10:]))
			})
		}
	})
}

func BenchmarkExchange(b *testing.B) {
	for _, name := range []string{PollerEpoll, PollerGnet} {
		b.Run(name, func(b *testing.B) {
			_, c := proxied(b, Options{CPU: -1, Poller: name})
			request, answer := pattern(128), make([]byte, 138)
			b.ReportAllocs()
			for range b.N {
				_, _ = c.Write(request)
				_, _ = io.ReadFull(c, answer)
			}
		})
	}
}
