package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestOpenLoop(t *testing.T) {
	s := newSchedule(1000, 0, 3500*time.Microsecond)
	due, ok := s.take(0)
	assert.True(t, ok, "the first is due at once")
	assert.Zero(t, due)
	_, ok = s.take(999 * time.Microsecond)
	assert.False(t, ok)
	assert.False(t, s.ready(999*time.Microsecond))

	// A stall of 10 ms: what was due meanwhile is due at its own time.
	const late = 10 * time.Millisecond
	assert.Equal(t, 3, s.behind(late))
	for _, want := range []time.Duration{time.Millisecond, 2 * time.Millisecond, 3 * time.Millisecond} {
		assert.True(t, s.ready(late))
		due, ok = s.take(late)
		assert.True(t, ok)
		assert.Equal(t, want, due)
	}
	_, ok = s.take(late)
	assert.False(t, ok, "the one at 4 ms is after the end")
	assert.True(t, s.over(0))
	assert.Zero(t, s.behind(late))
}

func TestNoRoundingAddsUp(t *testing.T) {
	s := newSchedule(300_000, 0, time.Hour)
	s.taken = 300_000 * 60
	assert.Equal(t, time.Minute, s.due())
}

func TestClosedLoop(t *testing.T) {
	s := newSchedule(0, 2, time.Second)
	for _, now := range []time.Duration{0, 5} {
		due, ok := s.take(now)
		assert.True(t, ok)
		assert.Equal(t, now, due)
	}
	_, ok := s.take(6)
	assert.False(t, ok, "no more than the limit")
	assert.Zero(t, s.behind(time.Second))

	s = newSchedule(0, 0, time.Second)
	assert.True(t, s.ready(time.Second-1))
	assert.False(t, s.ready(time.Second))
}

func TestLimitOfAnOpenLoop(t *testing.T) {
	s := newSchedule(1000, 2, time.Hour)
	assert.Equal(t, 2, s.behind(time.Second))
	s.taken = 2
	assert.True(t, s.over(0))
	assert.Zero(t, s.behind(time.Second))
}
