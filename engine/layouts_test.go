package engine

import (
	"encoding/binary"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec/layout"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
	"github.com/corelane/corelane/route"
)

// A private protocol of the tests: "P", a kind, an id of two bytes or nothing, the
// length of the body in two bytes; the body begins with a key of four bytes.
func private(t *testing.T, ids bool) *layout.Protocol {
	l := layout.Layout{
		Magic:   []byte("P"),
		Length:  layout.Length{Integer: layout.Integer{At: 4, Width: 2}, Header: 6, Max: 60000},
		Key:     &layout.Key{Kind: layout.KeyBytes, Integer: layout.Integer{At: 6, Width: 4}},
		Failure: &layout.Failure{Body: "no: {reason}"},
	}
	if ids {
		l.ID = &layout.Integer{At: 2, Width: 2}
	}
	p, err := layout.New("private", l)
	require.NoError(t, err)
	return p
}

func privates(t *testing.T, ids bool, endpoints ...string) *setup {
	s := newSetup(endpoints...)
	p := private(t, ids)
	s.listener.Protocol, s.listener.Layout, s.protocol = p, true, p
	s.more = []route.Spec{{ID: "find", Kind: route.Exact, Space: route.Keys, Pattern: "find"}}
	return s
}

func privateFrame(id uint16, body string) string {
	b := append([]byte("P\x01"), 0, 0, 0, 0)
	binary.BigEndian.PutUint16(b[2:], id)
	binary.BigEndian.PutUint16(b[4:], uint16(len(body)))
	return string(b) + body
}

func (p *peer) privateFrame() (id uint16, body string) {
	p.t.Helper()
	b := make([]byte, 6)
	_, err := io.ReadFull(p.in, b)
	require.NoError(p.t, err)
	require.Equal(p.t, "P", string(b[:1]))
	rest := make([]byte, binary.BigEndian.Uint16(b[4:]))
	_, err = io.ReadFull(p.in, rest)
	require.NoError(p.t, err)
	return binary.BigEndian.Uint16(b[2:]), string(rest)
}

func (p *peer) expectPrivate(id uint16, body string) {
	p.t.Helper()
	gotID, got := p.privateFrame()
	require.Equal(p.t, body, got)
	require.Equal(p.t, id, gotID)
}

func TestLayoutWithIDs(t *testing.T) {
	o := newOrigin(t)
	g := privates(t, true, o.addr).start(t)
	c := g.dial().send(privateFrame(7, "find one"), privateFrame(9, "find two"), privateFrame(11, "lost"))
	c.expectPrivate(11, "no: route_not_found")
	up := o.accept()
	first, body := up.privateFrame()
	require.Equal(t, "find one", body)
	second, body := up.privateFrame()
	require.Equal(t, "find two", body)
	up.send(privateFrame(second, "2"), privateFrame(first, "1"), privateFrame(first, "again"))
	c.expectPrivate(9, "2")
	c.expectPrivate(7, "1")
	c.send(privateFrame(7, "find three"))
	third, _ := up.privateFrame()
	up.send(privateFrame(third, "3"))
	c.expectPrivate(7, "3")
	require.Equal(t, uint64(1), g.stats().LateReplies)
	require.Equal(t, uint64(1), g.stats().Pool.Dialed)
}

// Without ids a client's requests go one by one, and so does what a service gets
// on one connection.
func TestLayoutWithoutIDs(t *testing.T) {
	o := newOrigin(t)
	g := privates(t, false, o.addr).start(t)
	a := g.dial().send(privateFrame(1, "find one"), privateFrame(2, "find two"))
	b := g.dial().send(privateFrame(3, "find three"))
	bodies := map[string]*peer{}
	for range 2 {
		up := o.accept()
		_, body := up.privateFrame()
		bodies[body] = up
	}
	one, three := bodies["find one"], bodies["find three"]
	require.NotNil(t, one)
	require.NotNil(t, three)
	three.send(privateFrame(0, "3"))
	_, got := b.privateFrame()
	require.Equal(t, "3", got)
	one.send(privateFrame(0, "1"))
	_, got = a.privateFrame()
	require.Equal(t, "1", got)
	// The connection that was given back last is the next one's.
	_, body := one.privateFrame()
	require.Equal(t, "find two", body)
	one.send(privateFrame(0, "2"))
	_, got = a.privateFrame()
	require.Equal(t, "2", got)
	require.Equal(t, uint64(2), g.stats().Pool.Dialed)
}

