package engine

import "github.com/corelane/corelane/engine/reactor"

const (
	// smallQueue is what a byteQueue holds before it takes blocks, in bytes: of
	// thousands of small messages that wait, each needs only its size.
	smallQueue = 2 << 10
	// keptQueue is the capacity for small contents that is kept for the next.
	keptQueue = 512
)

// byteQueue holds bytes until they can go on, first in, first out.
type byteQueue struct {
	small  []byte // all bytes, while there are no blocks
	blocks []*reactor.Block
	from   int // bytes taken out of the first block, or of small
	used   int // bytes in the last block
	size   int
}

// add copies p behind the rest.
func (q *byteQueue) add(l *reactor.Loop, p []byte) {
	if len(q.blocks) == 0 && len(q.small)+len(p) <= smallQueue {
		before := cap(q.small)
		q.small = append(q.small, p...)
		l.Memory().Add(int64(cap(q.small) - before))
		q.size += len(p)
		return
	}
	if len(q.blocks) == 0 && q.size > 0 {
		moved := q.small[q.from:]
		q.small, q.from = q.small[:0], 0
		q.append(l, moved)
	}
	q.append(l, p)
	q.size += len(p)
	if len(q.small) > 0 {
		q.small = q.small[:0]
	}
}

func (q *byteQueue) append(l *reactor.Loop, p []byte) {
	for len(p) > 0 {
		if len(q.blocks) == 0 || q.used == reactor.BlockSize {
			q.blocks = append(q.blocks, l.GetBlock())
			q.used = 0
		}
		n := copy(q.blocks[len(q.blocks)-1].Bytes()[q.used:], p)
		q.used += n
		p = p[n:]
	}
}

// front is the first piece, nil if there is none.
func (q *byteQueue) front() []byte {
	switch len(q.blocks) {
	case 0:
		return q.small[q.from:]
	case 1:
		return q.blocks[0].Bytes()[q.from:q.used]
	}
	return q.blocks[0].Bytes()[q.from:]
}

// drop takes n bytes of the first piece out. Nothing that was written may
// reference them any more.
func (q *byteQueue) drop(l *reactor.Loop, n int) {
	q.from += n
	q.size -= n
	if q.size == 0 {
		q.release(l)
		return
	}
	if len(q.blocks) > 0 && q.from == reactor.BlockSize {
		l.PutBlock(q.blocks[0])
		rest := copy(q.blocks, q.blocks[1:])
		q.blocks[rest] = nil
		q.blocks, q.from = q.blocks[:rest], 0
	}
}

// each calls fn with every piece, in order, and leaves the queue as it is.
func (q *byteQueue) each(fn func(b []byte)) {
	if len(q.blocks) == 0 && q.size > 0 {
		fn(q.small[q.from:])
	}
	for i, b := range q.blocks {
		from, to := 0, reactor.BlockSize
		if i == 0 {
			from = q.from
		}
		if i == len(q.blocks)-1 {
			to = q.used
		}
		fn(b.Bytes()[from:to])
	}
}

// join appends everything to dst and leaves the queue as it is.
func (q *byteQueue) join(dst []byte) []byte {
	q.each(func(b []byte) { dst = append(dst, b...) })
	return dst
}

// discard releases the queue of an owner that is given up.
func (q *byteQueue) discard(l *reactor.Loop) {
	q.release(l)
	l.Memory().Add(int64(-cap(q.small)))
	*q = byteQueue{}
}

// release forgets everything. Nothing that was written may reference it any more.
func (q *byteQueue) release(l *reactor.Loop) {
	for i, b := range q.blocks {
		l.PutBlock(b)
		q.blocks[i] = nil
	}
	if cap(q.small) > keptQueue {
		l.Memory().Add(int64(-cap(q.small)))
		q.small = nil
	}
	*q = byteQueue{small: q.small[:0], blocks: q.blocks[:0]}
}
