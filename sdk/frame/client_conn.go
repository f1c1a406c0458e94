package frame

import (
	"bytes"
	"context"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/corelane/corelane/codec"
	wire "github.com/corelane/corelane/codec/frame"
)

// clientConn is a client's side of a link.
type clientConn struct {
	client *Client
	slot   *slot
	l      *link
}

// call is a request with its response on the client's side.
type call struct {
	stream
	conn     *clientConn
	body     Body
	response Response

	mu      sync.Mutex
	hasHead bool
	err     *Error
	ready   chan struct{} // closed with the head, and when there will be none
}

// failed wakes whoever waits for the head.
func (x *call) failed(why *Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.err == nil {
		x.err = why
		if !x.hasHead {
			close(x.ready)
		}
	}
}

func (x *call) gotHead() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.hasHead && x.err == nil {
		close(x.ready)
	}
	x.hasHead = true
}

// awaitHead waits for the response's head.
func (x *call) awaitHead(ctx context.Context) error {
	select {
	case <-x.ready:
	case <-ctx.Done():
		return x.expired(ctx)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.hasHead {
		return x.err
	}
	return nil
}

// close gives the call up if it is not over. why is what the caller saw.
func (x *call) close(why error) {
	if x.l.forget(&x.stream) && (why != nil || x.kind != wire.OneWay) {
		x.l.sendCancel(x.id, 0, "", "")
	}
	x.fail(&Error{Kind: Closed, Peer: x.l.peer, Text: "the call was closed"})
	x.body.close()
	x.conn.closeIfUnused()
}

// open sends the beginning of a request, or with whole all of it.
func (c *Client) open(ctx context.Context, m *Message, oneWay, whole bool) (*call, error) {
	conn, err := c.conn(ctx)
	if err != nil {
		return nil, err
	}
	x := &call{conn: conn, ready: make(chan struct{})}
	kind := wire.Request
	if oneWay {
		kind = wire.OneWay
	}
	x.init(conn.l, kind, x)
	x.body = Body{s: &x.stream, ctx: ctx}
	h := head{call: &m.Call, metadata: m.Metadata, accept: c.o.Zstd && !oneWay && m.Metadata.Get("accept-encoding") == ""}
	if h.timeout, err = timeout(ctx, x); err != nil {
		return nil, err
	}
	body := m.Body
	if m.Zstd && whole {
		body, h.flags = encoder().EncodeAll(body, nil), wire.Zstd
	}
	if err = conn.l.waitRoom(ctx, &x.stream); err != nil {
		return nil, unsent(err)
	}
	rest, err := x.start(&h, body, whole)
	if err != nil {
		return nil, err
	}
	if len(rest) == 0 {
		return x, nil
	}
	// An early response ends the sending, and is the answer.
	if err = x.sendMore(ctx, rest, whole, nil); err != nil && !x.answered() {
		x.close(err)
		return nil, err
	}
	return x, nil
}

// timeout is what ctx leaves, in milliseconds.
func timeout(ctx context.Context, x *call) (string, error) {
	deadline, ok := ctx.Deadline()
	if err := ctx.Err(); err != nil {
		return "", x.expired(ctx)
	}
	if !ok {
		return "", nil
	}
	ms := time.Until(deadline).Milliseconds()
	return strconv.FormatInt(min(max(ms, 1), math.MaxInt32), 10), nil
}

// unsent makes the end of a connection that the call was not sent on one that
// allows to repeat it.
func unsent(err error) error {
	if e, ok := err.(*Error); ok && (e.Kind == Disconnected || e.Kind == Unresponsive || e.Kind == Malformed) {
		return &Error{Kind: GoneAway, Peer: e.Peer, Text: "nothing was sent", Err: e}
	}
	return err
}

// start puts the call on the link and sends its first frame. Both are done under
// one lock, since ids must rise in the order in which they are sent.
func (x *call) start(h *head, body []byte, whole bool) ([]byte, error) {
	l := x.l
	out := l.begin()
	var refused *Error
	switch {
	case l.err != nil:
		refused = l.err
	case l.leaving:
		refused = &Error{Kind: GoneAway, Peer: l.peer}
	case len(l.live) >= l.o.Limits.Live:
		refused = &Error{Kind: Overloaded, Peer: l.peer, Text: "too many calls are under way"}
	}
	if refused != nil {
		l.commit(out)
		return nil, unsent(refused)
	}
	x.id = l.last + 1
	out, rest, err := x.appendFirst(out, h, body, whole)
	if err != nil {
		l.commit(out)
		return nil, err
	}
	l.last = x.id
	l.live[x.id] = &x.stream
	l.commit(out)
	return rest, nil
}

// answered says that the response has begun or is over.
func (x *call) answered() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.hasHead
}

// begin takes the first frame of a response.
func (c *clientConn) begin(h *wire.Header, metadata []byte) (*stream, error) {
	if h.Kind != wire.Response {
		return nil, &codec.Error{Reason: codec.BadRequest, Detail: "a request where responses are read"}
	}
	c.l.mu.Lock()
	s, last := c.l.live[h.ID], c.l.last
	c.l.mu.Unlock()
	if s == nil {
		if h.ID > last {
			return nil, &codec.Error{Reason: codec.BadRequest, Detail: "a response to a request that was not sent"}
		}
		return nil, nil // to one that was given up
	}
	x := s.owner.(*call)
	if x.response.Status != 0 || x.kind == wire.OneWay {
		return nil, &codec.Error{Reason: codec.BadRequest, Detail: "a second response to one request, or one to a one-way request"}
	}
	fields, err := readFields(metadata, &c.l.o.Limits)
	if err != nil {
		return nil, err
	}
	x.response.Status, x.response.Metadata = int(h.Status), fields
	x.body.zipped = h.Has(wire.Zstd)
	if h.Has(wire.More) {
		x.gotHead()
	}
	return s, nil
}

// complete ends a response. A request that is still being sent is not wanted any
// more.
func (c *clientConn) complete(s *stream, whole []byte) {
	x := s.owner.(*call)
	s.in.finish(bytes.Clone(whole))
	c.l.forget(s)
	s.out.fail(&Error{Kind: Cancelled, Peer: c.l.peer, Status: x.response.Status, Text: "the response is complete"})
	x.gotHead()
	c.closeIfUnused()
}

// goneAway: calls that the peer has not looked at fail in a way that lets them be
// repeated; the others go on.
func (c *clientConn) goneAway(last uint64, why *Error) {
	c.client.leave(c, false)
	l := c.l
	var unseen []*stream
	l.mu.Lock()
	l.leaving = true
	for id, s := range l.live {
		if id > last {
			unseen = append(unseen, s)
			l.drop(s)
		}
	}
	l.mu.Unlock()
	for _, s := range unseen {
		s.fail(why)
	}
	c.closeIfUnused()
}

// closeIfUnused closes a connection that the peer has gone away from.
func (c *clientConn) closeIfUnused() {
	l := c.l
	l.mu.Lock()
	unused := l.leaving && len(l.live) == 0 && l.err == nil
	l.mu.Unlock()
	if unused {
		l.fail(&Error{Kind: GoneAway, Peer: l.peer, Text: "the peer takes no more calls"})
	}
}

func (c *clientConn) ended(*Error) { c.client.leave(c, true) }

func (c *clientConn) closed() {}
