package engine

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/pool"
)

// Requests that must not be under way twice have no hedge, however long they
// take.
func TestNoHedge(t *testing.T) {
	const put = "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: "
	cases := []struct {
		name, request string
		change        func(*setup)
	}{
		{"unsafe method", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi", nil},
		{"unknown method", "BREW / HTTP/1.1\r\nHost: a\r\n\r\n", nil},
		{"upgrade", "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", nil},
		{"off", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", func(s *setup) { s.retries.Hedge = 0 }},
		{"no attempts", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", func(s *setup) { s.retries.Attempts = 0 }},
		{"one endpoint", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", func(s *setup) { s.endpoints = s.endpoints[:1] }},
		{"body that is not held", put + "600\r\n\r\n" + strings.Repeat("x", 600), func(s *setup) { s.options.High, s.options.Low = 512, 256 }},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			r := newRace(t, tc.change)
			c := r.dial().send(tc.request)
			up := r.begin()
			r.fire()
			up.send(answer("only"))
			c.expect(200, "only")
			require.Zero(t, r.stats().Hedges)
			require.NotContains(t, r.records.next(t), "retried")
			r.settled(0)
		})
	}
}

func TestHedgeSendsTheWholeBodyAgain(t *testing.T) {
	body := strings.Repeat("0123456789abcdef", 4<<10)
	for name, request := range map[string][2]string{
		"length": {fmt.Sprintf("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s", len(body), body[:1000]), body[1000:]},
		"chunked": {
			"PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n" + body[:1000],
			fmt.Sprintf("\r\n%x\r\n%s\r\n0\r\nX-Sum: 1\r\n\r\n", len(body)-1000, body[1000:]),
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRace(t, nil)
			c := r.dial().send(request[0])
			first := r.next()
			first.readUntil(body[900:1000])
			require.False(t, r.fire(), "the client is still sending")
			c.send(request[1])
			first.readUntil(body[len(body)-100:])
			r.eventually(r.fire)
			second := r.next()
			got := second.requestHead()
			sent, err := io.ReadAll(got.Body)
			require.NoError(t, err)
			require.Equal(t, body, string(sent))
			if name == "chunked" {
				require.Equal(t, "1", got.Trailer.Get("X-Sum"))
			}
			second.send(answer("second"))
			c.expect(200, "second")
			first.expectCut()
			r.settled(1)
		})
	}
}

// A hedge is a retry in flight: it takes a place in the budget and gives it back
// as soon as the first try turns out to be enough.
func TestHedgeAndBudget(t *testing.T) {
	r := newRace(t, func(s *setup) { s.retries.Budget = 1 })
	var firsts, clients []*peer
	for range minRetries + 1 {
		c, up := r.dial().get("/"), r.begin()
		clients, firsts = append(clients, c), append(firsts, up)
	}
	for range minRetries {
		r.fireNewest()
		r.begin()
	}
	require.Equal(t, int64(minRetries), r.server.retrying.Load())
	r.fireNewest()
	require.Equal(t, uint64(1), r.stats().RetriesDenied)
	require.Equal(t, uint64(minRetries), r.stats().Hedges)

	const half = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n12"
	for i, up := range firsts {
		up.send(half)
		clients[i].readUntil("12")
	}
	require.Zero(t, r.server.retrying.Load(), "what goes on is no retry")
	for _, up := range firsts {
		up.send("34")
	}
	r.settled(minRetries)
}

func TestBudgetIsAShareOfTheOthers(t *testing.T) {
	r := newRace(t, func(s *setup) { s.retries.Budget = 20 })
	const live = 30
	for range live {
		r.dial().get("/")
		r.begin()
	}
	r.on(func(w *worker) {
		for x := w.oldest; x != nil; x = x.next {
			x.OnTimer(clockHedge, w.loop.Now())
		}
	})
	got := r.stats() // 5 beside 25 others; a sixth would be more than a fifth of them
	require.Equal(t, [2]uint64{5, live - 5}, [2]uint64{got.Hedges, got.RetriesDenied})
}

// The other endpoint gets a hedge only where it would get a first try.
func TestHedgeSparesTheOtherEndpoint(t *testing.T) {
	for name, spare := range map[string]func(e *pool.Endpoint, now int64){
		"draining":  func(e *pool.Endpoint, now int64) { e.SetDraining(true, now) },
		"unhealthy": func(e *pool.Endpoint, now int64) { e.SetHealth(pool.Unhealthy, now) },
		"warming up": func(e *pool.Endpoint, now int64) {
			e.SetHealth(pool.Unhealthy, now)
			e.SetHealth(pool.Healthy, now)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRace(t, func(s *setup) { s.warmUp = time.Hour })
			c, first := r.dial().get("/"), r.begin()
			for _, address := range r.setup.endpoints {
				if address != first.endpoint() {
					e, err := r.registry.Endpoint("origin", address, "")
					require.NoError(t, err)
					r.on(func(w *worker) { spare(e, w.loop.Now()) })
				}
			}
			require.True(t, r.fire())
			first.send(answer("first"))
			c.expect(200, "first")
			require.Zero(t, r.stats().Hedges)
			r.settled(0)
		})
	}
}

