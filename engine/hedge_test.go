package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
)

// race is a gateway before two endpoints, whose hedges begin when the test says
// so. Connections come to the test in the order in which they are accepted.
type race struct {
	*gateway
	arrived   chan *peer
	collector *Collector
}

// newRace starts one; the service hedges with two extra tries.
func newRace(t *testing.T, change func(*setup)) *race {
	t.Helper()
	a, b := newOrigin(t), newOrigin(t)
	return raceOf(t, change, a, b)
}

func raceOf(t *testing.T, change func(*setup), origins ...*origin) *race {
	t.Helper()
	r := &race{arrived: make(chan *peer, 64)}
	s := newSetup()
	for _, o := range origins {
		s.endpoints = append(s.endpoints, o.addr)
		go func() {
			for {
				conn, err := o.ln.Accept()
				if err != nil {
					return
				}
				r.arrived <- newPeer(t, conn)
			}
		}()
	}
	s.balance = pool.LeastRequests
	s.passive = pool.Passive{ConsecutiveFailures: 1000, Eject: time.Minute, MaxEjected: 50}
	s.retries = snapshot.Retries{
		Attempts: 2, Connect: true, Reset: true, Statuses: snapshot.StatusSet(0).With(503), Budget: 20, Hedge: time.Hour,
	}
	if change != nil {
		change(s)
	}
	r.gateway = s.start(t)
	r.collector = NewCollector(r.server)
	return r
}

// stats returns the totals since the start.
func (r *race) stats() *Stats {
	total := new(Stats)
	r.collector.Collect(patience, func(loops []*Stats, missing []int) {
		require.Empty(r.t, missing)
		total.Merge(loops[0])
	})
	return total
}

// next is the gateway's next connection to either endpoint.
func (r *race) next() *peer {
	r.t.Helper()
	select {
	case p := <-r.arrived:
		return p
	case <-time.After(patience):
		r.t.Fatal("no connection arrived")
		return nil
	}
}

// begin has the next connection read the request.
func (r *race) begin() *peer {
	p := r.next()
	p.request()
	return p
}

// on runs f on the loop.
func (r *race) on(f func(w *worker)) {
	done := make(chan struct{})
	w := r.server.workers[0]
	w.loop.Post(taskOf(func() {
		defer close(done)
		f(w)
	}))
	<-done
}

func taskOf(f func()) *reactor.Task { return &reactor.Task{Run: func(*reactor.Loop) { f() }} }

// fire makes the hedge's clock run out, and tells whether it ran.
func (r *race) fire() (armed bool) {
	r.on(func(w *worker) {
		x := w.oldest
		if armed = x.upClock.Armed() && x.upClock.Kind() == clockHedge; armed {
			w.loop.Disarm(&x.upClock)
			x.OnTimer(clockHedge, w.loop.Now())
		}
	})
	return armed
}

// hedged sends a request and returns its two tries.
func (r *race) hedged() (c, first, second *peer) {
	c = r.dial().get("/")
	first = r.begin()
	require.True(r.t, r.fire())
	return c, first, r.begin()
}

func (r *race) eventually(is func() bool) {
	r.t.Helper()
	require.Eventually(r.t, is, patience, time.Millisecond)
}

// settled wants nothing left of any try: no load, no failure, no retry in
// flight, no second try that is still lent.
func (r *race) settled(hedges int) {
	r.t.Helper()
	r.eventually(func() bool { return r.stats().LiveExchanges == 0 })
	require.Zero(r.t, r.server.retrying.Load())
	free, loads := 0, []serviceLoad(nil)
	r.on(func(w *worker) { free, loads = w.hedgeCount, append(loads, w.services...) })
	require.Equal(r.t, hedges, free)
	for _, load := range loads {
		require.Zero(r.t, load)
	}
	for _, address := range r.setup.endpoints {
		e, err := r.registry.Endpoint("origin", address, "")
		require.NoError(r.t, err)
		require.Zero(r.t, e.Active(), address)
	}
}

func (p *peer) endpoint() string { return p.conn.LocalAddr().String() }

const busy = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"

func answer(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nX-Of: %s\r\nContent-Length: %d\r\n\r\n%s", body, len(body), body)
}

