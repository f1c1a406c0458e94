package engine

import (
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/pool"
)

// pass lets the clock of the loop pass a moment: a connection that sends nothing
// is closed by its head clock, which setups of these tests make that long: longer
// than a busy machine keeps a client from sending its head.
const pass = 300 * time.Millisecond

func (g *gateway) pass() {
	g.t.Helper()
	g.dial().expectClosed()
}

func onePlace(s *setup) *setup {
	s.limits = pool.Limits{MaxConnections: 1, MaxWaiting: 10, Wait: patience, Idle: time.Minute}
	return s
}

// What follows a response without a body must not become the answer to the
// exchange that waits for the connection.
func TestLeftoverBehindABodilessResponse(t *testing.T) {
	for _, first := range []string{
		"HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 304 Not Modified\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
	} {
		t.Run(first[9:12], func(t *testing.T) {
			o := newOrigin(t)
			g := onePlace(noRetries(newSetup(o.addr))).start(t)
			a := g.dial().get("/a")
			up := o.accept()
			up.request()
			b := g.dial().get("/b")
			require.Eventually(t, func() bool { return g.stats().Pool.Waiting == 1 }, patience, time.Millisecond)
			up.send(first, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
			a.response("GET")
			up.expectCut()
			up = o.accept()
			require.Equal(t, "/b", up.request().RequestURI)
			up.send(ok)
			b.expect(200, "ok")
		})
	}
}

func TestWaitOfAResponseFilterExpires(t *testing.T) {
	o := newOrigin(t).serve(echoOK)
	s := newSetup(o.addr)
	calls := 0
	s.filters = []any{
		&probe{response: func(ctx *filters.Context) filters.Verdict {
			ctx.Response.SetString("X-Outer", "seen")
			return filters.Continue
		}},
		&probe{
			response: func(ctx *filters.Context) filters.Verdict {
				calls++
				ctx.Wait(time.Millisecond)
				return filters.Wait
			},
			resume: func(*filters.Context, any) filters.Verdict { return filters.Continue },
		},
	}
	g := s.start(t)
	head := g.dial().get("/").expectReason(codec.FilterUnavailable)
	require.Equal(t, "seen", head.Get("X-Outer"), "the filters outside of it see the answer")
	g.records.next(t)
	require.Equal(t, 1, calls, "no filter sees two heads")
}

func TestTotalWhileAResponseFilterWaits(t *testing.T) {
	o := newOrigin(t).serve(echoOK)
	s := newSetup(o.addr)
	s.timeouts.Total = pass
	handles := make(chan filters.Handle, 2)
	s.filters = []any{&probe{response: func(ctx *filters.Context) filters.Verdict {
		handles <- ctx.Wait(0)
		return filters.Wait
	}}}
	g := s.start(t)
	c := g.dial().get("/")
	c.expectReason(codec.TotalTimeout)
	require.False(t, (<-handles).Resume(nil))
	require.Empty(t, handles)
}

func TestPanicOverABody(t *testing.T) {
	o := newOrigin(t).serve(echoOK)
	t.Run("response", func(t *testing.T) {
		s := newSetup(o.addr)
		s.filters = []any{&probe{respBody: func([]byte, bool) { panic("boom") }}}
		g := s.start(t)
		r, err := http.ReadResponse(g.dial().get("/").in, nil)
		if err == nil {
			_, err = io.ReadAll(r.Body)
		}
		require.Error(t, err, "the answer must not look whole")
		require.Contains(t, g.records.next(t), `"reason":"internal_error"`)
	})
	t.Run("request", func(t *testing.T) {
		s := newSetup(o.addr)
		s.filters = []any{&probe{body: func(*filters.Context, []byte, bool) filters.Verdict { panic("boom") }}}
		g := s.start(t)
		g.dial().send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi").expectReason(codec.InternalError)
	})
}

func TestReadIdleStopsWhileNobodyReads(t *testing.T) {
	const post = "POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"
	hasty := func(s *setup) *setup {
		s.listener.ReadIdle, s.listener.Head = time.Millisecond, pass
		return s
	}
	t.Run("a filter waits", func(t *testing.T) {
		handles := make(chan filters.Handle, 1)
		s := hasty(newSetup(newOrigin(t).serve(echoOK).addr))
		s.filters = []any{waiting(handles, 0)}
		g := s.start(t)
		c := g.dial().send(post)
		h := <-handles
		g.pass()
		require.True(t, h.Resume(nil))
		c.expect(200, "ok")
	})
	t.Run("the pool is full", func(t *testing.T) {
		o := newOrigin(t)
		g := hasty(onePlace(newSetup(o.addr))).start(t)
		a := g.dial().get("/a")
		up := o.accept()
		up.request()
		b := g.dial().send(post)
		g.pass()
		up.send(ok)
		a.expect(200, "ok")
		up.request()
		up.send(ok)
		b.expect(200, "ok")
	})
	t.Run("the client waits for 100", func(t *testing.T) {
		o := newOrigin(t)
		s := hasty(noRetries(newSetup(o.addr)))
		s.timeouts.FirstByte = 2 * pass
		g := s.start(t)
		c := g.dial().send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
		o.accept()
		c.expectReason(codec.UpstreamTimeout)
	})
}

func TestIdleConnectionsFollowTheNewPolicy(t *testing.T) {
	o := newOrigin(t).serve(echoOK)
	s := newSetup(o.addr)
	s.listener.Head = pass
	g := s.start(t)
	c := g.dial().get("/")
	c.expect(200, "ok")
	s.limits.MaxAge = time.Nanosecond
	s.maxHead = 16
	g.server.Publish(g.compile(2))
	require.Eventually(t, func() bool { return g.server.Passed() == 2 }, patience, time.Millisecond)
	c.get("/").expectReason(codec.UpstreamBadResponse) // the response head is over the new limit
	s.maxHead = 64 << 10
	g.server.Publish(g.compile(3))
	require.Eventually(t, func() bool { return g.server.Passed() == 3 }, patience, time.Millisecond)
	c.get("/").expect(200, "ok")
	require.NotZero(t, g.stats().Pool.Closed[pool.ReasonAge])
}

func TestTotalIncludesTheWaitOfAListenerFilter(t *testing.T) {
	handles := make(chan filters.Handle, 1)
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.timeouts.Total = pass / 2
	s.listener.Head = pass
	s.listening = []any{waiting(handles, 0)}
	g := s.start(t)
	c := g.dial().get("/")
	h := <-handles
	g.pass() // longer than the total
	require.True(t, h.Resume(nil))
	c.expectReason(codec.TotalTimeout)
}

func TestPerTryEndsWithTheResponseHead(t *testing.T) {
	o := newOrigin(t).serve(echoOK)
	handles := make(chan filters.Handle, 1)
	s := noRetries(newSetup(o.addr))
	s.retries.PerTry = pass / 2
	s.listener.Head = pass
	s.filters = []any{&probe{
		response: func(ctx *filters.Context) filters.Verdict {
			handles <- ctx.Wait(0)
			return filters.Wait
		},
		resume: func(*filters.Context, any) filters.Verdict { return filters.Continue },
	}}
	g := s.start(t)
	c := g.dial().get("/")
	h := <-handles
	g.pass()
	require.True(t, h.Resume(nil))
	c.expect(200, "ok")
}

func TestNothingIsRepeatedAfterAnInterimHead(t *testing.T) {
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.retries = snapshot.Retries{Attempts: 1, Statuses: snapshot.StatusSet(0).With(503), Budget: 100}
	g := s.start(t)
	c := g.dial().get("/")
	up := o.accept()
	up.request()
	up.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
	c.readUntil("\r\n\r\n")
	up.send("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
	c.expect(503, "")
}

// The connections at the limit are all dead: the one more try must not take
// another of them.
func TestReplacementAtTheLimitIsFresh(t *testing.T) {
	o := newOrigin(t)
	s := noRetries(newSetup(o.addr))
	s.limits.MaxConnections = 2
	g := s.start(t)
	a, b := g.dial().get("/a"), g.dial().get("/b")
	ups := []*peer{o.accept(), o.accept()}
	for _, up := range ups {
		up.request()
	}
	for _, up := range ups {
		up.send(ok)
	}
	a.expect(200, "ok")
	b.expect(200, "ok")
	require.Eventually(t, func() bool { return g.stats().Pool.Idle == 2 }, patience, time.Millisecond)
	for _, up := range ups {
		go func() {
			if _, err := http.ReadRequest(up.in); err == nil {
				up.reset()
			}
		}()
	}
	a.get("/again")
	up := o.accept()
	up.request()
	up.send(ok)
	a.expect(200, "ok")
}

func TestTunnelsTakeTheListenersClock(t *testing.T) {
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.timeouts.TunnelIdle = snapshot.Inherit
	s.listener.TunnelIdle = 30 * time.Millisecond
	c, up := tunnel(s.start(t), o)
	c.expectClosed()
	up.expectClosed()
}

func TestDialFault(t *testing.T) {
	require.Equal(t, faultRefused, dialFault(unix.ECONNREFUSED))
	require.Equal(t, faultRefused, dialFault(&net.OpError{Net: "unix", Err: unix.EAGAIN}))
	require.Equal(t, faultNoSocket, dialFault(&net.OpError{Net: "tcp", Err: unix.EAGAIN}))
	for _, err := range []error{unix.EMFILE, unix.EADDRNOTAVAIL, unix.ENOBUFS} {
		f := dialFault(err)
		require.Equal(t, codec.Overloaded, f.reason)
		require.Equal(t, pool.Aborted, f.outcome(), "not the endpoint's fault")
	}
}

func TestLookalikesOfATrustedPeerAreDroppedToo(t *testing.T) {
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.listener.TrustedProxies = loopbackPrefix
	g := s.start(t)
	c := g.dial().get("/", "X-Forwarded-For: 203.0.113.9\r\n", "X_Forwarded_For: 6.6.6.6\r\n", "content_length: 5\r\nTransfer.Encoding: chunked\r\n")
	up := o.accept()
	h := up.request().Header
	require.Equal(t, "203.0.113.9, 127.0.0.1", h.Get("X-Forwarded-For"))
	for name := range h {
		require.False(t, strings.ContainsAny(name, "_."), name)
	}
	up.send(ok)
	c.expect(200, "ok")
}

// When an endpoint dies many exchanges go elsewhere at once; that is no storm.
func TestFailedConnectsAreNotChargedToTheBudget(t *testing.T) {
	const clients = 4 * minRetries
	o := newOrigin(t)
	s := newSetup(refusing(t), o.addr)
	s.balance = pool.RoundRobin
	s.retries.Budget = 1
	g := s.start(t)
	var cs, ups []*peer
	for range clients {
		cs = append(cs, g.dial().get("/"))
		up := o.accept()
		up.request()
		ups = append(ups, up)
	}
	for i := range cs {
		ups[i].send(ok)
	}
	for _, c := range cs {
		c.expect(200, "ok")
	}
	st := g.stats()
	require.Zero(t, st.RetriesDenied)
	require.Greater(t, st.Retries, uint64(minRetries))
}

func TestUnfinishedHeadsCountInTheBudget(t *testing.T) {
	s := newSetup(refusing(t))
	s.options.Memory = 16 << 10
	g := s.start(t)
	c := g.dial().send("GET / HTTP/1.1\r\nHost: a\r\nX: ", strings.Repeat("x", 8<<10))
	require.Eventually(t, func() bool { used, _ := g.server.Memory(); return used >= 8<<10 }, patience, time.Millisecond)
	c.send(strings.Repeat("x", 16<<10))
	c.expectReason(codec.Overloaded)
	require.Eventually(t, func() bool { used, _ := g.server.Memory(); return used == 0 }, patience, time.Millisecond)

	left := g.dial().send("GET / HTTP/1.1\r\nHost: a\r\nX: ", strings.Repeat("x", 8<<10))
	require.Eventually(t, func() bool { used, _ := g.server.Memory(); return used > 0 }, patience, time.Millisecond)
	left.reset()
	require.Eventually(t, func() bool { used, _ := g.server.Memory(); return used == 0 }, patience, time.Millisecond)
}

func TestHintsToAClientThatDoesNotRead(t *testing.T) {
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.options.High, s.options.Low = 32<<10, 16<<10
	g := s.start(t)
	c := g.dial()
	require.NoError(t, c.conn.SetReadBuffer(4096))
	c.get("/")
	up := o.accept()
	up.request()
	w, done := g.server.workers[0], make(chan error, 1)
	w.loop.Post(&reactor.Task{Run: func(*reactor.Loop) {
		done <- unix.SetsockoptInt(w.session().conn.FD(), unix.SOL_SOCKET, unix.SO_SNDBUF, 4096)
	}})
	require.NoError(t, <-done)
	hint := "HTTP/1.1 103 Early Hints\r\nX: " + strings.Repeat("x", 60<<10) + "\r\n\r\n"
	for range maxInterim {
		up.send(hint)
	}
	all := uint64(maxInterim * len(hint))
	require.Eventually(t, func() bool { return g.stats().Reactor.BytesIn > all }, patience, time.Millisecond)
	used, _ := g.server.Memory()
	require.NotZero(t, used, "the client took everything")
	require.Less(t, used, int64(32<<10+2*len(hint)), "hints are queued without bound")
}

// A hint does not start the clock of a client that the gateway does not read.
func TestHintsToAClientThatIsNotRead(t *testing.T) {
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.options.High, s.options.Low = 32<<10, 16<<10
	g := s.start(t)
	c := g.dial()
	c.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n")
	var sending sync.WaitGroup
	sending.Go(func() { _, _ = c.conn.Write(make([]byte, 100_000_000)) })
	up := o.accept()
	up.requestHead() // and nothing of the body
	w := g.server.workers[0]
	paused := func() (paused, armed bool) {
		done := make(chan struct{})
		w.loop.Post(&reactor.Task{Run: func(*reactor.Loop) {
			paused, armed = w.session().conn.Paused(), w.session().clock.Armed()
			close(done)
		}})
		<-done
		return paused, armed
	}
	require.Eventually(t, func() bool { is, armed := paused(); return is && !armed }, patience, time.Millisecond)
	up.send("HTTP/1.1 103 Early Hints\r\n\r\n")
	line, err := c.in.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "103")
	is, armed := paused()
	require.True(t, is)
	require.False(t, armed)
	c.close()
	sending.Wait()
}

// The timers of a loop must not keep what has ended.
func TestEndedSessionsAreCollected(t *testing.T) {
	g := newSetup(newOrigin(t).serve(echoOK).addr).start(t)
	c := g.dial().get("/")
	c.expect(200, "ok")
	w := g.server.workers[0]
	session := make(chan weak.Pointer[Session], 1)
	w.loop.Post(&reactor.Task{Run: func(*reactor.Loop) { session <- weak.Make(w.session()) }})
	p := <-session
	require.NotNil(t, p.Value())
	c.close()
	require.Eventually(t, func() bool {
		runtime.GC()
		return p.Value() == nil
	}, patience, 10*time.Millisecond)
}

// So do the exchanges whose connections die with their endpoint.
func TestFailingOverIsNotChargedToTheBudget(t *testing.T) {
	const clients = 4 * minRetries
	dying, stays := newOrigin(t), newOrigin(t)
	s := newSetup(dying.addr, stays.addr)
	s.balance = pool.RoundRobin
	s.retries.Budget = 1
	g := s.start(t)
	var cs, killed, ups []*peer
	for i := range clients {
		cs = append(cs, g.dial().get("/"))
		if i%2 == 0 {
			killed = append(killed, acceptEither(t, &dying, &stays))
			continue
		}
		up := stays.accept()
		up.request()
		ups = append(ups, up)
	}
	for _, up := range killed {
		up.reset()
	}
	for range killed {
		up := stays.accept()
		up.request()
		ups = append(ups, up)
	}
	for _, up := range ups {
		up.send(ok)
	}
	for _, c := range cs {
		c.expect(200, "ok")
	}
	require.Zero(t, g.stats().RetriesDenied)
}

// acceptEither takes the first connection from whichever origin gets it, since a
// loop begins its turns at an offset, and makes that one dying from then on.
func acceptEither(t *testing.T, dying, stays **origin) *peer {
	t.Helper()
	type taken struct {
		o    *origin
		conn net.Conn
	}
	_ = (*dying).ln.SetDeadline(time.Now().Add(patience))
	_ = (*stays).ln.SetDeadline(time.Now().Add(patience))
	ends := make(chan taken, 2)
	for _, o := range []*origin{*dying, *stays} {
		go func() {
			conn, err := o.ln.Accept()
			if err != nil {
				conn = nil
			}
			ends <- taken{o, conn}
		}()
	}
	got := <-ends
	require.NotNil(t, got.conn)
	other := *dying
	if got.o == *dying {
		other = *stays
	}
	_ = other.ln.SetDeadline(time.Now())
	require.Nil(t, (<-ends).conn) // nobody waits there any more
	*dying, *stays = got.o, other
	p := newPeer(t, got.conn)
	p.request()
	return p
}

// A response that came before any byte of its request is somebody else's.
func TestAnswerBeforeTheRequestIsRefused(t *testing.T) {
	o := newOrigin(t)
	g := noRetries(newSetup(o.addr)).start(t)
	c := g.dial().get("/")
	up := o.accept()
	up.request()
	w, done := g.server.workers[0], make(chan struct{})
	w.loop.Post(&reactor.Task{Run: func(*reactor.Loop) {
		u := w.oldest.lead.up.(*upstreamConn)
		u.sentAt = u.conn.BytesOut() // as if the request still waited in the loop
		close(done)
	}})
	<-done
	up.send(ok)
	c.expectReason(codec.UpstreamReset)
	up.expectCut()
}

// The origin has answered and a response filter waits, when a filter that looks at
// the body, which is still coming, refuses it.
func TestBodyIsRefusedWhileAResponseFilterWaits(t *testing.T) {
	o := newOrigin(t)
	s := newSetup(o.addr)
	handles := make(chan filters.Handle, 2)
	s.filters = []any{
		&probe{body: func(ctx *filters.Context, b []byte, _ bool) filters.Verdict {
			if string(b) == "bad" {
				return ctx.Fail(codec.Forbidden, "not this body")
			}
			return filters.Continue
		}},
		&probe{response: func(ctx *filters.Context) filters.Verdict {
			handles <- ctx.Wait(0)
			return filters.Wait
		}},
	}
	g := s.start(t)
	c := g.dial().send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n\r\ngood")
	up := o.accept()
	up.requestHead()
	up.send(ok)
	h := <-handles
	c.send("bad").expectReason(codec.Forbidden)
	require.Empty(t, handles, "no filter sees two heads")
	require.False(t, h.Resume(nil))
}

// The clocks of a body that is refused end with it, however long its answer takes.
func TestReadIdleEndsWithTheBody(t *testing.T) {
	const post = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n"
	for name, end := range map[string]func(c *peer){
		"cut":       func(c *peer) { require.NoError(t, c.conn.CloseWrite()) },
		"malformed": func(c *peer) { c.send("no chunk\r\n") },
	} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t)
			s := newSetup(o.addr)
			s.listener.MinBodyRate = 1
			handles := make(chan filters.Handle, 2)
			s.filters = []any{&probe{response: func(ctx *filters.Context) filters.Verdict {
				handles <- ctx.Wait(0)
				return filters.Wait
			}, resume: func(*filters.Context, any) filters.Verdict { return filters.Continue }}}
			g := s.start(t)
			c := g.dial().send(post)
			o.accept().requestHead()
			end(c)
			h := <-handles
			armed, w := make(chan bool, 1), g.server.workers[0]
			w.loop.Post(&reactor.Task{Run: func(*reactor.Loop) {
				armed <- w.session().clock.Armed() || w.session().rate.clock.Armed()
			}})
			require.False(t, <-armed)
			require.True(t, h.Resume(nil))
			c.expectReason(codec.BadFraming)
		})
	}
}

// Warm-up is never the reason for an outage: where only an endpoint that warms up is
// left, whoever fails over to it is not charged.
func TestFailingOverToOneThatWarmsUp(t *testing.T) {
	const clients = 3 * minRetries
	dying, warming := newOrigin(t), newOrigin(t)
	s := newSetup(dying.addr, warming.addr)
	s.retries.Budget, s.warmUp = 1, time.Hour
	g := s.start(t)
	e, err := g.registry.Endpoint("origin", warming.addr, "")
	require.NoError(t, err)
	e.SetHealth(pool.Unhealthy, 1)
	e.SetHealth(pool.Healthy, 1)
	var cs, ups []*peer
	for range clients {
		cs = append(cs, g.dial().get("/"))
		up := dying.accept()
		up.request()
		ups = append(ups, up)
	}
	for _, up := range ups {
		up.reset()
	}
	for range clients {
		up := warming.accept()
		up.request()
		up.send(ok)
	}
	for _, c := range cs {
		c.expect(200, "ok")
	}
	require.Zero(t, g.stats().RetriesDenied)
}
