package reactor

import (
	"bytes"
	"math/bits"

	"golang.org/x/sys/unix"
)

// Block is BlockSize bytes outside the Go heap. It belongs to the loop that it came from and goes back
// there. While it is held its holder may use it freely; inside this package it carries a span and a
// link, which makes a list of blocks cost nothing beyond the blocks.
type Block struct {
	mem      []byte
	region   *region
	next     *Block
	from, to int
	index    uint8
	free     bool
}

// Bytes is the whole block. It must not be used after PutBlock.
func (b *Block) Bytes() []byte { return b.mem }

// GetBlock takes a block; its content is undefined. It counts in Memory until PutBlock. On the loop.
func (l *Loop) GetBlock() *Block {
	l.assertLoop()
	l.opt.Memory.Add(BlockSize)
	l.stats.BlocksHeld++
	return l.arena.get()
}

// PutBlock gives a block back to the loop that it came from. On the loop.
func (l *Loop) PutBlock(b *Block) {
	l.assertLoop()
	l.arena.put(b)
	l.stats.BlocksHeld--
	l.opt.Memory.Add(-BlockSize)
}

// poison fills free blocks in debug builds, so that a write through a stale slice is found.
const poison = 0xdb

var poisoned = bytes.Repeat([]byte{poison}, BlockSize)

// arena hands out blocks from mapped regions: always from the first region that has one, so that the
// last regions fall empty, and there the block that was used last, which is still in the cache.
type arena struct {
	regions []*region // nil where one was given back
	first   int       // no region before it has a free block
	ticks   int
}

// region is one mapping with a stack of its free blocks.
type region struct {
	mem     []byte
	mapped  bool
	order   int // in arena.regions
	blocks  [regionBlocks]Block
	stack   [regionBlocks]uint8
	n       int    // free blocks: stack[:n]
	low     int    // smallest n since the last decay: stack[:low] was not touched
	dropped uint64 // free blocks whose pages were given back
}

func (a *arena) get() *Block {
	r := a.firstFree()
	r.n--
	r.low = min(r.low, r.n)
	b := &r.blocks[r.stack[r.n]]
	if debugBuild && r.dropped&(1<<b.index) == 0 && !bytes.Equal(b.mem, poisoned) {
		panic("reactor: a block was written to after it had been given back")
	}
	r.dropped &^= 1 << b.index
	b.free = false
	return b
}

func (a *arena) firstFree() *region {
	hole := -1
	for ; a.first < len(a.regions); a.first++ {
		r := a.regions[a.first]
		if r != nil && r.n > 0 {
			return r
		}
		if r == nil && hole < 0 {
			hole = a.first
		}
	}
	if hole < 0 {
		hole = len(a.regions)
		a.regions = append(a.regions, nil)
	}
	a.regions[hole] = newRegion(hole)
	a.first = hole
	return a.regions[hole]
}

func newRegion(order int) *region {
	r := &region{order: order, n: regionBlocks, low: regionBlocks}
	mem, err := unix.Mmap(-1, 0, regionSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	r.mapped = err == nil
	if !r.mapped { // out of mappings: the heap serves as well
		mem = make([]byte, regionSize)
	}
	r.mem = mem
	r.dropped = 1<<regionBlocks - 1 // fresh pages hold no poison either
	for i := range r.blocks {
		at := i * BlockSize
		r.blocks[i] = Block{mem: mem[at : at+BlockSize : at+BlockSize], region: r, index: uint8(i), free: true}
		r.stack[i] = uint8(regionBlocks - 1 - i)
	}
	return r
}

func (a *arena) put(b *Block) {
	r := b.region
	if b.free {
		panic("reactor: a block was given back twice")
	}
	if debugBuild {
		if r.order >= len(a.regions) || a.regions[r.order] != r {
			panic("reactor: a block was given back to another loop")
		}
		copy(b.mem, poisoned)
	}
	b.free = true
	b.next, b.from, b.to = nil, 0, 0
	r.stack[r.n] = b.index
	r.n++
	a.first = min(a.first, r.order)
}

// decay runs about once a second. Every decayTicks it gives back what was not used since the last
// time: whole regions, else the pages of single blocks. It reports whether there is more to watch.
func (a *arena) decay() (more bool) {
	a.ticks++
	sweep := a.ticks%decayTicks == 0
	for i, r := range a.regions {
		if r == nil {
			continue
		}
		if sweep && r.low == regionBlocks {
			r.release()
			a.regions[i] = nil
			continue
		}
		if sweep {
			r.dropCold()
			r.low = r.n
		}
		more = more || bits.OnesCount64(r.dropped) < r.n
	}
	return more
}

// dropCold gives back the pages of the blocks at the bottom of the stack.
func (r *region) dropCold() {
	if !r.mapped {
		return
	}
	for _, i := range r.stack[:r.low] {
		if r.dropped&(1<<i) == 0 && unix.Madvise(r.blocks[i].mem, unix.MADV_DONTNEED) == nil {
			r.dropped |= 1 << i
		}
	}
}

func (r *region) release() {
	if r.mapped {
		_ = unix.Munmap(r.mem)
	}
}

// free gives everything back, at the end of the loop.
func (a *arena) free() {
	for _, r := range a.regions {
		if r != nil && r.n == regionBlocks {
			r.release()
		}
	}
	a.regions = nil // a region with a block still held is leaked rather than pulled from under its holder
}
