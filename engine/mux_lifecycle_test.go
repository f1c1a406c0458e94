package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/codec/frame"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/pool"
)

func TestProxyHeaderBeforeFrames(t *testing.T) {
	o := newOrigin(t)
	s := frames(o.addr)
	s.listener.ProxyProtocol = true
	g := s.start(t)
	c := g.dialFrames()
	c.send("PROXY TCP4 192.0.2.7 192.0.2.8 4000 80\r\n" + string(rpcCall(1, "x").bytes()))
	up := o.acceptFrames()
	asked := up.next()
	require.Equal(t, "192.0.2.7", asked.pair("x-forwarded-for"))
	up.write(asked.answer("y"))
	c.expectFrame(1, 200, "y")

	g.dialFrames().write(rpcCall(1, "x")).expectClosed()
	cut := g.dial().send("PROXY TCP4 192")
	require.NoError(t, cut.conn.CloseWrite())
	cut.expectClosed()
	require.Equal(t, uint64(2), g.stats().ProxyRefused)
}

func TestProxyHeaderThatIsLate(t *testing.T) {
	s := frames(refusing(t))
	s.listener.ProxyProtocol, s.listener.Head = true, 20*time.Millisecond
	g := s.start(t)
	g.dial().send("PROXY").expectClosed()
	require.Equal(t, uint64(1), g.stats().ProxyRefused)
}

func TestDrainWithinAProxyHeader(t *testing.T) {
	s := frames(refusing(t))
	s.listener.ProxyProtocol = true
	g := s.start(t)
	c := g.dialFrames()
	g.readsAfter(5, func() { c.send("PROXY") })
	g.server.BeginDrain()
	require.Equal(t, frame.GoAway, c.next().kind)
	require.Equal(t, frame.GoAway, c.next().kind)
	c.expectClosed()
}

// A client that says nothing, or stops within a head, is told to go.
func TestClientsThatAreSilent(t *testing.T) {
	o := newOrigin(t)
	s := frames(o.addr)
	s.listener.Head, s.listener.Keepalive = 30*time.Millisecond, 30*time.Millisecond
	g := s.start(t)
	c := g.dialFrames()
	require.Equal(t, frame.GoAway, c.next().kind)
	c.expectClosed()

	c = g.dialFrames().write(rpcCall(1, "x"))
	up := o.acceptFrames()
	up.write(up.next().answer("y"))
	c.expectFrame(1, 200, "y")
	require.Equal(t, frame.GoAway, c.next().kind)
	c.expectClosed()

	c = g.dialFrames()
	c.send(string(rpcCall(1, "x").bytes()[:30]))
	c.expectFailure(1, codec.RequestTimeout)
	c.expectClosed()
}

func TestConnectionThatHasCarriedItsShare(t *testing.T) {
	o := newOrigin(t)
	s := frames(o.addr)
	s.listener.KeepaliveRequests = 2
	g := s.start(t)
	c := g.dialFrames().write(rpcCall(1, "x"), rpcCall(2, "x"))
	up := o.acceptFrames()
	f := c.next()
	require.Equal(t, frame.GoAway, f.kind)
	require.Equal(t, uint64(2), f.id)
	for range 2 {
		up.write(up.next().answer("y"))
		c.next()
	}
	c.expectClosed()
}

// A client that has said that it goes is closed behind its last answer.
func TestClientThatGoes(t *testing.T) {
	o := newOrigin(t)
	g := frames(o.addr).start(t)
	c := g.dialFrames().write(rpcCall(1, "x"), fr{kind: frame.GoAway, id: 1})
	up := o.acceptFrames()
	up.write(up.next().answer("y"))
	c.expectFrame(1, 200, "y")
	c.expectClosed()
}

