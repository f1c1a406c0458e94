package engine

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/codec/frame"
	"github.com/corelane/corelane/engine/reactor"
)

// onLoop runs a function on the first loop.
func (g *gateway) onLoop(fn func(w *worker)) {
	g.t.Helper()
	done := make(chan struct{})
	w := g.server.workers[0]
	require.True(g.t, w.loop.Post(&reactor.Task{Run: func(*reactor.Loop) { defer close(done); fn(w) }}))
	<-done
}

// creditRun is an answer on its way to a client that gives credit as it likes.
type creditRun struct {
	t        *testing.T
	g        *gateway
	c        *fpeer
	o        outgoing
	h        codec.Head
	trailers codec.Head
	body     []byte
	given    int // credit so far
	rest     int // of the body, not added yet
	got      []byte
	last     fr
}

// Of an answer leaves what there is credit for, in order, whatever the sizes of its
// pieces and of the credit; its end comes once, with the trailers.
func TestOutgoingKeepsToItsCredit(t *testing.T) {
	g := frames(refusing(t)).start(t)
	c := g.dialFrames().write(fr{kind: frame.Heartbeat, id: 1})
	c.next()
	random := rand.New(rand.NewPCG(3, 4))
	for round := range 30 {
		known := round%3 == 0
		r := &creditRun{t: t, g: g, c: c, body: noise(random.IntN(3 * frame.Window)), given: frame.Window}
		r.o.id, r.rest = uint64(round+1), len(r.body)
		r.begin(known)
		g.onLoop(func(w *worker) { r.add(&w.clients.owner.(*muxSession).wire, random) })
		r.read()
		for r.given < len(r.body) {
			g.onLoop(func(w *worker) {
				r.o.blocked = true
				r.credit(&w.clients.owner.(*muxSession).wire, 1+random.IntN(100000))
			})
			r.read()
		}
		require.True(t, bytes.Equal(r.body, r.got), "round %d: %d of %d", round, len(r.got), len(r.body))
		require.True(t, r.o.over)
		if !known {
			require.Equal(t, "1", r.last.pair("x-end"))
		}
		g.onLoop(func(w *worker) {
			r.o.reset(w)
			r.o.waiting.discard(w.loop)
		})
	}
	require.Zero(t, g.stats().Reactor.BlocksHeld)
}

func (r *creditRun) begin(known bool) {
	r.h.Reset()
	r.h.SetStatus(200)
	r.trailers.Reset()
	if known {
		r.h.SetFraming(codec.FramingLength, int64(len(r.body)))
		return
	}
	r.h.SetFraming(codec.FramingChunked, -1)
	r.trailers.AddString("x-end", "1")
}

// add sends the answer in pieces, with some credit in between.
func (r *creditRun) add(c *wire, random *rand.Rand) {
	r.o.open(&c.traits)
	assert.NoError(r.t, r.o.start(c, &r.h))
	for r.rest > 0 {
		n := 1 + random.IntN(min(r.rest, 60000))
		at := len(r.body) - r.rest
		r.rest -= n
		assert.NoError(r.t, r.o.add(c, r.body[at:at+n]))
		r.check(c)
		if random.IntN(3) == 0 {
			r.credit(c, 1+random.IntN(50000))
		}
	}
	assert.NoError(r.t, r.o.end(c, &r.trailers))
	assert.Equal(r.t, r.o.waiting.size == 0, r.o.over)
	r.o.blocked = false
}

func (r *creditRun) credit(c *wire, n int) {
	r.given += n
	blocked := r.o.blocked
	feed, err := r.o.credit(c, n)
	assert.NoError(r.t, err)
	assert.Equal(r.t, blocked && r.o.waiting.size == 0, feed)
	r.check(c)
}

// check compares what was sent with what may be.
func (r *creditRun) check(c *wire) {
	sent := len(r.body) - r.rest - r.o.waiting.size
	assert.LessOrEqual(r.t, sent, r.given)
	assert.Equal(r.t, r.given-sent, r.o.window)
	assert.True(r.t, sent == r.given || r.o.waiting.size == 0, "it waits for nothing")
	assert.Equal(r.t, r.o.waiting.size > 0, r.o.overHigh(c))
}

// read takes what there is credit for.
func (r *creditRun) read() {
	until := min(len(r.body), r.given)
	ends := until == len(r.body)
	for len(r.got) < until || ends && (r.last.kind == 0 || r.last.flags&frame.More != 0) {
		r.last = r.c.next()
		require.Equal(r.t, r.o.id, r.last.id)
		r.got = append(r.got, r.last.body...)
	}
}

// A message that cannot be split is sent from where it lies if it is whole, and gathered
// if not.
func TestOutgoingOfOneFrame(t *testing.T) {
	s := privates(t, true, refusing(t))
	g := s.start(t)
	c := g.dial().send(privateFrame(1, "lost"))
	c.expectPrivate(1, "no: route_not_found")
	send := func(length int64, pieces ...string) (waited int, err error) {
		g.onLoop(func(w *worker) {
			wire := &w.clients.owner.(*muxSession).wire
			var h codec.Head
			h.Reset()
			h.SetStatus(200)
			h.SetFraming(codec.FramingChunked, -1)
			if length >= 0 {
				h.SetFraming(codec.FramingLength, length)
			}
			o := outgoing{id: 5}
			o.open(&wire.traits)
			err = o.start(wire, &h)
			for _, p := range pieces {
				if err == nil {
					err = o.add(wire, []byte(p))
				}
			}
			waited = o.waiting.size
			if err == nil {
				err = o.end(wire, nil)
			}
			o.waiting.discard(w.loop)
		})
		return waited, err
	}
	waited, err := send(5, "whole")
	require.NoError(t, err)
	require.Zero(t, waited)
	c.expectPrivate(5, "whole")
	waited, err = send(-1, "in ", "pieces")
	require.NoError(t, err)
	require.Equal(t, 9, waited)
	c.expectPrivate(5, "in pieces")
	_, err = send(-1)
	require.NoError(t, err)
	c.expectPrivate(5, "")
	_, err = send(maxMessage+1, "never")
	require.ErrorIs(t, err, errMessageTooLarge)
	big := string(make([]byte, maxMessage/2+1))
	_, err = send(-1, big, big)
	require.ErrorIs(t, err, errMessageTooLarge)
	require.Zero(t, g.stats().Reactor.BlocksHeld)
}
