package http1

import "github.com/corelane/corelane/codec"

// stage is where in a message head the next byte stands.
type stage uint8

const (
	stageStart   stage = iota // before the head; empty lines are skipped
	stageMethod               // inside the method
	stageTarget               // inside the request target
	stageVersion              // after the target
	stageStatus               // inside version and status code of a response
	stageReason               // inside the reason phrase
	stageLine                 // at the beginning of a field line, or of the empty line
	stageName                 // inside a field name
	stageValue                // inside a field value
	stageEnd                  // after the CR of the empty line
	stageDone                 // behind the head
)

// Decoder finds message heads in received bytes. The zero value is ready for
// the first message; after a head it is ready for the next one. A Decoder
// belongs to one connection and one direction, and is not safe for concurrent
// use.
type Decoder struct {
	stage    stage
	response bool
	trailing bool // the fields are trailers
	failed   bool

	emptyLines uint8
	emptyCR    bool // a CR before the request line waits for its LF

	// Offsets are from the first byte of the head.
	pos        int // the next byte to look at
	mark       int // beginning of the current element
	fieldsFrom int
	nameTo     int // end of the field name
	valueFrom  int // behind the colon

	method codec.Method // of the request that a response answers
	line   codec.RequestLine
	status int
	reason codec.Span
	minor  int
	plain  bool // the first line can be sent on as it is
	facts  facts

	err *codec.Error
}

// Reset forgets what was received, also an error.
func (d *Decoder) Reset() { *d = Decoder{} }

// Started says whether a byte of a head has been received that is not part of
// an empty line before it (RFC 9112 §2.2). It starts the clock of the head.
func (d *Decoder) Started() bool { return d.stage != stageStart }

// Request continues with the head of a request. h is reset when the head
// begins and must be the same until it is done; consumed counts the bytes of b
// that belong to the head or to empty lines before it, and done says that h is
// complete. An err is a static *codec.Error and stays until Reset; consumed then
// means nothing, and h says no more than the method and the target, as far as
// they were read. A nil lim stands for the hard caps.
func (d *Decoder) Request(h *codec.Head, b []byte, lim *Limits) (consumed int, done bool, err error) {
	if d.failed {
		return 0, false, d.err
	}
	skipped := 0
	if d.stage == stageStart {
		h.Reset()
		if len(b) == 0 || b[0] == '\r' || b[0] == '\n' || d.emptyCR {
			if skipped = d.skipEmptyLines(b); d.failed {
				return 0, false, d.err
			}
			if b = b[skipped:]; len(b) == 0 {
				return skipped, false, nil
			}
		}
		d.response, d.stage = false, stageMethod
	}
	n, done := d.feed(h, b, lim)
	if d.failed {
		return 0, false, d.err
	}
	return skipped + n, done, nil
}

// Response continues with the head of a response to a request with the given
// method, which decides whether a body follows (RFC 9112 §6.3). Heads with a
// status of 1xx come before the final one; each is a call that is done.
// The rest is as for Request.
func (d *Decoder) Response(h *codec.Head, b []byte, lim *Limits, request codec.Method) (consumed int, done bool, err error) {
	if d.failed {
		return 0, false, d.err
	}
	if d.stage == stageStart {
		if len(b) == 0 {
			return 0, false, nil
		}
		h.Reset()
		d.response, d.method, d.stage = true, request, stageStatus
	}
	n, done := d.feed(h, b, lim)
	if d.failed {
		return 0, false, d.err
	}
	return n, done, nil
}

// skipEmptyLines returns how many bytes of b are empty lines.
func (d *Decoder) skipEmptyLines(b []byte) int {
	for i, c := range b {
		switch {
		case d.emptyCR && c == '\n':
			d.emptyCR = false
			if d.emptyLines++; d.emptyLines > maxEmptyLines {
				d.fail(errEmptyLines)
				return 0
			}
		case !d.emptyCR && c == '\r':
			d.emptyCR = true
		case d.emptyCR || c == '\n':
			d.fail(errLineEnd)
			return 0
		default:
			return i
		}
	}
	return len(b)
}