// A client that closes its side has what it asked for if the answer has begun; what
// is not whole is answered, and who only waits is given up.
func TestClientThatClosesItsSide(t *testing.T) {
	o := newOrigin(t)
	g := frames(o.addr).start(t)
	half := rpcCall(2, "half")
	half.flags = frame.More
	c := g.dialFrames().write(rpcCall(1, "first"), half, rpcCall(3, "x"))
	up := o.acceptFrames()
	var first fr
	for range 3 {
		if f := up.next(); f.body == "first" {
			first = f
		}
	}
	more := first.answer("y")
	more.flags = frame.More
	up.write(more)
	for f := c.next(); f.body != "y"; {
		f = c.next()
	}
	require.NoError(t, c.conn.CloseWrite())
	c.expectFailure(2, codec.BadFraming)
	up.next() // the cancel of 2
	require.Equal(t, frame.Cancel, up.next().kind)
	up.write(fr{kind: frame.Response, id: first.id, flags: frame.Continues, body: "z"})
	require.Equal(t, "z", c.next().body)
	require.Zero(t, c.next().flags&frame.More)
	c.expectClosed()
}

func TestBodyThatDoesNotCome(t *testing.T) {
	o := newOrigin(t)
	s := frames(o.addr)
	s.listener.ReadIdle = 30 * time.Millisecond
	g := s.start(t)
	half := rpcCall(1, "half")
	half.flags = frame.More
	c := g.dialFrames().write(half)
	c.expectFailure(1, codec.RequestTimeout)
}

// The end of the loop answers what runs.
func TestStopOfTheServer(t *testing.T) {
	o := newOrigin(t)
	s := frames(o.addr)
	g := s.start(t)
	c := g.dialFrames()
	for i := range 40 {
		c.write(rpcCall(uint64(i+1), "x"))
	}
	c.send(string(rpcCall(99, "x").bytes()[:30]))
	up := o.acceptFrames()
	for range 40 {
		up.next()
	}
	require.NoError(t, g.server.Stop())
	for range 40 {
		f := c.next()
		require.Contains(t, f.body, codec.Draining.String())
	}
	c.expectClosed()
}

func TestClientThatDisappears(t *testing.T) {
	o := newOrigin(t)
	g := frames(o.addr).start(t)
	c := g.dialFrames()
	for i := range 20 {
		c.write(rpcCall(uint64(i+1), "x"))
	}
	up := o.acceptFrames()
	for range 20 {
		up.next()
	}
	c.send(string(rpcCall(99, "x").bytes()[:30]))
	c.reset()
	for range 20 {
		require.Equal(t, frame.Cancel, up.next().kind)
	}
	require.Eventually(t, func() bool { s := g.stats(); return s.LiveExchanges == 0 && s.LiveSessions == 0 }, patience, time.Millisecond)
	again := g.dialFrames().write(rpcCall(1, "x"))
	up.write(up.next().answer("y"))
	again.expectFrame(1, 200, "y")
}

// A client that does not read its answers is not read, and gets all of them.
func TestClientThatDoesNotReadItsAnswers(t *testing.T) {
	const requests = 200
	o := newOrigin(t)
	s := frames(o.addr)
	s.options.High, s.options.Low = 64<<10, 16<<10
	g := s.start(t)
	go o.echoFrames()
	c := g.dialFrames()
	require.NoError(t, c.conn.SetReadBuffer(64<<10))
	go func() {
		for i := range requests {
			if _, err := c.conn.Write(rpcCall(uint64(i+1), strings.Repeat("e", 100<<10)).bytes()); err != nil {
				return
			}
		}
	}()
	require.Eventually(t, func() bool {
		over := false
		g.onLoop(func(w *worker) {
			if w.clients != nil {
				over = w.clients.owner.(*muxSession).conn.OverHigh()
			}
		})
		return over
	}, patience, time.Millisecond)
	total := 0
	for total < requests*100<<10 {
		total += len(c.next().body)
	}
}

