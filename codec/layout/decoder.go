package layout

import (
	"strconv"

	"github.com/corelane/corelane/codec"
)

// fault is what can be wrong with a frame. In a response every fault is
// upstream_bad_response; only the detail tells them apart.
type fault [2]codec.Error

func newFault(r codec.Reason, detail string) *fault {
	return &fault{
		codec.Requests:  {Reason: r, Detail: detail},
		codec.Responses: {Reason: codec.UpstreamBadResponse, Detail: detail},
	}
}

var (
	errMagic   = newFault(codec.BadRequest, "a frame does not begin with the magic of its layout")
	errShort   = newFault(codec.BadFraming, "the length of a frame is less than its header")
	errLong    = newFault(codec.BodyTooLarge, "the length of a frame is over its limit")
	errKind    = newFault(codec.BadRequest, "a frame has a kind that its layout does not know")
	errKey     = newFault(codec.BadRequest, "the route key reaches beyond its frame")
	errKeyLong = newFault(codec.HeadersTooLarge, "the route key is over its limit")
)

// step is what is reported next of a frame.
type step uint8

const (
	stepBegin step = iota // what it is
	stepHead              // its head
	stepBody              // its body, if it has one
	stepEnd               // its end; its bytes are taken
)

// decoder reads frames. One that lies whole in what it is given is handed out
// from there, and counts as taken with its body; another is gathered first.
type decoder struct {
	p        *Protocol
	role     codec.Role
	maxFrame int
	maxKey   int

	step step
	id   uint64
	// held is a frame that came in pieces, as far as it came. It grows with its
	// bytes, whatever its length says.
	held []byte
}

// Next implements codec.Decoder.
func (d *decoder) Next(b []byte, e *codec.Event) (int, error) {
	if d.step == stepEnd {
		return d.end(e), nil
	}
	frame, n, err := d.frame(b)
	if err != nil {
		return n, &err[d.role]
	}
	if frame == nil {
		e.Kind = codec.NeedMore
		return n, nil
	}
	rest := n // what is taken once nothing of the frame is needed any more
	if len(d.held) == 0 {
		rest = len(frame)
	}
	if d.step == stepHead && e.Head == nil {
		d.step = stepBody
	}
	switch d.step {
	case stepBegin:
		return d.begin(frame, n, rest, e)
	case stepHead:
		d.step = stepBody
		e.Kind, e.ID, e.Refused = codec.MessageHead, d.id, nil
		if err := d.head(e.Head, frame); err != nil {
			e.Refused = &err[d.role]
		}
		return n, nil
	}
	body := frame[d.p.layout.Length.Header:]
	if len(body) == 0 {
		d.end(e)
		return rest, nil
	}
	d.step = stepEnd
	e.Kind, e.ID, e.Data = codec.MessageData, d.id, body
	return rest, nil
}

// Gathered implements codec.Gatherer.
func (d *decoder) Gathered() int { return cap(d.held) }

// frame returns the next frame if it is complete, in b or in what is held, and
// how many bytes it took from b.
func (d *decoder) frame(b []byte) ([]byte, int, *fault) {
	if len(d.held) == 0 {
		total, err := d.total(b)
		if err != nil {
			return nil, 0, err
		}
		if total > 0 && len(b) >= total {
			return b[:total:total], 0, nil
		}
	}
	for n := 0; ; {
		want, err := d.total(d.held)
		if err != nil {
			return nil, n, err
		}
		if want > 0 && len(d.held) == want {
			return d.held, n, nil
		}
		if want == 0 {
			want = d.p.layout.Length.Header
		}
		take := min(want-len(d.held), len(b)-n)
		if take == 0 {
			return nil, n, nil
		}
		d.held = append(d.held, b[n:n+take]...)
		n += take
	}
}

// total returns the size of the frame that b begins with; 0: the header is not
// complete.
func (d *decoder) total(b []byte) (int, *fault) {
	l := &d.p.layout
	if known := min(len(l.Magic), len(b)); string(b[:known]) != string(l.Magic[:known]) {
		return 0, errMagic
	}
	if len(b) < l.Length.Header {
		return 0, nil
	}
	total := l.Length.total(l.Length.read(b))
	switch {
	case total < l.Length.Header:
		return 0, errShort
	case total > d.maxFrame:
		return 0, errLong
	}
	return total, nil
}

// begin reports what a frame is. A heartbeat is done with that.
func (d *decoder) begin(frame []byte, n, rest int, e *codec.Event) (int, error) {
	what := d.p.classify(d.role, frame)
	d.id = 0
	if d.p.layout.ID != nil {
		d.id = d.p.layout.ID.read(frame)
	}
	e.ID, e.OneWay, e.Head = d.id, what == oneWay, nil
	switch what {
	case unknown:
		return n, &errKind[d.role]
	case heartbeat:
		e.Kind = codec.HeartbeatEvent
	case heartbeatReply:
		e.Kind = codec.HeartbeatReplyEvent
	default:
		e.Kind = codec.MessageBegin
		d.step = stepHead
		return n, nil
	}
	d.release()
	return rest, nil
}

// classify tells what a frame is, by its kind and who sent it.
func (p *Protocol) classify(r codec.Role, frame []byte) class {
	k := p.layout.Kind
	if k == nil {
		return message
	}
	v := k.read(frame) & k.bits()
	for _, known := range p.kinds[r] {
		if known.value == v {
			return known.class
		}
	}
	return unknown
}

// head decodes a frame into h. A fault is one of the message alone, since its
// extent is known.
func (d *decoder) head(h *codec.Head, frame []byte) *fault {
	l := &d.p.layout
	h.SetRaw(frame[:l.Length.Header])
	h.SetReceived(codec.FramingLength, int64(len(frame)-l.Length.Header), false, true, false, codec.Span{})
	if d.role == codec.Requests {
		return d.key(h, frame)
	}
	h.SetStatusLine(statusOK, codec.Span{}, 1, 0)
	return nil
}

// statusOK is the status of every response: what went wrong inside a private
// protocol is its own affair.
const statusOK = 200

// key finds the route key.
func (d *decoder) key(h *codec.Head, frame []byte) *fault {
	k := d.p.layout.Key
	if k == nil {
		h.SetKeyCall(nil)
		return nil
	}
	if k.Kind == KeyConstant {
		h.SetKeyCall(d.p.constant)
		return nil
	}
	place := k.Integer
	if prefix := k.prefix(); prefix > 0 {
		place.Width = prefix
	}
	if place.end() > len(frame) {
		return errKey
	}
	switch k.Kind {
	case KeyInteger:
		var digits [20]byte
		h.SetKeyCall(strconv.AppendUint(digits[:0], place.read(frame), 10))
		return nil
	case KeyBytes:
		h.SetKeyCall(trimZeros(frame[place.At:place.end()]))
		return nil
	}
	size, text := place.read(frame), frame[place.end():]
	switch {
	case size > uint64(len(text)):
		return errKey
	case size > uint64(d.maxKey):
		return errKeyLong
	}
	h.SetKeyCall(text[:size])
	return nil
}

// trimZeros removes the zeros that fill a text up.
func trimZeros(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return b
}

// end reports the end of a message.
func (d *decoder) end(e *codec.Event) int {
	d.step = stepBegin
	d.release()
	e.Kind, e.ID, e.Data = codec.MessageEnd, d.id, nil
	return 0
}

// release empties the buffer, and gives a large one back.
func (d *decoder) release() {
	d.held = d.held[:0]
	if cap(d.held) > keepBytes {
		d.held = nil
	}
}
