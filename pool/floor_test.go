package pool

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// floored makes a service and n idle connections of one loop.
func floored(t *testing.T, limits Limits, n int) (w *world, s *Service, e *Endpoint, clients []*client) {
	w = newWorld(t, 1)
	s, e = w.limited(limits)
	for range n {
		clients = append(clients, w.must(Dial, 0, s, e))
	}
	for _, c := range clients {
		w.put(c)
	}
	return w, s, e, clients
}

func TestFloorDoesNotIdleOut(t *testing.T) {
	limits := Limits{Idle: time.Minute, MinIdle: 2}
	w, s, e, _ := floored(t, limits, 5)
	w.locals[0].SetFloor(e, 2, limits)
	assert.Equal(t, 5, w.locals[0].Open(e))
	for range 3 {
		w.pass(time.Minute)
		assert.Equal(t, 2, w.locals[0].Open(e), "the surplus goes at once, the floor never")
	}
	a := w.must(Idle, 0, s, e)
	assert.Equal(t, 2, w.locals[0].Open(e), "a lent connection counts")
	w.put(a)
	w.locals[0].SetFloor(e, 1, limits)
	w.pass(time.Minute)
	assert.Equal(t, 1, w.locals[0].Open(e))
	w.locals[0].SetFloor(e, 0, Limits{})
	w.pass(time.Minute)
	assert.Zero(t, e.Conns())
}

// TestFloorIsLentAfterItsTerm: the sweep may be late.
func TestFloorIsLentAfterItsTerm(t *testing.T) {
	limits := Limits{Idle: time.Minute}
	w, s, e, clients := floored(t, limits, 1)
	w.locals[0].SetFloor(e, 1, limits)
	w.now += int64(time.Hour)
	assert.Same(t, clients[0].conn, w.must(Idle, 0, s, e).conn)
}

func TestFloorIsNoExcuseForAge(t *testing.T) {
	limits := Limits{Idle: time.Minute, MaxAge: 150 * time.Second}
	w, _, e, clients := floored(t, limits, 1)
	w.locals[0].SetFloor(e, 1, limits)
	w.pass(149 * time.Second)
	assert.Equal(t, 1, w.locals[0].Open(e))
	w.pass(time.Second)
	assert.Equal(t, []CloseReason{ReasonAge}, clients[0].conn.reasons)
}

func TestFloorKeepsItsLane(t *testing.T) {
	w := newWorld(t, 1)
	_, e := w.limited(Limits{})
	l := w.locals[0]
	l.SetFloor(e, 0, Limits{})
	require.Nil(t, l.known(e), "nothing is made to forget it")
	assert.Zero(t, l.Open(e))
	l.SetFloor(e, 1, Limits{})
	w.registry.Publish(nil)
	l.CloseRetired(w.now)
	require.NotNil(t, l.known(e))
	assert.Empty(t, l.Snapshot(nil), "it holds nothing")
	l.SetFloor(e, 0, Limits{})
	l.CloseRetired(w.now)
	assert.Nil(t, l.known(e))
}

func TestLoopShare(t *testing.T) {
	for total := range 20 {
		for loops := 1; loops < 9; loops++ {
			sum := 0
			for id := range loops {
				share := LoopShare(total, loops, id)
				sum += share
				assert.Contains(t, []int{total / loops, total/loops + 1}, share)
				assert.GreaterOrEqual(t, LoopShare(total, loops, 0), share)
			}
			assert.Equal(t, total, sum)
		}
	}
}