// Of several tries the first answer wins, on links as elsewhere, and the other is
// cancelled.
func TestHedgeOnLinks(t *testing.T) {
	a, b := newOrigin(t), newOrigin(t)
	s := frames(a.addr, b.addr)
	s.retries.Hedge = 20 * time.Millisecond
	g := s.start(t)
	c := g.dialFrames().write(fr{kind: frame.Request, id: 1, pairs: []string{":path", "/", ":verb", "GET"}})
	first, second := a.acceptFrames(), b.acceptFrames()
	slow, quick := first.next(), second.next()
	second.write(quick.answer("quick"))
	c.expectFrame(1, 200, "quick")
	f := first.next()
	require.Equal(t, frame.Cancel, f.kind)
	require.Equal(t, slow.id, f.id)
}

// A held body is repeated where an endpoint goes away, at the pace of its credit.
func TestHeldBodyOnLinks(t *testing.T) {
	const size = 700 << 10
	a, b := newOrigin(t), newOrigin(t)
	s := frames(a.addr, b.addr)
	s.listener.Protocol = nil
	s.route = func(r *snapshot.Route) { r.Buffer = true }
	g := s.start(t)
	c := g.dial().send(fmt.Sprintf("PUT /a HTTP/1.1\r\nHost: a.test\r\nContent-Length: %d\r\n\r\n", size), strings.Repeat("h", size))
	take := func(up *fpeer, until int) (id uint64, n int) {
		for n < until {
			f := up.next()
			id, n = f.id, n+len(f.body)
			if n%(128<<10) == 0 && n < size {
				up.write(fr{kind: frame.Credit, id: id, body: "\x00\x02\x00\x00"})
			}
		}
		return id, n
	}
	accepted := make(chan *fpeer, 2)
	for _, o := range []*origin{a, b} {
		go func() {
			if conn, err := o.ln.Accept(); err == nil {
				accepted <- &fpeer{newPeer(t, conn)}
			}
		}()
	}
	up := <-accepted
	take(up, 256<<10)
	up.reset()
	up = <-accepted
	id, n := take(up, size)
	require.Equal(t, size, n)
	up.write(fr{kind: frame.Response, id: id, status: 200, body: "kept"})
	c.expect(200, "kept")
}

// Filters may wait before a request and before its answer, on either side of a link.
func TestFiltersThatWaitOnFrames(t *testing.T) {
	o := newOrigin(t)
	s := frames(o.addr)
	handles := make(chan filters.Handle, 4)
	wait := func(ctx *filters.Context) filters.Verdict {
		handles <- ctx.Wait(patience)
		return filters.Wait
	}
	s.filters = []any{&probe{request: wait, response: wait, resume: func(*filters.Context, any) filters.Verdict { return filters.Continue }}}
	g := s.start(t)
	long := strings.Repeat("l", 100<<10)
	c := g.dialFrames().write(rpcCall(1, long), rpcCall(2, "given up"))
	h1, h2 := <-handles, <-handles
	c.write(fr{kind: frame.Cancel, id: 2})
	require.Eventually(t, func() bool { return g.stats().LiveExchanges == 1 }, patience, time.Millisecond)
	h2.Resume(nil) // nobody waits any more
	require.True(t, h1.Resume(nil))
	up := o.acceptFrames()
	asked := up.next()
	for n := len(asked.body); n < len(long); {
		n += len(up.next().body)
	}
	up.write(asked.answer("first"))
	h1 = <-handles
	up.close()
	require.True(t, h1.Resume(nil))
	c.expectFrame(1, 200, "first")
}

