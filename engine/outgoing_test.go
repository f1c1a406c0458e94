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

// Of an answer leaves what there is credit for, in order, whatever the sizes of its
// pieces and of the credit; its end comes once, with the trailers.
func TestOutgoingKeepsToItsCredit(t *testing.T) {
	g := frames(refusing(t)).start(t)
	c := g.dialFrames().write(fr{kind: frame.Heartbeat, id: 1})
	c.next()
	random := rand.New(rand.NewPCG(3, 4))
	for round := range 30 {
		body := noise(random.IntN(3 * frame.Window))
		var h, trailers codec.Head
		h.Reset()
		h.SetStatus(200)
		h.SetFraming(codec.FramingChunked, -1)
		known := round%3 == 0
		if known {
			h.SetFraming(codec.FramingLength, int64(len(body)))
		}
		trailers.Reset()
		if !known {
			trailers.AddString("x-end", "1")
		}
		var o outgoing
		var given, rest int
		check := func(wire *wire) {
			sent := len(body) - rest - o.waiting.size
			if sent > given || given-sent != o.window || sent < given && o.waiting.size > 0 {
				t.Error("sent", sent, "of", given, "window", o.window, "waiting", o.waiting.size)
			}
			if o.overHigh(wire) != (o.waiting.size > 0) && !wire.conn.OverHigh() {
				t.Error("over its credit, and it takes more")
			}
		}
		g.onLoop(func(w *worker) {
			wire := &w.clients.owner.(*muxSession).wire
			o.id = uint64(round + 1)
			o.open(&wire.traits)
			given, rest = frame.Window, len(body)
			assert.NoError(t, o.start(wire, &h))
			for left := body; len(left) > 0; {
				n := 1 + random.IntN(min(len(left), 60000))
				assert.NoError(t, o.add(wire, left[:n]))
				left, rest = left[n:], len(left)-n
				check(wire)
				if random.IntN(3) == 0 {
					more := 1 + random.IntN(50000)
					given += more
					_, err := o.credit(wire, more)
					assert.NoError(t, err)
					check(wire)
				}
			}
			assert.NoError(t, o.end(wire, &trailers))
			if o.over != (o.waiting.size == 0) {
				t.Error("over", o.over, "waiting", o.waiting.size)
			}
			o.blocked = false
		})
		var got []byte
		var last fr
		read := func(until int) {
			for len(got) < until || until == len(body) && (last.kind == 0 || last.flags&frame.More != 0) {
				last = c.next()
				require.Equal(t, uint64(round+1), last.id)
				got = append(got, last.body...)
			}
		}
		read(min(len(body), given))
		for given < len(body) {
			more := 1 + random.IntN(100000)
			g.onLoop(func(w *worker) {
				wire := &w.clients.owner.(*muxSession).wire
				o.blocked = true
				given += more
				feed, err := o.credit(wire, more)
				assert.NoError(t, err)
				check(wire)
				if feed != (o.waiting.size == 0) && !wire.conn.OverHigh() {
					t.Error("feed", feed, "waiting", o.waiting.size)
				}
			})
			read(min(len(body), given))
		}
		read(len(body))
		require.True(t, bytes.Equal(body, got), "round %d: %d of %d", round, len(got), len(body))
		require.True(t, o.over)
		if !known {
			require.Equal(t, "1", last.pair("x-end"))
		}
		g.onLoop(func(w *worker) {
			o.reset(w)
			o.waiting.discard(w.loop)
		})
	}
	require.Zero(t, g.stats().Reactor.BlocksHeld)
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