// feed parses b in place if nothing was kept before, and otherwise appends it
// to what was.
func (d *Decoder) feed(h *codec.Head, b []byte, lim *Limits) (consumed int, done bool) {
	if len(h.Bytes()) == 0 {
		d.run(h, b, lim)
		switch {
		case d.failed:
			h.AppendBytes(b[:d.lineRead()])
			d.handOver(h)
			return 0, false
		case d.stage == stageDone:
			h.AppendBytes(b[:d.pos])
			return d.finish(h), true
		}
		h.AppendBytes(b)
		return len(b), false
	}
	for len(b) > 0 {
		step := b[:min(len(b), bufferStep)]
		before := len(h.Bytes())
		h.AppendBytes(step)
		if d.run(h, h.Bytes(), lim); d.stage == stageDone {
			h.Truncate(d.pos)
			return consumed + d.finish(h) - before, true
		}
		if d.failed {
			d.handOver(h)
			break
		}
		consumed += len(step)
		b = b[len(step):]
	}
	return consumed, false
}

// run advances through b, which begins with the first byte of the head, until
// the head ends, b ends, or something is wrong.
func (d *Decoder) run(h *codec.Head, b []byte, lim *Limits) {
	for d.stage < stageLine {
		limit := lim.line()
		window := b[:min(len(b), limit)]
		if d.firstLine(window) {
			continue
		}
		if !d.failed && len(b) > limit {
			d.fail(errLineLimit)
		}
		return
	}
	limit := d.fieldsFrom + lim.headers()
	if !d.fields(h, b, limit, lim.count()) {
		return
	}
	if !d.trailing && !d.checkHead() {
		return
	}
	d.stage = stageDone
}

// firstLine parses one element of the first line. It returns false if w ends
// inside it or if it is wrong. Each element is judged by its bytes in their
// order alone, so that a longer w never changes the verdict.
func (d *Decoder) firstLine(w []byte) bool {
	switch d.stage {
	case stageMethod:
		return d.scanMethod(w)
	case stageTarget:
		return d.scanTarget(w)
	case stageVersion:
		return d.scanVersion(w)
	case stageStatus:
		return d.scanStatus(w)
	default:
		return d.scanReason(w)
	}
}

// finish hands what was found to the head, whose bytes are complete by now,
// and makes the decoder ready for the next head. It returns the head's length.
func (d *Decoder) finish(h *codec.Head) int {
	switch {
	case d.trailing:
		dropForbidden(h)
	case d.response:
		h.SetStatusLine(d.status, d.reason, d.minor, d.plainLength())
		d.facts.report(h, d)
	default:
		h.SetRequestLine(&d.line, d.minor, d.plainLength())
		d.facts.report(h, d)
		d.completeTarget(h)
	}
	n := d.pos
	*d = Decoder{}
	return n
}

// lineRead is how many bytes of the head method and target take, as far as they
// were read.
func (d *Decoder) lineRead() int { return int(max(d.line.Method.To, d.line.Target.To)) }

// handOver tells the head of a refused request what was asked for: the answer
// depends on the method (RFC 9110 §9.3.2), and the log names the target.
func (d *Decoder) handOver(h *codec.Head) {
	if !d.response && !d.trailing {
		h.SetRequestLine(&codec.RequestLine{Method: d.line.Method, ID: d.line.ID, Target: d.line.Target}, d.minor, 0)
	}
}

// plainLength returns the length of a first line that can be sent on as it is.
func (d *Decoder) plainLength() int {
	if d.plain {
		return d.fieldsFrom
	}
	return 0
}

// fail records a fault. It returns false for the convenience of its callers.
func (d *Decoder) fail(f *fault) bool {
	d.failed = true
	d.err = &f.request
	if d.response {
		d.err = &f.response
	}
	return false
}