// The heartbeat of a service is answered; one that does not answer ours is given up.
func TestHeartbeatsOfALink(t *testing.T) {
	o := newOrigin(t)
	g := noRetries(frames(o.addr)).start(t)
	c := g.dialFrames().write(rpcCall(1, "x"))
	up := o.acceptFrames()
	up.next()
	up.write(fr{kind: frame.Heartbeat, id: 5})
	f := up.next()
	require.Equal(t, frame.Heartbeat, f.kind)
	require.Equal(t, frame.Reply, f.flags)
	require.Equal(t, uint64(5), f.id)
	beat := func() {
		g.onLoop(func(w *worker) { w.oldest.first.up.(*linkStream).l.checkBeat(w.loop.Now()) })
	}
	beat() // it was heard
	beat()
	f = up.next()
	require.Equal(t, frame.Heartbeat, f.kind)
	require.NotZero(t, f.id)
	up.write(fr{kind: frame.Heartbeat, flags: frame.Reply, id: f.id})
	heard := false
	require.Eventually(t, func() bool {
		g.onLoop(func(w *worker) {
			l := w.oldest.first.up.(*linkStream).l
			heard = l.conn.BytesIn() != l.heard
		})
		return heard
	}, patience, time.Millisecond)
	for range maxBeats + 2 { // the first finds that it was heard
		beat()
	}
	c.expectFailure(1, codec.UpstreamTimeout)
	require.Equal(t, uint64(1), g.stats().HeartbeatsMissed)
}

func TestLinkThatCannotBeOpened(t *testing.T) {
	s := noRetries(frames(fillBacklog(t, newOrigin(t))))
	s.connect = 30 * time.Millisecond
	g := s.start(t)
	c := g.dialFrames().write(rpcCall(1, "x"), rpcCall(2, "x"))
	c.expectFailure(1, codec.ConnectTimeout)
	c.expectFailure(2, codec.ConnectTimeout)
}

// Requests wait for a place of a link for as long as the service allows.
func TestLinkWithoutAPlace(t *testing.T) {
	o := newOrigin(t)
	s := noRetries(frames(o.addr))
	s.limits = pool.Limits{MaxConnections: 1, MaxWaiting: 2, Wait: 30 * time.Millisecond}
	s.options.Loops = 2
	g := s.start(t)
	clients := g.onEachLoop()
	clients[0].write(rpcCall(2, "long"))
	up := o.acceptFrames()
	long := up.next()
	clients[1].write(rpcCall(2, "x"), rpcCall(3, "x"))
	clients[1].expectFailure(2, codec.PoolExhausted)
	clients[1].expectFailure(3, codec.PoolExhausted)
	up.write(long.answer("done"))
	clients[0].expectFrame(2, 200, "done")
	up.expectClosed() // it was given up for the others
	require.Zero(t, g.stats().Pool.Waiting)
}

// Requests in front of a link without a place are among those that may wait.
func TestMostThatWaitForALink(t *testing.T) {
	o := newOrigin(t)
	s := noRetries(frames(o.addr))
	s.limits = pool.Limits{MaxConnections: 1, MaxWaiting: 2, Wait: patience}
	s.options.Loops = 2
	g := s.start(t)
	clients := g.onEachLoop()
	clients[0].write(rpcCall(2, "long"))
	up := o.acceptFrames()
	long := up.next()
	clients[1].write(rpcCall(2, "x"), rpcCall(3, "y"), rpcCall(4, "z"))
	clients[1].expectFailure(4, codec.PoolExhausted)
	require.Equal(t, int64(2), g.server.Current().Services["origin"].Pool.State.Waiting())
	go o.echoFrames()
	up.write(long.answer("done"))
	clients[0].expectFrame(2, 200, "done")
	clients[1].expectFrame(2, 200, "x")
	clients[1].expectFrame(3, 200, "y")
	require.Zero(t, g.server.Current().Services["origin"].Pool.State.Waiting())
}

// A service that speaks something else since a reload leaves no connections behind
// that count as its own.
func TestLinksOfAnEarlierProtocol(t *testing.T) {
	o := newOrigin(t)
	s := frames(o.addr)
	s.limits = pool.Limits{MaxConnections: 1, MaxWaiting: 10, Wait: patience}
	g := s.start(t)
	c := g.dialFrames().write(rpcCall(1, "x"))
	up := o.acceptFrames()
	up.write(up.next().answer("x"))
	c.expectFrame(1, 200, "x")
	s.protocol = nil
	g.server.Publish(g.compile(2))
	up.expectClosed()
	c.write(rpcCall(2, "y"))
	http := o.accept()
	require.Equal(t, "/com.example.Order/find", http.request().URL.Path)
	http.send(ok)
	c.expectFrame(2, 200, "ok")
}

