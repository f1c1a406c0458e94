package filters

import "sync/atomic"

var slotsTaken atomic.Int32

// Slot is a typed place in every Context, for what filters tell one another.
// Storing a pointer allocates nothing. The zero Slot is no slot: using it panics.
type Slot[T any] struct {
	// number counts from 1, so that a Slot nobody registered is not the first.
	number int
}

// NewSlot registers a slot. It is called from package variables or init
// functions and panics when a program registers more than 16, since the
// program is then built wrongly.
func NewSlot[T any]() Slot[T] {
	n := int(slotsTaken.Add(1))
	if n > maxSlots {
		panic("filters: more than 16 slots are registered")
	}
	return Slot[T]{number: n}
}

// Get returns what was set in this exchange; false if nothing was. Loop only.
func (s Slot[T]) Get(ctx *Context) (T, bool) {
	v, ok := ctx.slots[s.number-1].(T)
	return v, ok
}

// Set stores a value for the rest of the exchange. Loop only.
func (s Slot[T]) Set(ctx *Context, v T) {
	ctx.slots[s.number-1] = v
	ctx.slotted = true
}
