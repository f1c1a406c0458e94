package engine

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/codec/dubbo"
	"github.com/corelane/corelane/codec/frame"
	"github.com/corelane/corelane/codec/layout"
	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/pool"
	"github.com/corelane/corelane/route"
)

// A loop that holds the only connection gives it up when another loop begins to
// wait, also if nobody uses it.
func TestIdleLinkIsGivenToAnotherLoop(t *testing.T) {
	o := newOrigin(t)
	s := frames(o.addr)
	s.options.Loops = 2
	s.limits = pool.Limits{MaxConnections: 1, MaxWaiting: 10, Wait: patience, Idle: time.Hour}
	g := s.start(t)
	go o.echoFrames()
	clients := g.onEachLoop()
	for range 3 {
		for _, c := range clients {
			c.write(rpcCall(1, "x"))
			c.expectFrame(1, 200, "x")
		}
	}
	require.Zero(t, g.stats().StreamsRefused)
}

// onEachLoop dials until every loop has a client, and returns one of each.
func (g *gateway) onEachLoop() []*fpeer {
	g.t.Helper()
	found := make([]*fpeer, len(g.server.workers))
	for left := len(found); left > 0; {
		c := g.dialFrames().write(fr{kind: frame.Heartbeat, id: 1})
		c.next()
		port := c.conn.LocalAddr().String()
		for i, w := range g.server.workers {
			has := make(chan bool, 1)
			w.loop.Post(&reactor.Task{Run: func(*reactor.Loop) {
				at := false
				for n := w.clients; n != nil; n = n.next {
					at = at || n.owner.(*muxSession).conn.Remote().String() == port
				}
				has <- at
			}})
			if <-has && found[i] == nil {
				found[i] = c
				left--
			}
		}
	}
	return found
}

// echoFrames answers the requests of every connection with their bodies.
func (o *origin) echoFrames() {
	for {
		conn, err := o.ln.Accept()
		if err != nil {
			return
		}
		go func() {
			p := &fpeer{newPeer(o.t, conn)}
			bodies := map[uint64]string{}
			for {
				f, err := readFrame(p.in)
				if err != nil {
					_ = conn.Close()
					return
				}
				bodies[f.id] += f.body
				if f.kind == frame.Request && f.flags&frame.More == 0 {
					_, _ = conn.Write(f.answer(bodies[f.id]).bytes())
					delete(bodies, f.id)
				}
			}
		}()
	}
}

// narrow is a private protocol whose ids have one byte: a link carries 32 requests
// at a time.
func narrow(t *testing.T) *layout.Protocol {
	p, err := layout.New("narrow", layout.Layout{
		Length:  layout.Length{Integer: layout.Integer{At: 1, Width: 2}, Header: 3, Max: 1000},
		ID:      &layout.Integer{At: 0, Width: 1},
		Key:     &layout.Key{Kind: layout.KeyConstant, Constant: "all"},
		Failure: &layout.Failure{Body: "no: {reason}"},
	})
	require.NoError(t, err)
	return p
}

// What has no place on a full link, and no place for another, gets the ids that
// become free on it.
func TestMoreRequestsThanIDs(t *testing.T) {
	const requests = 100
	o := newOrigin(t)
	s := newSetup(o.addr)
	p := narrow(t)
	s.listener.Protocol, s.listener.Layout, s.protocol = p, true, p
	s.limits = pool.Limits{MaxConnections: 1, MaxWaiting: 100, Wait: patience, Idle: time.Hour}
	s.spec = route.Spec{ID: "all", Kind: route.Exact, Space: route.Keys, Pattern: "all"}
	g := s.start(t)
	c := g.dial()
	one := func(id byte, body string) string {
		b := append([]byte{id}, 0, 0)
		binary.BigEndian.PutUint16(b[1:], uint16(len(body)))
		return string(b) + body
	}
	read := func(p *peer) (byte, string) {
		b := make([]byte, 3)
		for i := range b {
			var err error
			b[i], err = p.in.ReadByte()
			require.NoError(t, err)
		}
		rest := make([]byte, binary.BigEndian.Uint16(b[1:]))
		for i := range rest {
			rest[i], _ = p.in.ReadByte()
		}
		return b[0], string(rest)
	}
	for i := range requests {
		c.send(one(byte(i), fmt.Sprint("ask ", i)))
	}
	up := o.accept()
	for range requests {
		id, body := read(up)
		up.send(one(id, body))
	}
	for range requests {
		id, body := read(c)
		require.Equal(t, fmt.Sprint("ask ", id), body)
	}
	require.Equal(t, uint64(1), g.stats().Pool.Dialed)
	require.Zero(t, g.stats().Pool.Waiting, "nobody waits for a second connection any more")
}