// A link that nobody waits for leaves the queue.
func TestNobodyWaitsForALink(t *testing.T) {
	o := newOrigin(t)
	s := noRetries(frames(o.addr))
	s.limits = pool.Limits{MaxConnections: 1, MaxWaiting: 1, Wait: patience}
	s.options.Loops = 2
	g := s.start(t)
	clients := g.onEachLoop()
	clients[0].write(rpcCall(2, "long"))
	up := o.acceptFrames()
	up.next()
	clients[1].write(rpcCall(2, "x")) // gauges are those of the last loop
	require.Eventually(t, func() bool { return g.stats().Pool.Waiting == 1 }, patience, time.Millisecond)
	clients[1].write(fr{kind: frame.Cancel, id: 2})
	require.Eventually(t, func() bool { s := g.stats(); return s.Pool.Waiting == 0 && s.LiveExchanges == 0 }, patience, time.Millisecond)
}

// Links to an endpoint that has gone end with their streams, also those that were
// being opened.
func TestLinksOfARetiredEndpoint(t *testing.T) {
	a, b := newOrigin(t), newOrigin(t)
	s := frames(a.addr)
	s.limits.Idle = 0
	g := s.start(t)
	c := g.dialFrames().write(rpcCall(1, "x"))
	up := a.acceptFrames()
	asked := up.next()
	s.endpoints = []string{b.addr}
	g.server.Publish(g.compile(2))
	require.Eventually(t, func() bool { return g.server.Passed() == 2 }, patience, time.Millisecond)
	c.write(rpcCall(2, "y"))
	next := b.acceptFrames()
	next.write(next.next().answer("2"))
	c.expectFrame(2, 200, "2")
	up.write(asked.answer("1"))
	c.expectFrame(1, 200, "1")
	up.expectClosed()
}

// Links live for as long as the service says.
func TestLinkOfAge(t *testing.T) {
	o := newOrigin(t)
	s := frames(o.addr)
	s.limits.MaxAge = time.Nanosecond
	g := s.start(t)
	c := g.dialFrames()
	for i := range 3 {
		c.write(rpcCall(uint64(i+1), "x"))
		up := o.acceptFrames()
		up.write(up.next().answer("y"))
		c.expectFrame(uint64(i+1), 200, "y")
	}
}

func TestIdleLinkIsClosed(t *testing.T) {
	o := newOrigin(t)
	s := frames(o.addr)
	s.limits.Idle = 20 * time.Millisecond
	g := s.start(t)
	c := g.dialFrames().write(rpcCall(1, "x"))
	up := o.acceptFrames()
	up.write(up.next().answer("y"))
	c.expectFrame(1, 200, "y")
	up.expectClosed()
}

// Connections without ids are opened ahead too, and taken.
func TestFloorWithoutIDs(t *testing.T) {
	o := newOrigin(t)
	s := privates(t, false, o.addr)
	s.limits.MinIdle = 1
	g := s.start(t)
	g.opened()
	up := o.accept()
	c := g.dial().send(privateFrame(1, "find"))
	up.privateFrame()
	up.send(privateFrame(1, "found"))
	_, got := c.privateFrame()
	require.Equal(t, "found", got)
	require.Equal(t, uint64(1), g.stats().Pool.Dialed)
}

func TestFloorOfLinksThatCannotBeOpened(t *testing.T) {
	for name, address := range map[string]string{"refuses": refusing(t), "is silent": fillBacklog(t, newOrigin(t))} {
		t.Run(name, func(t *testing.T) {
			s := frames(address)
			s.limits.MinIdle, s.connect = 1, 20*time.Millisecond
			g := s.start(t)
			g.opened()
			require.Equal(t, []int{0}, g.perLoop())
		})
	}
}
