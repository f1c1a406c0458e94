package filters_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/corelane/corelane/filters"
)

type user struct{ name string }

var (
	userSlot  = filters.NewSlot[*user]()
	countSlot = filters.NewSlot[int]()
)

func TestSlots(t *testing.T) {
	x := get(t)
	_, ok := userSlot.Get(&x.Context)
	assert.False(t, ok, "nothing was set")

	ada := &user{"ada"}
	userSlot.Set(&x.Context, ada)
	countSlot.Set(&x.Context, 3)
	got, ok := userSlot.Get(&x.Context)
	assert.True(t, ok)
	assert.Same(t, ada, got)
	n, ok := countSlot.Get(&x.Context)
	assert.True(t, ok)
	assert.Equal(t, 3, n)

	x.Recycle()
	_, ok = userSlot.Get(&x.Context)
	assert.False(t, ok, "the next exchange begins empty")

	assert.Zero(t, testing.AllocsPerRun(100, func() { userSlot.Set(&x.Context, ada) }))
}

func TestSlotThatNobodyRegistered(t *testing.T) {
	x := get(t)
	var none filters.Slot[int]
	assert.Panics(t, func() { none.Set(&x.Context, 1) })
	assert.Panics(t, func() { none.Get(&x.Context) })
}

// TestTooManySlots takes the slots that are left: no other test registers one.
func TestTooManySlots(t *testing.T) {
	assert.PanicsWithValue(t, "filters: more than 16 slots are registered", func() {
		for range 17 {
			filters.NewSlot[int]()
		}
	})
}
