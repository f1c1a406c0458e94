package filters_test

import (
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"github.com/corelane/corelane/filters"
)

func TestPerLoop(t *testing.T) {
	counts := filters.NewPerLoop[int]()
	var loops sync.WaitGroup
	for loop := range filters.MaxLoops {
		loops.Go(func() {
			ctx := filters.Context{Loop: loop}
			for range loop {
				*counts.At(&ctx)++
			}
		})
	}
	loops.Wait()
	for loop := range filters.MaxLoops {
		assert.Equal(t, loop, *counts.At(&filters.Context{Loop: loop}))
	}
}

func TestPerLoopCellsAreApart(t *testing.T) {
	cells := filters.NewPerLoop[byte]()
	first := uintptr(unsafe.Pointer(cells.At(&filters.Context{Loop: 0})))
	second := uintptr(unsafe.Pointer(cells.At(&filters.Context{Loop: 1})))
	assert.GreaterOrEqual(t, second-first, uintptr(64), "no cache line is shared")
}

func TestPerLoopFunc(t *testing.T) {
	numbers := filters.NewPerLoopFunc(func(loop int, n *int) { *n = 10 * loop })
	assert.Equal(t, 0, *numbers.At(&filters.Context{Loop: 0}))
	assert.Equal(t, 630, *numbers.At(&filters.Context{Loop: 63}))
	assert.Panics(t, func() { numbers.At(&filters.Context{Loop: filters.MaxLoops}) })
}
