package reactor

import "sync/atomic"

// Task is a piece of work for a loop. It may be embedded, and posted again once it has begun to run.
type Task struct {
	// Run is called on the loop. A panic is counted and the loop goes on.
	Run func(l *Loop)

	next   *Task
	queued atomic.Bool
}

// mailbox is an intrusive stack: producers push by compare-and-swap, the loop takes the whole stack at
// once and reverses it, so tasks of one producer run in their order.
type mailbox struct {
	top atomic.Pointer[Task]
}

// closedBox on top of the stack says that nothing is taken any more.
var closedBox = new(Task)

// Post has t run on the loop. It returns false, and t does not run, if the loop has stopped. A task
// that waits already runs once. Any goroutine.
func (l *Loop) Post(t *Task) bool {
	if t.queued.Swap(true) {
		return true
	}
	l.callers.Add(1)
	pushed, first := l.mail.push(t)
	if first {
		l.poller.Wake()
	}
	l.callers.Add(-1)
	if !pushed {
		t.queued.Store(false)
	}
	return pushed
}

// push reports whether t was taken, and whether the stack was empty: then the loop has to be woken.
func (m *mailbox) push(t *Task) (pushed, first bool) {
	for {
		top := m.top.Load()
		if top == closedBox {
			return false, false
		}
		t.next = top
		if m.top.CompareAndSwap(top, t) {
			return true, top == nil
		}
	}
}

// take empties the stack and returns its tasks, oldest first.
func (m *mailbox) take() *Task {
	if m.top.Load() == nil {
		return nil
	}
	return reversed(m.top.Swap(nil))
}

// close refuses further tasks and returns those that were waiting.
func (m *mailbox) close() *Task {
	return reversed(m.top.Swap(closedBox))
}

func reversed(t *Task) *Task {
	var head *Task
	for t != nil && t != closedBox {
		next := t.next
		t.next = head
		head, t = t, next
	}
	return head
}

// tasks is the list that the loop works off, a budget at a time.
type tasks struct {
	head, tail *Task
}

func (q *tasks) append(t *Task) {
	if t == nil {
		return
	}
	if q.tail == nil {
		q.head = t
	} else {
		q.tail.next = t
	}
	for t.next != nil {
		t = t.next
	}
	q.tail = t
}

func (q *tasks) pop() *Task {
	t := q.head
	if t == nil {
		return nil
	}
	q.head = t.next
	if q.head == nil {
		q.tail = nil
	}
	t.next = nil
	t.queued.Swap(false) // before it runs, so that it may post itself; a swap sees what a poster wrote
	return t
}