// A burst leaves nothing in the books of the memory that is in use.
func TestMemoryAfterABurst(t *testing.T) {
	o := newOrigin(t)
	s := noRetries(frames(o.addr))
	s.limits.Wait = patience
	g := s.start(t)
	memory := g.server.workers[0].loop.Memory()
	clients := []*fpeer{g.dialFrames(), g.dialFrames(), g.dialFrames()}
	var up *fpeer
	burst := func() int64 {
		const each = 3000
		for _, c := range clients {
			for i := range uint64(each) {
				c.write(rpcCall(i+1, strings.Repeat("b", 300)))
			}
		}
		if up == nil {
			up = o.acceptFrames()
		}
		var all []fr
		for range len(clients) * each {
			all = append(all, up.wholeRequest())
		}
		for _, f := range all {
			up.write(f.answer(""))
		}
		for _, c := range clients {
			for range each {
				c.next()
			}
		}
		require.Eventually(t, func() bool { return g.stats().LiveExchanges == 0 }, patience, time.Millisecond)
		return memory.Used()
	}
	most := burst() + 256<<10 // what streams keep for the next is not always the same
	require.LessOrEqual(t, burst(), most)
	require.LessOrEqual(t, burst(), most)
}

// The length of a translated body is not that of what a filter makes of it.
func TestFilterOfATranslatedBody(t *testing.T) {
	o := newOrigin(t)
	p, _ := codec.Registered("dubbo")
	s := newSetup(o.addr)
	s.listener.Protocol = p
	s.more = frames().more
	s.filters = []any{&swelling{10}}
	g := s.start(t)
	c := g.dial().send(string(dubbo.AppendRequest(nil, &dubbo.Call{ID: 7, Interface: "com.example.Order", Method: "find"})))
	up := o.accept()
	r := up.request()
	require.Equal(t, []string{"chunked"}, r.TransferEncoding)
	up.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnull")
	b := make([]byte, 16)
	_, err := c.in.Read(b)
	require.NoError(t, err)
	require.Equal(t, uint64(7), binary.BigEndian.Uint64(b[4:]))
}

// An answer may be empty and mean something.
func TestTranslatedAnswerWithoutABody(t *testing.T) {
	o := newOrigin(t)
	p, _ := codec.Registered("dubbo")
	s := newSetup(o.addr)
	s.protocol = p
	g := s.start(t)
	c := g.dial().send("POST /com.example.Order/find HTTP/1.1\r\nHost: a.test\r\nContent-Length: 2\r\n\r\n[]")
	up := o.accept()
	head := make([]byte, 16)
	for i := range head {
		head[i], _ = up.in.ReadByte()
	}
	answer := append([]byte{0xda, 0xbb, 2, 20}, head[4:12]...)
	up.send(string(answer) + "\x00\x00\x00\x00")
	c.expect(200, "null")
}

