package main

import (
	"bytes"
	"math/rand/v2"

	"github.com/corelane/corelane/bench/epoll"
	"github.com/corelane/corelane/bench/wire"
)

// maxOpen bounds the requests whose pieces are being collected.
const maxOpen = 64 << 10

// origin answers; it is the handler of its loop.
type origin struct {
	o    options
	held []request
	// open are requests of which more pieces come.
	open map[key]*request
}

// key names a request among all connections.
type key struct {
	conn *epoll.Conn
	id   uint64
}

// request is one that is not answered yet.
type request struct {
	key
	body   []byte
	answer int
	oneWay bool
}

func newOrigin(o options) *origin { return &origin{o: o, open: map[key]*request{}} }

// Data answers every request that is whole.
func (o *origin) Data(c *epoll.Conn, b []byte) (taken int, err error) {
	var m wire.Message
	for {
		n, err := o.o.protocol.Next(b[taken:], &m)
		if err != nil || n == 0 {
			return taken, err
		}
		taken += n
		switch m.Kind {
		case wire.Heartbeat:
			c.Out = o.o.protocol.AppendHeartbeatReply(c.Out, m.ID)
		case wire.Cancel:
			delete(o.open, key{c, m.ID})
		case wire.Request:
			o.request(c, &m)
		default: // responses are none of an origin's business, the rest needs nothing
		}
	}
}

// Closed forgets what the connection has begun.
func (o *origin) Closed(c *epoll.Conn, _ error) {
	for k := range o.open {
		if k.conn == c {
			delete(o.open, k)
		}
	}
}

func (o *origin) request(c *epoll.Conn, m *wire.Message) {
	r := request{key: key{c, m.ID}, body: m.Body, answer: m.Answer, oneWay: m.OneWay}
	if !m.First || !m.Last {
		whole := o.collect(r, m)
		if whole == nil {
			return
		}
		r = *whole
	}
	if r.oneWay {
		return
	}
	if o.o.hold == 0 {
		o.answer(&r)
		return
	}
	r.body = bytes.Clone(r.body)
	if o.held = append(o.held, r); len(o.held) >= o.o.hold {
		o.release()
	}
}

// collect joins the pieces of a request; nil while more come, or if nobody
// knows the begin.
func (o *origin) collect(piece request, m *wire.Message) *request {
	if m.First {
		if len(o.open) < maxOpen {
			piece.body = bytes.Clone(piece.body)
			o.open[piece.key] = &piece
		}
		return nil
	}
	r := o.open[piece.key]
	if r == nil {
		return nil
	}
	if len(r.body) < wire.MaxBody {
		r.body = append(r.body, piece.body...)
	}
	if !m.Last {
		return nil
	}
	delete(o.open, piece.key)
	return r
}

// answer appends the response to what its connection sends next.
func (o *origin) answer(r *request) {
	length := r.answer
	if length < 0 {
		length = o.o.answer
	}
	if length < 0 {
		length = min(len(r.body), wire.MaxBody)
	}
	r.conn.Out = o.o.protocol.AppendResponse(r.conn.Out, r.id, r.body, length)
}

// release answers all that wait, in random order.
func (o *origin) release() {
	rand.Shuffle(len(o.held), func(i, j int) { o.held[i], o.held[j] = o.held[j], o.held[i] })
	for i := range o.held {
		if o.held[i].conn.Open() {
			o.answer(&o.held[i])
		}
	}
	for i := range o.held {
		o.held[i].conn.Flush()
		o.held[i] = request{}
	}
	o.held = o.held[:0]
}