// A reset is no failing over where nobody else may be asked.
func TestResetsOfTheOnlyEndpointAreCharged(t *testing.T) {
	r := newRace(t, func(s *setup) {
		s.retries.Budget = 1
		s.endpoints, s.spare = s.endpoints[:1], []string{refusing(t)}
	})
	var ups []*peer
	for range minRetries + 2 {
		r.dial().get("/")
		ups = append(ups, r.begin())
	}
	for _, up := range ups {
		up.reset()
	}
	r.eventually(func() bool { return r.stats().RetriedReset+r.stats().RetriesDenied == minRetries+2 })
	require.Equal(t, uint64(minRetries), r.stats().RetriedReset)
}

// fireNewest makes the clock of one exchange run out that has no hedge yet.
func (r *race) fireNewest() {
	r.on(func(w *worker) {
		for x := w.newest; x != nil; x = x.prev {
			if x.hedge == nil {
				w.loop.Disarm(&x.upClock)
				x.OnTimer(clockHedge, w.loop.Now())
				return
			}
		}
	})
}

// The other endpoint is no help: the first try goes on.
func TestHedgeWithoutAConnection(t *testing.T) {
	t.Run("refused", func(t *testing.T) {
		o := newOrigin(t)
		r := raceOf(t, func(s *setup) {
			s.endpoints = append(s.endpoints, refusing(t))
			s.balance = pool.RoundRobin
		}, o)
		c, up := r.dial(), (*peer)(nil)
		for range 3 {
			c.get("/")
			if up == nil {
				up = r.next()
			}
			up.request()
			r.fire()
			up.send(answer("good"))
			c.expect(200, "good")
		}
		got := r.stats() // begun at the other endpoint, a request is retried instead
		require.Equal(t, uint64(3), got.Hedges+got.RetriedConnect)
	})
	t.Run("queued until it is not needed any more", func(t *testing.T) {
		r := newRace(t, func(s *setup) {
			s.limits = pool.Limits{MaxConnections: 1, MaxWaiting: 1, Wait: time.Hour, Idle: time.Minute}
		})
		one, a := r.dial().get("/1"), r.begin()
		r.dial().get("/2")
		b := r.begin() // least requests: at the other endpoint
		require.NotEqual(t, a.endpoint(), b.endpoint())
		require.True(t, r.fire())
		require.Equal(t, uint64(1), r.stats().Pool.Waited)
		a.send(answer("first"))
		one.expect(200, "first")
		require.Equal(t, uint64(1), r.stats().Pool.Cancelled)
		require.Contains(t, r.records.next(t), `"retried":["hedge_lost `+b.endpoint()+`"]`)
		b.send(answer("other"))
		r.settled(1)
	})
	t.Run("too many wait", func(t *testing.T) {
		r := newRace(t, func(s *setup) {
			s.limits = pool.Limits{MaxConnections: 1, MaxWaiting: 1, Wait: time.Hour, Idle: time.Minute}
		})
		one, a := r.dial().get("/1"), r.begin()
		r.dial().get("/2")
		b := r.begin()
		third := r.dial().get("/3")
		r.eventually(func() bool { return r.stats().Pool.Waited == 1 })
		require.True(t, r.fire())
		a.send(answer("first"))
		one.expect(200, "first")
		require.Contains(t, r.records.next(t), `"retried":["pool `+b.endpoint()+`"]`)
		b.send(answer("other"))
		for _, up := range []*peer{a, b} { // whichever endpoint the third waits for
			go func() {
				if _, err := up.in.Peek(1); err == nil {
					up.request()
					up.send(answer("third"))
				}
			}()
		}
		third.expect(200, "third")
		r.settled(1)
	})
}

// Both answers are there when the loop looks: one of them reaches the client and
// nothing of the other, whose connection is not used again.
func TestTwoAnswersAtOneTime(t *testing.T) {
	r := newRace(t, nil)
	c, first, second := r.hedged()
	goOn := r.stopLoop()
	first.send(answer("first"))
	second.send(answer("second"))
	goOn()
	require.NoError(t, c.conn.CloseWrite())
	status, head, body := c.response("GET")
	require.Equal(t, 200, status)
	require.Equal(t, head.Get("X-Of"), body)
	c.expectClosed()
	lost := first
	if body == "first" {
		lost = second
	}
	lost.expectCut()
	r.settled(1)
	require.Equal(t, 1, r.stats().Pool.Idle)
}

// What is final for the last try is final for the exchange.
func TestLastOfTwoTriesFailsForGood(t *testing.T) {
	r := newRace(t, nil)
	c, first, second := r.hedged()
	first.reset()
	r.eventually(func() bool { return r.failures(first) == 1 })
	second.send("garbage\r\n")
	c.expectReason(codec.UpstreamBadResponse)
	require.Contains(t, r.records.next(t), `"retried":["reset `+first.endpoint()+`"]`)
	r.settled(1)
}