func TestHedgeWins(t *testing.T) {
	r := newRace(t, nil)
	c, first, second := r.hedged()
	require.NotEqual(t, first.endpoint(), second.endpoint())
	second.send(answer("second"))
	require.Equal(t, "second", c.expect(200, "second").Get("X-Of"))
	first.expectCut()
	rec := r.records.next(t)
	require.Contains(t, rec, `"tries":2,"retried":["hedge_won `+first.endpoint()+`"]`)
	require.Contains(t, rec, `"endpoint":"`+second.endpoint()+`"`)
	r.settled(1)
	require.Equal(t, [2]uint64{1, 1}, [2]uint64{r.stats().Hedges, r.stats().HedgesWon})
	require.Equal(t, 1, r.stats().Pool.Idle, "the connection of the answer is kept")
}

func TestFirstTryWins(t *testing.T) {
	r := newRace(t, nil)
	c, first, second := r.hedged()
	first.send(answer("first"))
	require.Equal(t, "first", c.expect(200, "first").Get("X-Of"))
	second.expectCut()
	rec := r.records.next(t)
	require.Contains(t, rec, `"tries":2,"retried":["hedge_lost `+second.endpoint()+`"]`)
	require.Contains(t, rec, `"endpoint":"`+first.endpoint()+`"`)
	r.settled(1)
	require.Equal(t, [2]uint64{1, 0}, [2]uint64{r.stats().Hedges, r.stats().HedgesWon})
}

// What one endpoint began to say is never completed by what the other says.
func TestHalfAHeadOfTheLoserIsForgotten(t *testing.T) {
	const half = "HTTP/1.1 201 Evil\r\nX-Evil: 1\r\nContent-Le"
	for _, winner := range []string{"first", "second"} {
		t.Run(winner, func(t *testing.T) {
			r := newRace(t, nil)
			c, first, second := r.hedged()
			won, lost := first, second
			if winner == "second" {
				won, lost = second, first
			}
			lost.send(half)
			r.received(lost, len(half))
			won.send(answer(winner)[:30])
			r.received(won, 30)
			lost.send("ngth: 4\r\n\r\n"[:5])
			r.received(lost, len(half)+5)
			won.send(answer(winner)[30:])
			head := c.expect(200, winner)
			require.Empty(t, head.Get("X-Evil"))
			require.Equal(t, winner, head.Get("X-Of"))
			lost.expectCut()
			r.settled(1)
		})
	}
}

// received waits until the gateway has read n bytes of a connection.
func (r *race) received(p *peer, n int) {
	require.Eventually(r.t, func() bool {
		got := uint64(0)
		r.on(func(w *worker) {
			for _, t := range []*try{w.oldest.lead, w.oldest.rival} {
				if u := t.up.(*upstreamConn); u.ep.Address() == p.endpoint() {
					got = u.conn.BytesIn()
				}
			}
		})
		return got == uint64(n)
	}, patience, time.Millisecond)
}

// failures are ways in which a try ends badly, with what the log says of it.
var failures = map[string]func(*peer){
	"reset":        func(p *peer) { p.reset() },
	"503":          func(p *peer) { p.send(busy) },
	"bad_response": func(p *peer) { p.send("SSH-2.0-OpenSSH\r\n") },
}

func TestOneOfTwoTriesFails(t *testing.T) {
	for why, fail := range failures {
		t.Run("first, "+why, func(t *testing.T) {
			r := newRace(t, nil)
			c, first, second := r.hedged()
			fail(first)
			first.expectCut()
			second.send(answer("second"))
			require.Equal(t, "second", c.expect(200, "second").Get("X-Of"))
			require.Contains(t, r.records.next(t), `"retried":["`+why+` `+first.endpoint()+`"]`)
			r.settled(1)
			require.Equal(t, uint64(1), r.stats().HedgesWon)
			require.Zero(t, r.stats().Retries)
		})
		t.Run("hedge, "+why, func(t *testing.T) {
			r := newRace(t, nil)
			c, first, second := r.hedged()
			fail(second)
			r.eventually(func() bool { return r.server.retrying.Load() == 0 })
			require.False(t, r.fire(), "one hedge is enough")
			first.send(answer("first"))
			require.Equal(t, "first", c.expect(200, "first").Get("X-Of"))
			require.Contains(t, r.records.next(t), `"retried":["`+why+` `+second.endpoint()+`"]`)
			r.settled(1)
		})
	}
}

