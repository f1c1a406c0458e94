package engine

import "sync/atomic"

// ringSize is the bytes of log that a loop may be ahead of the writer; about
// 3,000 records. It is a power of two.
const ringSize = 1 << 20

// Ring carries bytes from one loop to one writer goroutine without a lock. A
// record is put whole or not at all.
type Ring struct {
	buf  []byte
	_    [64]byte
	head atomic.Uint64 // bytes written by the loop
	_    [64]byte
	tail atomic.Uint64 // bytes taken by the writer
}

// NewRing returns an empty ring of 1 MiB.
func NewRing() *Ring { return &Ring{buf: make([]byte, ringSize)} }

// Put appends one record; false if there is no room, and then nothing was
// written. Only the owning loop may call it.
func (r *Ring) Put(record []byte) bool {
	head := r.head.Load()
	if uint64(len(record)) > ringSize-(head-r.tail.Load()) {
		return false
	}
	at := head & (ringSize - 1)
	n := copy(r.buf[at:], record)
	copy(r.buf, record[n:])
	r.head.Store(head + uint64(len(record)))
	return true
}

// Peek returns up to two slices that hold what is ready, in order. They stay
// valid until Take. Only the writer may call it.
func (r *Ring) Peek() (first, second []byte) {
	tail, head := r.tail.Load(), r.head.Load()
	n := head - tail
	at := tail & (ringSize - 1)
	if at+n <= ringSize {
		return r.buf[at : at+n], nil
	}
	return r.buf[at:], r.buf[:at+n-ringSize]
}

// Take frees n bytes that Peek has shown. Only the writer may call it.
func (r *Ring) Take(n int) { r.tail.Add(uint64(n)) }
