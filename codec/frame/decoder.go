package frame

import "github.com/corelane/corelane/codec"

// keepHeld: a larger buffer for trailers is given back when they are done.
const keepHeld = 16 << 10

// stage is where in a frame the next byte stands.
type stage uint8

const (
	stageHeader   stage = iota // before or inside a header
	stageHead                  // inside the metadata of a message's first frame
	stageRefuse                // in front of metadata that is over the limit
	stageOver                  // inside it
	stageHold                  // inside the metadata of its last one, which are trailers
	stageBody                  // inside the body
	stageTrailers              // behind the body: trailers were announced and wait for a head
	stageEnd                   // behind the last frame of a message
	stageCredit                // inside the body of a credit
	stageSkip                  // inside bytes that nobody looks at
)

// progress is what a step of the decoder has led to.
type progress uint8

const (
	again   progress = iota // another step can be taken
	wanting                 // more bytes are needed
	found                   // the event is complete
)

// decoder reads one direction of one connection. It knows one frame at a time:
// which messages are open is known to whoever receives its events.
type decoder struct {
	role   codec.Role
	limits codec.MessageLimits

	stage  stage
	header Header // of the frame that is being read
	left   int    // bytes of this stage that have not come yet
	base   int    // where the metadata begins in the bytes of the head

	have int              // bytes of raw
	raw  [HeaderSize]byte // a header that came in pieces, or a credit
	held []byte           // trailers, until the body is through

	fault *fault
}

// Next implements codec.Decoder.
func (d *decoder) Next(b []byte, e *codec.Event) (n int, err error) {
	for d.fault == nil {
		k, p := d.step(b[n:], e)
		n += k
		switch {
		case d.fault != nil:
		case p == found:
			return n, nil
		case p == wanting:
			e.Kind = codec.NeedMore
			return n, nil
		}
	}
	return 0, d.fault.of(d.role)
}

// Gathered implements codec.Gatherer: a head that is not whole lies in the
// receiver's buffer, trailers in the decoder's.
func (d *decoder) Gathered() int {
	n := cap(d.held)
	if d.stage == stageHead {
		n += int(d.header.Metadata) - d.left
	}
	return n
}

// step takes what b has of the current stage.
func (d *decoder) step(b []byte, e *codec.Event) (n int, p progress) {
	switch d.stage {
	case stageHeader:
		return d.readHeader(b, e)
	case stageHead:
		return d.readHead(b, e)
	case stageRefuse:
		d.stage = stageOver
		return 0, d.refuse(e, errMetadataBig)
	case stageOver:
		return d.pass(b)
	case stageHold:
		return d.holdTrailers(b)
	case stageBody:
		return d.readBody(b, e)
	case stageTrailers:
		d.fillTrailers(e.Head)
		d.stage = stageEnd
		return 0, again
	case stageEnd:
		d.stage = stageHeader
		return 0, d.report(e, codec.MessageEnd)
	case stageCredit:
		return d.readCredit(b, e)
	default:
		return d.skip(b)
	}
}

// report makes the event one of the current frame.
func (d *decoder) report(e *codec.Event, k codec.EventKind) progress {
	e.Kind, e.ID, e.OneWay, e.Refused = k, d.header.ID, d.header.Kind == OneWay, nil
	return found
}

// refuse reports a message whose frame is sound and whose metadata is not.
func (d *decoder) refuse(e *codec.Event, f *fault) progress {
	d.report(e, codec.MessageHead)
	if e.Head != nil {
		e.Head.Reset()
	}
	e.Refused = f.of(d.role)
	return found
}

// pass goes over metadata that nobody looks at.
func (d *decoder) pass(b []byte) (n int, p progress) {
	n = min(d.left, len(b))
	if d.left -= n; d.left > 0 {
		return n, wanting
	}
	d.enter(stageBody, d.header.Body)
	return n, again
}

// fail records what makes the rest of the connection meaningless.
func (d *decoder) fail(f *fault) progress {
	d.fault = f
	return wanting
}

func (d *decoder) readHeader(b []byte, e *codec.Event) (n int, p progress) {
	if d.have == 0 && len(b) >= HeaderSize {
		return HeaderSize, d.open(b, e)
	}
	n = copy(d.raw[d.have:], b)
	if d.have += n; d.have == HeaderSize {
		d.have = 0
		return n, d.open(d.raw[:], e)
	}
	if f := checkStart(d.raw[:d.have]); f != nil {
		return n, d.fail(f)
	}
	return n, wanting
}

