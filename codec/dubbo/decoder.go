package dubbo

import (
	"math"

	"github.com/corelane/corelane/codec"
)

// step is which event of a message is the next one.
type step uint8

const (
	stepBegin step = iota
	stepHead
	stepData
	stepEnd
)

// decoder reads whole frames. One that lies whole in what it is given is read
// there; one that comes in pieces is gathered first, in a buffer that grows with
// what arrives and never by the length announced. The last byte of a frame is
// taken with its last event: whoever has bytes left has events to come.
type decoder struct {
	role codec.Role
	lim  codec.MessageLimits

	gathered []byte
	step     step
	// header and size are of the frame whose events are being reported: in front of
	// a body that was handed out nothing is sure to stay as it was.
	header header
	size   int
	scan   scanner
}

// Next implements codec.Decoder.
func (d *decoder) Next(b []byte, e *codec.Event) (int, error) {
	n := 0
	for {
		frame, took, err := d.frame(b[n:])
		n += took
		if err != nil {
			return n, err
		}
		if frame == nil {
			e.Kind, e.Data = codec.NeedMore, nil
			return n, nil
		}
		h := &d.header
		if d.step == stepBegin {
			*h, d.size = parseHeader(frame), len(frame)
			known, err := d.begin(h, frame[headerSize:], e)
			switch {
			case err != nil:
				return n, err
			case !known: // nothing for anybody: the next frame
				n += d.finish(frame)
				continue
			case e.Kind != codec.MessageBegin:
				return n + d.finish(frame), nil
			}
			return n, nil
		}
		return n + d.proceed(h, frame, e), nil
	}
}

// Gathered implements codec.Gatherer.
func (d *decoder) Gathered() int { return cap(d.gathered) }

// frame returns the frame that begins b or was gathered, nil if it is not whole;
// then everything was taken. Of a gathered frame the last byte is not taken.
func (d *decoder) frame(b []byte) (frame []byte, took int, err error) {
	if len(d.gathered) == 0 {
		if d.step != stepBegin {
			return b[:d.size:d.size], 0, nil
		}
		size, err := d.sizeOf(b)
		if err != nil || size > 0 && len(b) >= size {
			return b[:size:size], 0, err
		}
	}
	for len(b) > 0 {
		size, err := d.sizeOf(d.gathered)
		if err != nil {
			return nil, took, err
		}
		if size > 0 && len(d.gathered) == size {
			return d.gathered, took, nil
		}
		want := headerSize
		if size > 0 {
			want = size
		}
		k := min(want-len(d.gathered), len(b))
		d.gathered = append(d.gathered, b[:k]...)
		if size, err = d.sizeOf(d.gathered); err != nil {
			return nil, took + k, err
		}
		if len(d.gathered) == size {
			return d.gathered, took + k - 1, nil
		}
		took, b = took+k, b[k:]
	}
	return nil, took, nil
}

// sizeOf returns the size of the frame that b begins with, 0 if b is too short to
// tell.
func (d *decoder) sizeOf(b []byte) (int, error) {
	if len(b) > 0 && b[0] != magic0 || len(b) > 1 && b[1] != magic1 {
		return 0, faultMagic.of(d.role)
	}
	if len(b) < headerSize {
		return 0, nil
	}
	h := parseHeader(b)
	switch {
	case h.length < 0:
		return 0, faultNegative.of(d.role)
	case h.length > d.lim.Body:
		return 0, faultTooLong.of(d.role)
	}
	return headerSize + h.length, nil
}

// finish forgets the frame and returns how many bytes of it are still to be
// taken.
func (d *decoder) finish(frame []byte) int {
	d.step = stepBegin
	if len(d.gathered) == 0 {
		return len(frame)
	}
	d.gathered = d.gathered[:0]
	if cap(d.gathered) > keepGathered {
		d.gathered = nil
	}
	return 1
}

// begin reports what a frame is. False: it is nothing that matters.
func (d *decoder) begin(h *header, body []byte, e *codec.Event) (known bool, err error) {
	e.ID, e.Data, e.OneWay = h.id, nil, false
	switch {
	case h.is(flagEvent):
		return d.event(h, body, e), nil
	case h.is(flagRequest) != (d.role == codec.Requests):
		if d.role == codec.Requests {
			return false, faultDirection.of(d.role)
		}
		// A service calls back into its client. It is not answered: an error would
		// let one client that asks for callbacks take the connection from all.
		return false, nil
	}
	e.Kind, e.Head, e.Refused = codec.MessageBegin, nil, nil
	e.OneWay = d.role == codec.Requests && !h.is(flagTwoWay)
	d.step = stepHead
	return true, nil
}

// event reports heartbeats, and that a service takes no more requests.
func (d *decoder) event(h *header, body []byte, e *codec.Event) bool {
	switch {
	case !h.is(flagRequest):
		e.Kind = codec.HeartbeatReplyEvent
	case len(body) >= 2 && body[0] == 1 && body[1] == readOnly:
		e.Kind, e.ID = codec.GoAwayEvent, math.MaxUint64
	case h.is(flagTwoWay):
		e.Kind = codec.HeartbeatEvent
	default:
		return false
	}
	return true
}

// proceed reports the next part of a message and returns how much of the frame
// was taken with it.
func (d *decoder) proceed(h *header, frame []byte, e *codec.Event) int {
	body := frame[headerSize:]
	e.ID = h.id
	if d.step == stepHead {
		d.step = stepData
		if e.Head != nil {
			e.Kind, e.Refused = codec.MessageHead, d.head(h, body, e.Head)
			return 0
		}
	}
	if d.step == stepData && len(body) > 0 {
		d.step = stepEnd
		e.Kind, e.Data = codec.MessageData, body
		return 0
	}
	e.Kind, e.Data = codec.MessageEnd, nil
	return d.finish(frame)
}

// head fills a head; an error is the reason why the message is refused.
func (d *decoder) head(h *header, body []byte, head *codec.Head) *codec.Error {
	head.SetReceived(codec.FramingLength, int64(len(body)), false, true, false, codec.Span{})
	var f *fault
	if d.role == codec.Requests {
		f = d.request(h, body, head)
	} else {
		f = d.response(h, body, head)
	}
	if f != nil {
		return f.of(d.role)
	}
	return nil
}