func TestBothTriesFail(t *testing.T) {
	t.Run("and there is one more attempt", func(t *testing.T) {
		r := newRace(t, nil)
		c, first, second := r.hedged()
		first.send(busy)
		first.expectCut()
		second.send(busy)
		third := r.begin()
		third.send(answer("third"))
		require.Equal(t, "third", c.expect(200, "third").Get("X-Of"))
		require.Contains(t, r.records.next(t), fmt.Sprintf(
			`"tries":3,"retried":["503 %s","503 %s"]`, first.endpoint(), second.endpoint()))
		r.settled(1)
		require.Zero(t, r.stats().HedgesWon, "the third try is a retry")
	})
	t.Run("and there is none", func(t *testing.T) {
		r := newRace(t, func(s *setup) { s.retries.Attempts = 1 })
		c, first, second := r.hedged()
		second.send(busy)
		second.expectCut()
		first.reset()
		c.expectReason(codec.UpstreamReset)
		require.Contains(t, r.records.next(t), `"tries":2,"retried":["503 `+second.endpoint()+`"]`)
		r.settled(1)
	})
	t.Run("and the last says so itself", func(t *testing.T) {
		r := newRace(t, func(s *setup) { s.retries.Attempts = 1 })
		c, first, second := r.hedged()
		first.reset()
		r.eventually(func() bool { return r.failures(first) == 1 })
		second.send(busy)
		c.expect(503, "")
		r.settled(1)
	})
}

// failures is what passive ejection has counted of an endpoint.
func (r *race) failures(p *peer) int64 {
	e, err := r.registry.Endpoint("origin", p.endpoint(), "")
	require.NoError(r.t, err)
	return e.Failures()
}

// Whatever ends the exchange ends both tries, and blames no endpoint for it.
func TestBothTriesEnd(t *testing.T) {
	t.Run("with the client", func(t *testing.T) {
		r := newRace(t, nil)
		c, first, second := r.hedged()
		c.reset()
		first.expectCut()
		second.expectCut()
		require.Contains(t, r.records.next(t), `"reason":"client_aborted"`)
		r.settled(1)
		require.Zero(t, r.failures(first)+r.failures(second))
	})
	t.Run("with the total time", func(t *testing.T) {
		r := newRace(t, nil)
		c, first, second := r.hedged()
		r.on(func(w *worker) { w.oldest.OnTimer(clockTotal, w.loop.Now()) })
		c.expectReason(codec.TotalTimeout)
		first.expectCut()
		second.expectCut()
		r.settled(1)
		require.Zero(t, r.failures(first)+r.failures(second))
	})
	t.Run("each with its own per_try", func(t *testing.T) {
		r := newRace(t, func(s *setup) { s.retries.Attempts, s.retries.PerTry = 1, time.Hour })
		c, first, second := r.hedged()
		r.on(func(w *worker) {
			assert.True(t, w.oldest.lead.limit.Armed() && w.oldest.rival.limit.Armed())
			w.oldest.lead.OnTimer(clockPerTry, w.loop.Now())
		})
		first.expectCut()
		r.on(func(w *worker) { w.oldest.lead.OnTimer(clockPerTry, w.loop.Now()) })
		second.expectCut()
		c.expectReason(codec.UpstreamTimeout)
		require.Contains(t, r.records.next(t), `"retried":["per_try `+first.endpoint()+`"]`)
		r.settled(1)
		require.Equal(t, int64(2), r.failures(first)+r.failures(second))
	})
}

func TestHedgeStartsByItself(t *testing.T) {
	r := newRace(t, func(s *setup) { s.retries.Hedge = 10 * time.Millisecond })
	c := r.dial().get("/")
	first := r.begin()
	r.begin().send(answer("second"))
	c.expect(200, "second")
	first.expectCut()
	r.settled(1)
}

func TestInterimAndHedge(t *testing.T) {
	const hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
	t.Run("none begins after a hint", func(t *testing.T) {
		r := newRace(t, nil)
		c := r.dial().get("/")
		first := r.begin()
		first.send(hints)
		c.readUntil("\r\n\r\n")
		r.fire()
		require.Zero(t, r.stats().Hedges)
		first.send(answer("first"))
		c.expect(200, "first")
		r.settled(0)
	})
	t.Run("hints of two tries are dropped", func(t *testing.T) {
		r := newRace(t, nil)
		c, first, second := r.hedged()
		first.send(hints)
		r.received(first, len(hints))
		second.send(hints + hints)
		r.received(second, 2*len(hints))
		first.send(answer("first"))
		require.Equal(t, "first", c.expect(200, "first").Get("X-Of"))
		r.settled(1)
	})
	t.Run("a try whose hint was dropped may be repeated", func(t *testing.T) {
		r := newRace(t, nil)
		c, first, second := r.hedged()
		first.send(hints)
		r.received(first, len(hints))
		second.reset()
		r.eventually(func() bool { return r.failures(second) == 1 })
		first.reset()
		r.begin().send(answer("third"))
		c.expect(200, "third")
		r.settled(1)
	})
}
