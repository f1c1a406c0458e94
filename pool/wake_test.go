package pool

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReleaseWakesAnotherLoop(t *testing.T) {
	w := newWorld(t, 2)
	s, e := w.limited(Limits{MaxConnections: 1})
	a := w.must(Dial, 0, s, e)
	b := w.must(Queued, 1, s, e)
	w.put(a)
	assert.Equal(t, []CloseReason{ReasonYield}, a.conn.reasons, "connections do not change loops")
	assert.Equal(t, []posted{{1, e}}, w.mail)
	w.deliver()
	assert.Equal(t, 1, b.granted)
	assert.False(t, e.Waiting())
	assert.EqualValues(t, 1, w.locals[0].Stats().Posted)
	assert.EqualValues(t, 1, w.locals[1].Stats().Woken)
}

func TestRemoveAndDialFailedWakeAnotherLoop(t *testing.T) {
	w := newWorld(t, 2)
	s, e := w.limited(Limits{MaxConnections: 2})
	a := w.must(Dial, 0, s, e)
	require.True(t, w.locals[0].Reserve(e))
	b, c := w.must(Queued, 1, s, e), w.must(Queued, 1, s, e)
	w.locals[0].Remove(a.conn)
	w.deliver()
	assert.Equal(t, 1, b.granted)
	w.locals[0].DialFailed(e)
	w.deliver()
	assert.Equal(t, 1, c.granted)
}

func TestEveryFourthReleaseGoesToOthers(t *testing.T) {
	for _, give := range []func(w *world, c *client){
		func(w *world, c *client) { w.put(c) },
		func(w *world, c *client) { c.local.Remove(c.conn) },
	} {
		w := newWorld(t, 2)
		s, e := w.limited(Limits{MaxConnections: 1})
		holder := w.must(Dial, 0, s, e)
		var own []*client
		for range 10 {
			own = append(own, w.must(Queued, 0, s, e))
		}
		other := w.must(Queued, 1, s, e)
		for i := range 3 {
			give(w, holder)
			require.Equal(t, 1, own[i].granted, i)
			holder = own[i]
			require.Empty(t, w.mail)
		}
		give(w, holder)
		assert.Zero(t, own[3].granted)
		w.deliver()
		assert.Equal(t, 1, other.granted)
		give(w, other)
		w.deliver()
		assert.Equal(t, 1, own[3].granted)
	}
}

func TestWaitingLoopsTakeTurns(t *testing.T) {
	w := newWorld(t, 4)
	s, e := w.limited(Limits{MaxConnections: 3})
	var holders []*client
	for range 3 {
		holders = append(holders, w.must(Dial, 1, s, e))
	}
	for _, loop := range []int{0, 2, 3} {
		w.must(Queued, loop, s, e)
	}
	for _, c := range holders {
		w.put(c)
	}
	assert.Equal(t, []posted{{2, e}, {3, e}, {0, e}}, w.mail, "one wake-up each, going round")
}

func TestWakeUpIsPassedOnWhenItsWaiterLeft(t *testing.T) {
	w := newWorld(t, 3)
	s, e := w.limited(Limits{MaxConnections: 1})
	a := w.must(Dial, 0, s, e)
	gone, b := w.must(Queued, 1, s, e), w.must(Queued, 2, s, e)
	w.put(a) // loop 1 is posted
	w.locals[1].Cancel(&gone.waiter)
	w.deliver()
	assert.Equal(t, 1, b.granted)
}

func TestWakeUpThatComesTooLateIsRepeated(t *testing.T) {
	w := newWorld(t, 2)
	s, e := w.limited(Limits{MaxConnections: 1})
	a := w.must(Dial, 0, s, e)
	b := w.must(Queued, 1, s, e)
	w.put(a)
	thief := w.must(Dial, 0, s, e) // before loop 1 runs
	w.deliver()
	assert.Zero(t, b.granted)
	assert.True(t, e.Waiting(), "the bit is up again")
	w.locals[0].Remove(thief.conn)
	w.deliver()
	assert.Equal(t, 1, b.granted)
}

func TestIdleConnectionsOfOneLoopDoNotStarveAnother(t *testing.T) {
	w := newWorld(t, 3)
	s, e := w.limited(Limits{MaxConnections: 4})
	var idle []*client
	for i := range 4 {
		idle = append(idle, w.must(Dial, i%2, s, e))
	}
	for _, c := range idle {
		w.put(c)
	}
	var waiting []*client
	for range 4 {
		waiting = append(waiting, w.must(Queued, 2, s, e))
	}
	w.deliver()
	for i, c := range waiting {
		assert.Equal(t, 1, c.granted, i)
	}
	assert.EqualValues(t, 4, e.Conns())
	assert.EqualValues(t, 2, w.locals[0].Stats().Closed[ReasonYield])
	assert.EqualValues(t, 2, w.locals[1].Stats().Closed[ReasonYield])
}

func TestUnlimitedEndpointsAdvertiseNothing(t *testing.T) {
	w := newWorld(t, 2)
	s, e := w.limited(Limits{})
	w.put(w.must(Dial, 0, s, e))
	assert.Zero(t, e.spare.Load())
	w.must(Dial, 1, s, e)
	assert.Empty(t, w.mail)
}

func TestMoreLoopsThanBits(t *testing.T) {
	w := newWorld(t, maskBits+6)
	s, e := w.limited(Limits{MaxConnections: 1})
	a := w.must(Dial, 2, s, e)
	b := w.must(Queued, maskBits+2, s, e) // shares its bit with loop 2
	w.put(a)
	w.deliver()
	require.Equal(t, 1, b.granted)
	c := w.must(Queued, 2, s, e)
	w.put(b)
	w.deliver()
	require.Equal(t, 1, c.granted)
	d := w.must(Queued, 5, s, e)
	w.put(c)
	w.deliver()
	require.Equal(t, 1, d.granted)
	assert.EqualValues(t, 1, e.Conns())
}
