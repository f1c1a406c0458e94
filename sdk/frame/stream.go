package frame

import (
	"context"
	"io"
	"sync"

	wire "github.com/corelane/corelane/codec/frame"
)

// stream is a request and its response on a link: what is received and what is
// sent under one id.
type stream struct {
	l    *link
	id   uint64
	kind wire.Kind // of what is sent
	in   inbox
	out  window
	// owner is told of the stream's failure, by any goroutine.
	owner interface{ failed(why *Error) }
}

func (s *stream) init(l *link, kind wire.Kind, owner interface{ failed(*Error) }) {
	s.l, s.kind, s.owner = l, kind, owner
	s.in.l, s.in.s = l, s
	s.in.allowed, s.out.left = wire.Window, wire.Window
}

// fail ends both directions. The first reason stays.
func (s *stream) fail(why *Error) {
	s.in.fail(why)
	s.out.fail(why)
	s.owner.failed(why)
}

// expired is the error of a wait that the context has ended.
func (s *stream) expired(ctx context.Context) *Error {
	return &Error{Kind: Expired, Peer: s.l.peer, Err: ctx.Err()}
}

// tooLarge is the error of a limit of this side's.
func (s *stream) tooLarge(text string) *Error {
	return &Error{Kind: TooLarge, Peer: s.l.peer, Text: text}
}

// inbox is the body that is received. The reader fills it, one other goroutine
// empties it.
type inbox struct {
	l *link
	s *stream

	mu       sync.Mutex
	b        []byte
	off      int
	allowed  int // bytes that the peer may send yet
	used     int // bytes read that it got no credit for
	end      bool
	closed   bool
	err      *Error
	trailers Metadata
	wake     chan struct{} // closed when something comes; nil: nobody waits
}

// push takes bytes from the reader, which goes on using b.
func (in *inbox) push(b []byte) *Error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed || in.err != nil {
		return nil
	}
	if in.allowed -= len(b); in.allowed < 0 {
		return &Error{Kind: Malformed, Peer: in.l.peer, Text: "the message is longer than its credit allows"}
	}
	if in.l.buffered.Add(int64(len(b))) > int64(in.l.o.Limits.Buffered) {
		in.l.buffered.Add(-int64(len(b)))
		return in.s.tooLarge("too much was sent that nobody has read")
	}
	if in.off > len(in.b)/2 {
		in.b, in.off = append(in.b[:0], in.b[in.off:]...), 0
	}
	in.b = append(in.b, b...)
	in.notify()
	return nil
}

// finish ends the body. whole is all of it if nothing was pushed, and belongs to
// the inbox from now on.
func (in *inbox) finish(whole []byte) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(whole) > 0 {
		in.b, in.off = whole, 0
		in.l.buffered.Add(int64(len(whole)))
	}
	in.end = true
	in.notify()
}

func (in *inbox) setTrailers(m Metadata) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.trailers = m
}

func (in *inbox) fail(why *Error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.err == nil && !in.end {
		in.err = why
	}
	in.notify()
}

func (in *inbox) notify() {
	if in.wake != nil {
		close(in.wake)
		in.wake = nil
	}
}

func (in *inbox) ended() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.end || in.err != nil
}

// close gives up what was not read.
func (in *inbox) close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.l.buffered.Add(-int64(len(in.b) - in.off))
	in.b, in.off, in.closed = nil, 0, true
	in.notify()
}

// read waits for the next bytes. The end is io.EOF.
func (in *inbox) read(ctx context.Context, p []byte) (int, error) {
	for {
		in.mu.Lock()
		if n := copy(p, in.b[in.off:]); n > 0 || len(p) == 0 {
			credit := in.consume(n)
			in.mu.Unlock()
			if credit > 0 {
				in.l.sendCredit(in.s.id, credit)
			}
			return n, nil
		}
		wake, err := in.wait()
		in.mu.Unlock()
		if err != nil {
			return 0, err
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return 0, in.s.expired(ctx)
		}
	}
}

// wait returns what to wait for, or why there is nothing to wait for.
func (in *inbox) wait() (<-chan struct{}, error) {
	switch {
	case in.err != nil:
		return nil, in.err
	case in.end:
		return nil, io.EOF
	case in.closed:
		return nil, io.ErrClosedPipe
	case in.wake == nil:
		in.wake = make(chan struct{})
	}
	return in.wake, nil
}

// consume takes n bytes off and returns the credit that the peer is to get.
func (in *inbox) consume(n int) (credit int) {
	in.l.buffered.Add(-int64(n))
	in.used += n
	if in.off += n; in.off == len(in.b) {
		in.b, in.off = in.b[:0], 0
	}
	if in.end || in.err != nil || in.used < wire.Window/2 {
		return 0
	}
	credit, in.used = in.used, 0
	in.allowed += credit
	return credit
}

// takeWhole returns a body that has come as a whole, without a copy.
func (in *inbox) takeWhole() ([]byte, bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.end || in.used > 0 {
		return nil, false
	}
	b := in.b[in.off:]
	in.l.buffered.Add(-int64(len(b)))
	in.b, in.off = nil, 0
	return b, true
}

// window is the credit of what is sent.
type window struct {
	mu   sync.Mutex
	left int64
	err  *Error
	wake chan struct{}
}

// maxWindow keeps a peer from counting credit over the edge.
const maxWindow = 1 << 40

func (w *window) give(n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left = min(w.left+n, maxWindow)
	w.notify()
}

func (w *window) fail(why *Error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = why
	}
	w.notify()
}

func (w *window) notify() {
	if w.wake != nil {
		close(w.wake)
		w.wake = nil
	}
}

// tryTake takes up to n bytes of what is left without waiting.
func (w *window) tryTake(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n = int(min(int64(n), w.left))
	w.left -= int64(n)
	return n
}

// take waits until at least one of n bytes may be sent.
func (w *window) take(ctx context.Context, s *stream, n int) (int, error) {
	for {
		w.mu.Lock()
		if w.err != nil {
			w.mu.Unlock()
			return 0, w.err
		}
		if w.left > 0 {
			w.mu.Unlock()
			return w.tryTake(n), nil
		}
		if w.wake == nil {
			w.wake = make(chan struct{})
		}
		wake := w.wake
		w.mu.Unlock()
		select {
		case <-wake:
		case <-ctx.Done():
			return 0, s.expired(ctx)
		}
	}
}
