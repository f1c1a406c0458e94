package engine

import (
	"errors"
	"net/netip"
	"unsafe"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/reactor"
)

const (
	// maxMessage bounds the body of a message that is one frame, in bytes: that of
	// a protocol that does not split is held whole.
	maxMessage = 8 << 20
	// maxPiece bounds the body of one piece, so that a long one does not keep
	// others from the connection.
	maxPiece = 256 << 10
	// keptJoin is the buffer for joining and translating bodies that a loop keeps.
	keptJoin = 256 << 10
	// wirePause is the least time between two events of one loop about peers that
	// break their protocol.
	wirePause = int64(1e9)
)

// wire is a connection of a message protocol, on either side of the gateway: what
// links and mux sessions have in common.
type wire struct {
	// Immutable.
	w        *worker
	protocol codec.Protocol
	traits   codec.Traits
	role     codec.Role // of the messages that leave

	// Owned by the loop.
	conn  *reactor.Conn
	in    codec.Decoder
	event codec.Event
	piece codec.Piece
	// said and failure are what control and fail hand to the protocol: through its
	// interface anything else would be allocated.
	said    codec.Control
	failure codec.Failure
	blocked int // streams that wait for room, or to hear that their bytes are out
	// gatherer is the decoder, if it keeps bytes; gathered is how many of them
	// were counted into the budget for buffers.
	gatherer codec.Gatherer
	gathered int
}

func (c *wire) init(w *worker, p codec.Protocol, leaves codec.Role) {
	c.w, c.protocol, c.traits, c.role = w, p, p.Traits(), leaves
}

// decode sets the decoder of what the peer sends.
func (c *wire) decode(d codec.Decoder) {
	c.in = d
	c.gatherer, _ = d.(codec.Gatherer)
}

// count counts what the decoder keeps into the budget for buffers. It says
// whether that is more than before.
func (c *wire) count() (grew bool) {
	if c.gatherer == nil {
		return false
	}
	n := c.gatherer.Gathered()
	if n == c.gathered {
		return false
	}
	grew = n > c.gathered
	c.w.loop.Memory().Add(int64(n - c.gathered))
	c.gathered = n
	return grew
}

// stopDecoding is for a connection of which nothing more is read.
func (c *wire) stopDecoding() {
	if c.gathered > 0 {
		c.w.loop.Memory().Add(int64(-c.gathered))
	}
	c.in, c.gatherer, c.gathered = nil, nil, 0
}

// shares says whether the connection carries more than one exchange at a time.
func (c *wire) shares() bool { return c.traits.IDBits > 0 }

// write sends a piece of a message.
func (c *wire) write(o *outgoing, body []byte, last bool) error {
	p := &c.piece
	p.Role, p.ID, p.Head, p.Body = c.role, o.id, o.head, body
	p.Last, p.Trailers = last, nil
	if last {
		p.Trailers = o.trailers
	}
	p.Native, p.OneWay, p.Timeout, p.Tail = o.native, o.oneWay, o.timeout, p.Tail[:0]
	front, err := c.protocol.Encode(c.conn.Stage(), p)
	if err != nil {
		return err
	}
	c.conn.Commit(front)
	c.conn.Write(p.Body)
	if len(p.Tail) > 0 {
		c.conn.Commit(append(c.conn.Stage(), p.Tail...))
	}
	p.Head, p.Body, p.Trailers = nil, nil, nil
	o.head, o.over = nil, last
	return nil
}

// control sends a message between the ends of the connection, if the protocol has
// such a one.
func (c *wire) control(m codec.Control) {
	c.said = m
	if b := c.protocol.AppendControl(c.conn.Stage(), &c.said); len(b) > 0 {
		c.conn.Commit(b)
	}
}

// fail sends an answer of the gateway's own. False: the protocol has no words for
// it.
func (c *wire) fail(f codec.Failure, message string) bool {
	w := c.w
	w.scratch = append(w.scratch[:0], message...)
	c.failure = f
	c.failure.Message = w.scratch
	b := c.protocol.AppendFailure(c.conn.Stage(), &c.failure)
	c.failure = codec.Failure{}
	if len(b) == 0 {
		return false
	}
	c.conn.Commit(b)
	return true
}

// credit tells the peer that n more bytes of a message are welcome.
func (c *wire) credit(id uint64, n int) {
	c.control(codec.Control{Kind: codec.Credit, Role: 1 - c.role, ID: id, Amount: n})
}

// forget keeps the decoder away from a head whose exchange is going to end.
func (c *wire) forget(heads ...*codec.Head) {
	for _, h := range heads {
		if c.event.Head == h {
			c.event.Head = nil
		}
	}
}

// sendHeld sends what was written of the body at hand if that lies in the
// decoder's own buffer, which the next step writes over. What lies in b stays.
func (c *wire) sendHeld(b []byte) {
	if c.event.Kind != codec.MessageData || within(c.event.Data, b) {
		return
	}
	c.w.loop.Flush()
}

// within says whether p lies in b.
func within(p, b []byte) bool {
	from, at := uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(unsafe.Pointer(unsafe.SliceData(p)))
	return at >= from && at < from+uintptr(len(b))
}

// position is where in the connection's output the next byte will lie.
func (c *wire) position() uint64 { return c.conn.BytesOut() + uint64(c.conn.Queued()) }

// breaks tells the control side of a peer that does not keep to the protocol.
func (w *worker) breaks(name string, peer netip.AddrPort, err error) {
	w.stats.ProtocolErrors++
	w.tellOf(name, peer, err)
}

// tellOf tells it of a peer whose connection is closed, and why.
func (w *worker) tellOf(name string, peer netip.AddrPort, err error) {
	if now := w.loop.Now(); w.brokenTold == 0 || now-w.brokenTold >= wirePause {
		w.brokenTold = now
		w.server.events.push(Event{Kind: EventProtocolError, Loop: w.id, Name: name, Peer: peer, Value: err})
	}
}

// detailOf is what a decoder's error says, for the peer.
func detailOf(err error) (codec.Reason, string) {
	var e *codec.Error
	if errors.As(err, &e) {
		return e.Reason, e.Detail
	}
	return codec.BadRequest, "the message is malformed"
}
