package pool

// link makes its owner a member of at most one list at a time.
type link[T any] struct {
	prev, next *link[T]
	in         *list[T]
	item       *T
}

// listed says whether the owner is in a list.
func (k *link[T]) listed() bool { return k.in != nil }

// unlink takes the owner out of whatever list it is in.
func (k *link[T]) unlink() {
	if k.in != nil {
		k.in.remove(k)
	}
}

// list is an intrusive double-ended queue. The zero value is empty.
type list[T any] struct {
	head, tail *link[T]
	n          int
}

func (q *list[T]) empty() bool { return q.head == nil }

// front is the first item, or nil.
func (q *list[T]) front() *T {
	if q.head == nil {
		return nil
	}
	return q.head.item
}

// back is the last item, or nil.
func (q *list[T]) back() *T {
	if q.tail == nil {
		return nil
	}
	return q.tail.item
}

func (q *list[T]) pushFront(k *link[T], item *T) {
	k.item, k.in, k.prev, k.next = item, q, nil, q.head
	if q.head == nil {
		q.tail = k
	} else {
		q.head.prev = k
	}
	q.head = k
	q.n++
}

func (q *list[T]) pushBack(k *link[T], item *T) {
	k.item, k.in, k.prev, k.next = item, q, q.tail, nil
	if q.tail == nil {
		q.head = k
	} else {
		q.tail.next = k
	}
	q.tail = k
	q.n++
}

func (q *list[T]) remove(k *link[T]) {
	if k.prev == nil {
		q.head = k.next
	} else {
		k.prev.next = k.next
	}
	if k.next == nil {
		q.tail = k.prev
	} else {
		k.next.prev = k.prev
	}
	k.prev, k.next, k.in = nil, nil, nil
	q.n--
}
