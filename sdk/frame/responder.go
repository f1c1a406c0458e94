package frame

import (
	"bytes"
	"context"
	"errors"

	"github.com/klauspost/compress/zstd"

	wire "github.com/corelane/corelane/codec/frame"
)

// Responder is where a handler writes its response. Either Reply says all at once,
// or Write says it piece by piece; a handler that does neither answers with Status
// and no body. It is used by one goroutine at a time, until the handler returns.
type Responder struct {
	// Status is 200 to 599; 0: 200. It is sent with the first piece.
	Status int
	// Metadata is sent with the first piece, Trailers behind the last.
	Metadata, Trailers Metadata

	x      *exchange
	begun  bool // the head is sent
	over   bool // all is sent, or it never will be
	buf    []byte
	zip    *zstd.Encoder
	zipped bytes.Buffer
}

var (
	errAnswered = errors.New("frame: the response is already under way")
	errBodiless = errors.New("frame: a response with this status has no body")
	errStatus   = errors.New("frame: the status is not from 200 to 599")
)

// Reply sends a whole response. It fails with an *Error when the client is gone or
// the metadata cannot be sent; body may be used again afterwards.
func (w *Responder) Reply(body []byte) error {
	if w.begun || w.over || len(w.buf) > 0 {
		return errAnswered
	}
	if w.x.req.OneWay {
		w.over = true
		return nil
	}
	h, err := w.head(len(body) > 0)
	if err != nil {
		return err
	}
	if w.mayZip() && len(body) >= minZstd {
		if small := encoder().EncodeAll(body, nil); len(small) < len(body) {
			body, h.flags = small, wire.Zstd
		}
	}
	return w.send(&h, body)
}

func (w *Responder) mayZip() bool { return w.x.l.o.Zstd && w.x.req.Metadata.acceptsZstd() }

func (w *Responder) head(body bool) (head, error) {
	status := w.Status
	if status == 0 {
		status = 200
	}
	switch {
	case status < 200 || status > 599:
		return head{}, errStatus
	case wire.Bodiless(status) && (body || len(w.Trailers) > 0):
		return head{}, errBodiless
	}
	return head{status: status, metadata: w.Metadata}, nil
}

// send sends head and body, and the end.
func (w *Responder) send(h *head, body []byte) error {
	alone := len(w.Trailers) == 0
	rest, err := w.first(h, body, alone)
	if err != nil {
		return err
	}
	w.over = true
	if alone && len(rest) == 0 {
		return nil
	}
	if w.x.inline {
		// The reader must not wait for credit that it has to read itself.
		rest, trailers := bytes.Clone(rest), w.Trailers
		w.x.server.handlers.begin()
		go func() {
			defer w.x.server.handlers.end()
			// The request's own context ends with its handler.
			w.x.log(w.x.sendRest(context.Background(), rest, trailers))
		}()
		return nil
	}
	return w.x.sendRest(&w.x.ctx, rest, w.Trailers)
}

// sendRest sends the end of a response. It does not touch the Responder, which
// may be the handler's meanwhile.
func (x *exchange) sendRest(ctx context.Context, rest []byte, trailers Metadata) error {
	err := x.sendMore(ctx, rest, true, trailers)
	if err != nil {
		x.giveUp(err)
	}
	return err
}

// first sends the first frame.
func (w *Responder) first(h *head, body []byte, last bool) ([]byte, error) {
	s := &w.x.stream
	if !w.x.inline {
		if err := s.l.waitRoom(&w.x.ctx, s); err != nil {
			return nil, err
		}
	}
	out := s.l.begin()
	if s.l.live[s.id] != s {
		s.l.commit(out)
		return nil, s.gone()
	}
	out, rest, err := s.appendFirst(out, h, body, last)
	if err != nil {
		s.l.commit(out)
		return nil, err
	}
	w.begun = true
	if last && len(rest) == 0 {
		s.l.drop(s)
	}
	s.l.commit(out)
	return rest, nil
}

// Write adds to the body. It is gathered to frames of up to 64 KiB; Flush sends
// what there is. It waits while the client does not take more. On an Inline
// server, where nothing may wait, it gathers up to Limits.Message, and all is sent
// when the handler returns.
func (w *Responder) Write(p []byte) (int, error) {
	switch {
	case w.over && !w.x.req.OneWay:
		return 0, errAnswered
	case w.x.req.OneWay:
		return len(p), nil
	case w.x.inline && len(w.buf)+len(p) > w.x.l.o.Limits.Message:
		return 0, w.x.tooLarge("the response is longer than what is gathered whole")
	}
	w.buf = append(w.buf, p...)
	if len(w.buf) < piece || w.x.inline {
		return len(p), nil
	}
	return len(p), w.Flush()
}

// Flush sends what was written so far. On an Inline server it does nothing.
func (w *Responder) Flush() error {
	if w.x.inline || w.x.req.OneWay {
		return nil
	}
	if w.over {
		return errAnswered
	}
	body, err := w.pack(false)
	if err != nil {
		return err
	}
	rest := body
	if !w.begun {
		h, err := w.head(true)
		if err != nil {
			return err
		}
		if w.zip != nil {
			h.flags = wire.Zstd
		}
		if rest, err = w.first(&h, body, false); err != nil {
			return err
		}
	}
	if err = w.x.sendMore(&w.x.ctx, rest, false, nil); err == nil {
		w.buf = w.buf[:0]
		w.zipped.Reset()
	}
	return err
}

// pack is what was written, compressed if the stream is.
func (w *Responder) pack(last bool) ([]byte, error) {
	if !w.begun && w.zip == nil && w.mayZip() {
		zip, err := zstd.NewWriter(&w.zipped, zstd.WithEncoderLevel(zstd.SpeedFastest),
			zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
		if err != nil {
			return nil, err
		}
		w.zip = zip
	}
	if w.zip == nil {
		return w.buf, nil
	}
	if _, err := w.zip.Write(w.buf); err != nil {
		return nil, err
	}
	if last {
		return w.zipped.Bytes(), w.zip.Close()
	}
	err := w.zip.Flush()
	return w.zipped.Bytes(), err
}

// finish says what is left to say when the handler has returned.
func (w *Responder) finish() error {
	switch {
	case w.over:
		return nil
	case !w.begun:
		buf := w.buf
		w.buf = nil
		return w.Reply(buf)
	}
	w.over = true
	body, err := w.pack(true)
	// The bytes are those behind the encoder's last write, so they are taken after
	// its close.
	if w.zip != nil {
		body = w.zipped.Bytes()
	}
	if err != nil {
		return err
	}
	return w.x.sendRest(&w.x.ctx, body, w.Trailers)
}
