package filters

// MaxLoops bounds the loops of one process.
const MaxLoops = 64

// PerLoop keeps one value for each loop, so that a filter can count or cache
// without a lock. Build it in Provision, or once for all places of use in a
// package variable; At is for the loop of the context.
type PerLoop[T any] struct{ cells []padded[T] }

// padded keeps the cells of two loops off one cache line.
type padded[T any] struct {
	value T
	_     [64]byte
}

// NewPerLoop returns zero values for every loop that a process may have, 64
// bytes and a T each. Any goroutine may call it.
func NewPerLoop[T any]() *PerLoop[T] {
	return &PerLoop[T]{cells: make([]padded[T], MaxLoops)}
}

// NewPerLoopFunc is NewPerLoop with a function that makes each value ready; it
// is called at once, for every loop from 0. Any goroutine may call it.
func NewPerLoopFunc[T any](ready func(loop int, value *T)) *PerLoop[T] {
	p := NewPerLoop[T]()
	for i := range p.cells {
		ready(i, &p.cells[i].value)
	}
	return p
}

// At returns the cell of the loop that the exchange runs on. Only that loop may
// use it.
func (p *PerLoop[T]) At(ctx *Context) *T { return &p.cells[ctx.Loop].value }