// What comes behind an answer, or without a question, would be the next one's
// answer: the connection is not used again.
func TestAnswersTooManyWithoutIDs(t *testing.T) {
	o := newOrigin(t)
	g := noRetries(privates(t, false, o.addr)).start(t)
	c := g.dial().send(privateFrame(0, "find one"))
	up := o.accept()
	up.privateFrame()
	up.send(privateFrame(0, "1"), privateFrame(0, "evil"))
	_, got := c.privateFrame()
	require.Equal(t, "1", got)
	up.expectClosed()
	c.send(privateFrame(0, "find two"))
	up = o.accept()
	up.privateFrame()
	up.send(privateFrame(0, "2"))
	_, got = c.privateFrame()
	require.Equal(t, "2", got)
	up.send(privateFrame(0, "evil")) // while it is idle
	up.expectClosed()
	c.send(privateFrame(0, "find three"))
	up = o.accept()
	up.privateFrame()
	up.send(privateFrame(0, "3"))
	_, got = c.privateFrame()
	require.Equal(t, "3", got)
}

// A client that leaves takes its connection with it: the answer would be the next
// one's.
func TestCancelWithoutIDs(t *testing.T) {
	o := newOrigin(t)
	g := privates(t, false, o.addr).start(t)
	c := g.dial().send(privateFrame(0, "find one"))
	up := o.accept()
	up.privateFrame()
	c.reset()
	up.expectClosed()
	require.Contains(t, g.records.next(t), `"reason":"client_aborted"`)
}

func TestLayoutServiceIsToldTheClient(t *testing.T) {
	o := newOrigin(t)
	s := noRetries(privates(t, false, o.addr))
	s.proxy = snapshot.ProxyV1
	g := s.start(t)
	c := g.dial()
	for range 2 {
		c.send(privateFrame(0, "find one"))
		up := o.accept()
		require.Equal(t, c.conn.LocalAddr().String(), up.proxyHeader().Source.String())
		up.privateFrame()
		up.send(privateFrame(0, "1"))
		_, got := c.privateFrame()
		require.Equal(t, "1", got)
		up.expectClosed()
	}
}

func TestWaitingWithoutIDs(t *testing.T) {
	o := newOrigin(t)
	s := privates(t, false, o.addr)
	s.limits = pool.Limits{MaxConnections: 1, MaxWaiting: 10, Wait: patience, Idle: time.Minute}
	g := s.start(t)
	a, b := g.dial().send(privateFrame(0, "find one")), g.dial()
	up := o.accept()
	up.privateFrame()
	b.send(privateFrame(0, "find two"))
	require.Eventually(t, func() bool { return g.stats().Pool.Waiting == 1 }, patience, time.Millisecond)
	up.send(privateFrame(0, "1"))
	_, got := a.privateFrame()
	require.Equal(t, "1", got)
	_, body := up.privateFrame()
	require.Equal(t, "find two", body)
	up.send(privateFrame(0, "2"))
	_, got = b.privateFrame()
	require.Equal(t, "2", got)
}

// A service that follows is spoken to in the layout of the listener.
func TestServiceFollowsTheLayout(t *testing.T) {
	o := newOrigin(t)
	s := privates(t, true, o.addr)
	s.protocol, s.follows = framing(), true
	g := s.start(t)
	c := g.dial().send(privateFrame(5, "find"))
	up := o.accept()
	id, body := up.privateFrame()
	require.Equal(t, "find", body)
	up.send(privateFrame(id, "found"))
	c.expectPrivate(5, "found")
}

func TestHTTPClientOfAPrivateService(t *testing.T) {
	o := newOrigin(t)
	s := privates(t, true, o.addr)
	s.listener.Protocol, s.listener.Layout = nil, false
	g := s.start(t)
	c := g.dial().send("POST /a HTTP/1.1\r\nHost: a.test\r\nContent-Length: 8\r\n\r\nfind")
	c.send(" one") // half of a message that cannot be split keeps nobody waiting
	up := o.accept()
	id, body := up.privateFrame()
	require.Equal(t, "find one", body)
	up.send(privateFrame(id, "found"))
	c.expect(200, "found")
}

func TestPrivateLengthsThatLie(t *testing.T) {
	o := newOrigin(t)
	g := noRetries(privates(t, true, o.addr)).start(t)
	c := g.dial().send("P\x01\x00\x07\xff\xff") // 65,535 bytes are over the maximum
	c.expectClosed()
	require.Equal(t, uint64(1), g.stats().ProtocolErrors)
	c = g.dial().send(privateFrame(1, "find"))
	up := o.accept()
	up.privateFrame()
	up.send("X\x01\x00\x07\x00\x00")
	c.expectPrivate(1, "no: upstream_reset")
}
