package engine

import (
	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/filters"
)

var _ filters.Body = (*buffer)(nil)

// maxKeptList is the list of blocks that an exchange keeps for the next one.
const maxKeptList = 64

// buffer holds a request body whole: in blocks, or, once it has a spill, in that
// file, with the blocks that are still on their way there.
type buffer struct {
	blocks []*reactor.Block
	used   int   // bytes in the last block
	total  int64 // bytes of the body
	spill  *spill
}

// add keeps a piece.
func (b *buffer) add(l *reactor.Loop, p []byte) {
	b.total += int64(len(p))
	for len(p) > 0 {
		if len(b.blocks) == 0 || b.used == reactor.BlockSize {
			b.blocks = append(b.blocks, l.GetBlock())
			b.used = 0
		}
		n := copy(b.blocks[len(b.blocks)-1].Bytes()[b.used:], p)
		b.used += n
		p = p[n:]
	}
}

// Len implements filters.Body.
func (b *buffer) Len() int64 { return b.total }

// At implements filters.Body; only for a body without a spill.
func (b *buffer) At(n int64) []byte {
	if n < 0 || n >= b.total {
		return nil
	}
	i, from := int(n/reactor.BlockSize), int(n%reactor.BlockSize)
	to := reactor.BlockSize
	if i == len(b.blocks)-1 {
		to = b.used
	}
	return b.blocks[i].Bytes()[from:to:to]
}

// waiting is the number of blocks that are not in the file yet.
func (b *buffer) waiting() int { return len(b.blocks) + b.spill.carried() }

// write hands blocks to the spill if it is free: the full ones, or at the end of
// the body all. It says whether everything is in the file.
func (b *buffer) write(end bool) bool {
	if b.spill.busy {
		return false
	}
	n, size := min(len(b.blocks), maxCarried), 0
	switch {
	case n < len(b.blocks) || b.used == reactor.BlockSize:
		size = n * reactor.BlockSize
	case end && n > 0:
		size = (n-1)*reactor.BlockSize + b.used
	case n > 0:
		n-- // the last has room
		size = n * reactor.BlockSize
	}
	if n == 0 {
		return true
	}
	b.spill.write(b.blocks[:n], size)
	rest := copy(b.blocks, b.blocks[n:])
	clear(b.blocks[rest:])
	b.blocks = b.blocks[:rest]
	return false
}

// release forgets everything. Nothing that was written may reference it any more.
func (b *buffer) release(l *reactor.Loop) {
	if b.total == 0 {
		return // most exchanges hold nothing
	}
	for i, block := range b.blocks {
		l.PutBlock(block)
		b.blocks[i] = nil
	}
	if cap(b.blocks) > maxKeptList {
		b.blocks = nil
	}
	if b.spill != nil {
		b.spill.giveUp()
	}
	*b = buffer{blocks: b.blocks[:0]}
}
