package frame

import (
	"bytes"
	"context"
	"fmt"
	"runtime/debug"

	"github.com/corelane/corelane/codec"
	wire "github.com/corelane/corelane/codec/frame"
)

// exchange is a request with its response on the server's side.
type exchange struct {
	stream
	server  *serverConn
	req     Request
	w       Responder
	ctx     requestContext
	inline  bool // runs on the reader's goroutine, which must not wait
	started bool
}

// failed ends the handler's context.
func (x *exchange) failed(*Error) { x.ctx.end(context.Canceled) }

// start runs the handler. whole is the whole body if it came at once, valid until
// the return.
func (x *exchange) start(whole []byte, inline bool) {
	x.started, x.inline = true, inline
	if len(whole) > 0 {
		if !inline {
			whole = bytes.Clone(whole)
		}
		x.in.finish(whole)
	}
	x.server.handlers.begin()
	if inline {
		x.run()
		return
	}
	go x.run()
}

func (x *exchange) run() {
	defer x.server.handlers.end()
	err := x.handle()
	switch {
	case x.req.OneWay:
		x.l.forget(&x.stream)
	case err == nil:
		err = x.w.finish()
	}
	if x.ctx.Err() == nil {
		x.log(err)
	}
	if err != nil && !x.req.OneWay {
		x.refuse(err)
	}
	x.req.Body.close()
	x.ctx.end(context.Canceled)
}

func (x *exchange) log(err error) {
	if err != nil {
		x.l.o.Logger.Error("frame: a request failed", "peer", x.l.peer, "call", x.req.Call.String(), "err", err)
	}
}

// handle calls the handler. A panic is its error.
func (x *exchange) handle() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return x.server.handler.ServeFrame(&x.ctx, &x.req, &x.w)
}

// refuse answers with the error, or cancels a response that has begun.
func (x *exchange) refuse(err error) {
	if x.w.begun {
		x.w.over = true
		x.giveUp(err)
		return
	}
	status, text := answer(err)
	x.w = Responder{Status: status, x: x}
	x.w.Metadata.Add("content-type", "text/plain; charset=utf-8")
	if x.w.Reply([]byte(text)) != nil {
		x.giveUp(err)
	}
}

// giveUp tells the client that the response will not be completed.
func (x *exchange) giveUp(err error) {
	if x.l.forget(&x.stream) {
		status, text := answer(err)
		x.l.sendCancel(x.id, status, codec.InternalError.String(), text)
	}
}

// begin takes a request.
func (c *serverConn) begin(h *wire.Header, metadata []byte) (*stream, error) {
	if h.Kind == wire.Response {
		return nil, &codec.Error{Reason: codec.BadRequest, Detail: "a response where requests are read"}
	}
	x := &exchange{server: c}
	x.init(c.l, wire.Response, x)
	x.id, x.w.x = h.ID, x
	x.req.ID, x.req.OneWay, x.req.Peer = h.ID, h.Kind == wire.OneWay, c.l.peer
	x.req.Body = Body{s: &x.stream, ctx: &x.ctx, zipped: h.Has(wire.Zstd)}
	if err := readRequest(&x.req, metadata, &c.l.o.Limits); err != nil {
		return nil, err
	}
	x.ctx.deadline = x.req.Deadline
	switch taken, err := c.admit(x); {
	case err != nil:
		return nil, err
	case !taken:
		return nil, nil
	}
	if h.Has(wire.More) {
		x.start(nil, false)
	}
	return &x.stream, nil
}

// admit puts a request on the link. A client that goes on too far is told so.
func (c *serverConn) admit(x *exchange) (bool, error) {
	l := c.l
	l.mu.Lock()
	if l.live[x.id] != nil {
		l.mu.Unlock()
		return false, &codec.Error{Reason: codec.BadRequest, Detail: "the id of the request is in use"}
	}
	if l.leaving && x.id > l.last || l.err != nil {
		l.mu.Unlock()
		return false, nil // the client was told, and repeats it elsewhere
	}
	l.last = max(l.last, x.id)
	if len(l.live) < l.o.Limits.Live {
		l.live[x.id] = &x.stream
		l.mu.Unlock()
		return true, nil
	}
	if x.req.OneWay {
		l.mu.Unlock()
		return false, nil
	}
	h := head{status: codec.Overloaded.Status(), metadata: Metadata{{wire.ReasonField, codec.Overloaded.String()}}}
	out, _, _ := x.appendFirst(l.out, &h, nil, true)
	l.commit(out)
	return false, nil
}

// complete has the handler run, or tells a running one that the body is complete.
func (c *serverConn) complete(s *stream, whole []byte) {
	x := s.owner.(*exchange)
	if x.started {
		s.in.finish(nil)
		return
	}
	if len(whole) == 0 {
		s.in.finish(nil)
	}
	x.start(whole, c.inline && !c.l.crowded())
}

// crowded says that the peer reads too slowly for handlers to run on the reader.
func (l *link) crowded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stalled || len(l.out) >= writersWait
}
