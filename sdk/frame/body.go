package frame

import (
	"context"
	"io"
)

// Body is a body that is received. It is read by one goroutine at a time.
type Body struct {
	s      *stream
	ctx    context.Context
	zipped bool
	plain  *unzipper
	whole  []byte
	all    bool // whole is the whole body
	off    int
}

// Read reads the next bytes as they come, decompressed, and gives the peer credit
// for more. It ends with io.EOF; any other error is an *Error.
func (b *Body) Read(p []byte) (int, error) {
	switch {
	case b.all:
		n := copy(p, b.whole[b.off:])
		if b.off += n; n == 0 && len(p) > 0 {
			return 0, io.EOF
		}
		return n, nil
	case !b.zipped:
		return b.s.in.read(b.ctx, p)
	case b.plain == nil:
		plain, err := newUnzipper(b.s, rawBody{b}, b.s.l.o.Limits.Decompressed)
		if err != nil {
			return 0, err
		}
		b.plain = plain
	}
	return b.plain.Read(p)
}

// Bytes waits for the whole body, or for what Read has left of it, and returns
// it; Limits.Message bounds it. In a handler of an Inline server the bytes are
// valid until it returns.
func (b *Body) Bytes() ([]byte, error) {
	if b.all {
		return b.whole[b.off:], nil
	}
	l := &b.s.l.o.Limits
	if b.plain != nil {
		return b.keep(b.gather(b.plain, l.Decompressed))
	}
	raw, ok := b.s.in.takeWhole()
	if !ok {
		var err error
		if raw, err = b.gather(rawBody{b}, l.Message); err != nil {
			return nil, err
		}
	}
	switch {
	case len(raw) > l.Message:
		return nil, b.s.tooLarge("the body is longer than what is gathered whole")
	case b.zipped:
		return b.keep(unzip(b.s, raw, l.Decompressed))
	}
	return b.keep(raw, nil)
}

func (b *Body) keep(whole []byte, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	b.whole, b.all = whole, true
	return whole, nil
}

// gather reads to the end, with a buffer that grows with what came.
func (b *Body) gather(from io.Reader, limit int) ([]byte, error) {
	whole, err := io.ReadAll(io.LimitReader(from, int64(limit)+1))
	if err == nil && len(whole) > limit {
		err = b.s.tooLarge("the body is longer than what is gathered whole")
	}
	return whole, err
}

// Trailers are the fields behind the body; they are known when it has been read.
func (b *Body) Trailers() Metadata {
	b.s.in.mu.Lock()
	defer b.s.in.mu.Unlock()
	return b.s.in.trailers
}

func (b *Body) close() {
	if b.plain != nil {
		b.plain.d.Close()
		b.plain = nil
	}
	b.s.in.close()
}

// rawBody reads a body as it came.
type rawBody struct{ b *Body }

func (r rawBody) Read(p []byte) (int, error) { return r.b.s.in.read(r.b.ctx, p) }
