package reactor

// chain is a list of blocks with the spans that hold bytes: a write queue, or input kept for later.
type chain struct {
	head, tail *Block
	size       int
}

// add copies p to the end.
func (q *chain) add(l *Loop, p []byte) {
	q.size += len(p)
	for len(p) > 0 {
		if q.tail == nil || q.tail.to == BlockSize {
			q.grow(l.GetBlock())
		}
		n := copy(q.tail.mem[q.tail.to:], p)
		q.tail.to += n
		p = p[n:]
	}
}

func (q *chain) grow(b *Block) {
	b.next, b.from, b.to = nil, 0, 0
	if q.tail == nil {
		q.head = b
	} else {
		q.tail.next = b
	}
	q.tail = b
}

// pieces appends the spans in order, as many as fit in dst's capacity, and returns their total too.
func (q *chain) pieces(dst [][]byte) ([][]byte, int) {
	total := 0
	for b := q.head; b != nil && len(dst) < cap(dst); b = b.next {
		dst = append(dst, b.mem[b.from:b.to])
		total += b.to - b.from
	}
	return dst, total
}

// drop takes n bytes off the front and gives emptied blocks back.
func (q *chain) drop(l *Loop, n int) {
	q.size -= n
	for n > 0 {
		b := q.head
		k := min(n, b.to-b.from)
		b.from += k
		n -= k
		if b.from == b.to {
			q.shift(l)
		}
	}
}

func (q *chain) shift(l *Loop) {
	b := q.head
	q.head = b.next
	if q.head == nil {
		q.tail = nil
	}
	l.PutBlock(b)
}

// move copies everything to dst, which is large enough, and empties the list.
func (q *chain) move(l *Loop, dst []byte) {
	for b := q.head; b != nil; b = q.head {
		dst = dst[copy(dst, b.mem[b.from:b.to]):]
		q.shift(l)
	}
	q.size = 0
}

func (q *chain) clear(l *Loop) {
	for q.head != nil {
		q.shift(l)
	}
	q.size = 0
}