// open begins with the frame that has this header.
func (d *decoder) open(header []byte, e *codec.Event) progress {
	h, f := parseHeader(header)
	if f != nil {
		return d.fail(f)
	}
	d.header = h
	switch h.Kind {
	case Request, OneWay, Response:
		return d.openMessage(e)
	case Heartbeat:
		if h.Has(Reply) {
			return d.report(e, codec.HeartbeatReplyEvent)
		}
		return d.report(e, codec.HeartbeatEvent)
	case GoAway:
		d.enter(stageSkip, h.Metadata+h.Body)
		return d.report(e, codec.GoAwayEvent)
	case Cancel:
		d.enter(stageSkip, h.Metadata+h.Body)
		return d.report(e, codec.CancelEvent)
	case Credit:
		d.enter(stageCredit, CreditSize)
	default:
		d.enter(stageSkip, h.Metadata+h.Body)
	}
	return again
}

func (d *decoder) enter(s stage, n uint32) { d.stage, d.left = s, int(n) }

func (d *decoder) openMessage(e *codec.Event) progress {
	h := &d.header
	switch limit := d.limits.Head; {
	case (h.Kind == Response) != (d.role == codec.Responses):
		return d.fail(errDirection)
	case limit > 0 && h.Metadata > uint32(min(limit, MaxMetadata)) && h.First():
		d.enter(stageRefuse, h.Metadata)
		return d.report(e, codec.MessageBegin)
	case limit > 0 && h.Metadata > uint32(min(limit, MaxMetadata)):
		return d.fail(errMetadataBig) // of trailers
	case h.First():
		d.enter(stageHead, h.Metadata)
		return d.report(e, codec.MessageBegin)
	case h.Metadata > 0:
		d.enter(stageHold, h.Metadata)
	default:
		d.enter(stageBody, h.Body)
	}
	return again
}

// readHead gathers metadata in the head that the receiver has chosen, if any.
func (d *decoder) readHead(b []byte, e *codec.Event) (n int, p progress) {
	h := e.Head
	n = min(d.left, len(b))
	if h != nil {
		if d.left == int(d.header.Metadata) {
			d.base = len(h.Bytes())
		}
		h.AppendBytes(b[:n])
	}
	if d.left -= n; d.left > 0 {
		return n, wanting
	}
	d.enter(stageBody, d.header.Body)
	if h == nil {
		return n, again
	}
	if f := d.fillHead(h); f != nil {
		return n, d.refuse(e, f)
	}
	return n, d.report(e, codec.MessageHead)
}

// holdTrailers keeps them until the body, which stands behind them, is through.
func (d *decoder) holdTrailers(b []byte) (n int, p progress) {
	n = min(d.left, len(b))
	d.held = append(d.held, b[:n]...)
	if d.left -= n; d.left > 0 {
		return n, wanting
	}
	d.enter(stageBody, d.header.Body)
	return n, again
}

func (d *decoder) readBody(b []byte, e *codec.Event) (n int, p progress) {
	if d.left > 0 {
		if len(b) == 0 {
			return 0, wanting
		}
		n = min(d.left, len(b))
		d.left -= n
		e.Data = b[:n:n]
		return n, d.report(e, codec.MessageData)
	}
	switch {
	case !d.header.Last():
		d.stage = stageHeader
	case len(d.held) > 0:
		d.stage = stageTrailers
		return 0, d.report(e, codec.MessageTrailers)
	default:
		d.stage = stageEnd
	}
	return 0, again
}

func (d *decoder) readCredit(b []byte, e *codec.Event) (n int, p progress) {
	n = min(d.left, len(b))
	copy(d.raw[CreditSize-d.left:], b[:n])
	if d.left -= n; d.left > 0 {
		return n, wanting
	}
	d.stage = stageHeader
	amount, f := parseCredit(d.raw[:CreditSize])
	if f != nil {
		return n, d.fail(f)
	}
	e.Amount = int(amount)
	return n, d.report(e, codec.CreditEvent)
}

func (d *decoder) skip(b []byte) (n int, p progress) {
	n = min(d.left, len(b))
	if d.left -= n; d.left > 0 {
		return n, wanting
	}
	d.stage = stageHeader
	return n, again
}