// Connections that lie idle without ids are asked nothing: the reply would be
// taken for an answer.
func TestNoHeartbeatsWithoutIDs(t *testing.T) {
	reply := uint64(3)
	p, err := layout.New("beating", layout.Layout{
		Length: layout.Length{Integer: layout.Integer{At: 1, Width: 2}, Header: 3, Max: 1000},
		Kind:   &layout.Kind{Integer: layout.Integer{At: 0, Width: 1}, Request: []uint64{1}, Response: []uint64{1}, Heartbeat: []uint64{2}, HeartbeatReply: &reply},
		Key:    &layout.Key{Kind: layout.KeyConstant, Constant: "all"},
	})
	require.NoError(t, err)
	require.True(t, p.Traits().Heartbeats)
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.protocol = p
	g := s.start(t)
	c := g.dial().send("POST /all HTTP/1.1\r\nHost: a.test\r\nContent-Length: 2\r\n\r\nhi")
	up := o.accept()
	require.Equal(t, "\x01\x00\x02hi", string(up.read(5)))
	armed := make(chan bool, 1)
	w := g.server.workers[0]
	w.loop.Post(&reactor.Task{Run: func(*reactor.Loop) {
		armed <- w.oldest.first.up.(*linkStream).l.beat.Armed()
	}})
	require.False(t, <-armed)
	up.send("\x01\x00\x02ho")
	c.expect(200, "ho")
}

// read reads n bytes.
func (p *peer) read(n int) []byte {
	p.t.Helper()
	b := make([]byte, n)
	for i := range b {
		var err error
		b[i], err = p.in.ReadByte()
		require.NoError(p.t, err)
	}
	return b
}

// A client whose protocol has no words for a failure is told by the end of its
// connection, and what else it has begun ends with it.
func TestFailureWithoutWords(t *testing.T) {
	o := newOrigin(t)
	s := noRetries(frames(o.addr))
	s.listener.Protocol = wordless{framing()}
	s.listener.ReadIdle = 0
	s.filters = []any{&probe{}}
	g := s.start(t)
	head := rpcCall(1, "half")
	head.flags = frame.More
	c := g.dialFrames().write(head)
	up := o.acceptFrames()
	up.next()
	c.write(fr{kind: frame.Request, id: 2, pairs: []string{":interface", "com.example.Nobody", ":method", "find"}})
	c.expectClosed()
	require.Eventually(t, func() bool { return g.stats().LiveExchanges == 0 }, patience, time.Millisecond)
	require.Contains(t, g.records.next(t)+g.records.next(t), codec.RouteNotFound.String())
}

// wordless is a protocol without failures.
type wordless struct{ codec.Protocol }

func (wordless) AppendFailure(dst []byte, _ *codec.Failure) []byte { return dst }

// Links of the floor do not idle out, but those that are too many do, in time.
func TestFloorOfLinks(t *testing.T) {
	o := newOrigin(t)
	s := frames(o.addr)
	s.limits.MinIdle, s.limits.Idle = 1, 30*time.Millisecond
	g := s.start(t)
	g.opened()
	up := o.acceptFrames()
	w := g.server.workers[0]
	do := func(fn func()) {
		done := make(chan struct{})
		w.loop.Post(&reactor.Task{Run: func(*reactor.Loop) { fn(); close(done) }})
		<-done
	}
	e, err := g.registry.Endpoint("origin", o.addr, "")
	require.NoError(t, err)
	waited := false
	require.Eventually(t, func() bool { // it has had more than one term
		do(func() { waited = waited || w.loop.Now()-w.links[e.Slot()].node.Born() > int64(100*time.Millisecond) })
		return waited
	}, patience, time.Millisecond)
	do(func() { w.local.SetFloor(e, 0, pool.Limits{}) })
	up.expectClosed()
}

// spelled has words of its own for nothing.
type spelled struct{ codec.Protocol }

func (spelled) Neutral(dst []byte, _ codec.Role, _ *codec.Head, body []byte) ([]byte, error) {
	if len(body) == 0 {
		return append(dst, "null"...), nil
	}
	return append(dst, body...), nil
}

func (spelled) Native(dst []byte, _ codec.Role, _, _ *codec.Head, body []byte) ([]byte, error) {
	return append(dst, body...), nil
}

// A request without a body may have one in the words of another protocol.
func TestNothingInOtherWords(t *testing.T) {
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.listener.Protocol = spelled{narrow(t)}
	s.spec = route.Spec{ID: "all", Kind: route.Exact, Space: route.Keys, Pattern: "all"}
	g := s.start(t)
	g.dial().send("\x01\x00\x00")
	r := o.accept().request()
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.Equal(t, "null", string(body))
}
