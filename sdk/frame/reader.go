package frame

import (
	"errors"

	"github.com/cloudwego/netpoll"

	"github.com/corelane/corelane/codec"
	wire "github.com/corelane/corelane/codec/frame"
)

// reader is where the reader of a link stands in the bytes: in a header, in
// metadata or in a body. It takes all bytes of any split, so that it never waits
// for the rest of a frame.
type reader struct {
	header  [wire.HeaderSize]byte
	have    int // of header
	inFrame bool
	h       wire.Header
	begun   bool   // metadata is complete
	partial []byte // metadata or body that came in parts
	left    int    // of body
	s       *stream
	reason  string // of a go-away or cancel
}

// onRequest is netpoll's: there is something to read. One call runs at a time.
func (l *link) onRequest(nc netpoll.Connection) {
	in := nc.Reader()
	l.beginTurn()
	for n := in.Len(); n > 0; n = in.Len() {
		b, err := in.Next(n)
		if err != nil {
			break
		}
		if !l.hasEnded() {
			l.feed(b)
		}
		_ = in.Release()
	}
	l.endTurn()
}

func (l *link) hasEnded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err != nil
}

// feed reads the next bytes. An error of the protocol ends the link.
func (l *link) feed(b []byte) {
	for {
		rest, more, err := l.step(b)
		if err != nil {
			l.refuse(err)
			return
		}
		if !more {
			return
		}
		b = rest
	}
}

// refuse ends the link for what the peer did.
func (l *link) refuse(err error) {
	var fault *codec.Error
	if !errors.As(err, &fault) {
		fault = &codec.Error{Reason: codec.BadRequest, Detail: err.Error()}
	}
	l.abort(fault.Reason.Status(), fault.Reason.String(), fault.Detail)
}

// step takes one part of a frame. more: there may be another in what is left.
func (l *link) step(b []byte) (rest []byte, more bool, err error) {
	in := &l.in
	switch {
	case !in.inFrame:
		return l.stepHeader(b)
	case !in.begun:
		metadata, rest, ok := in.take(b, int(in.h.Metadata))
		if !ok {
			return nil, false, nil
		}
		in.begun, in.left = true, int(in.h.Body)
		if err := l.onMetadata(metadata); err != nil {
			return nil, false, err
		}
		in.partial = in.partial[:0]
		return rest, true, nil
	case !in.h.Kind.Message():
		body, rest, ok := in.take(b, in.left)
		if !ok {
			return nil, false, nil
		}
		err := l.onControl(body)
		in.nextFrame()
		return rest, true, err
	}
	n := min(len(b), in.left)
	whole := n == int(in.h.Body)
	if in.left -= n; in.left > 0 && n == 0 {
		return nil, false, nil
	}
	err = l.onBody(b[:n:n], whole)
	if in.left > 0 {
		return nil, false, err
	}
	in.nextFrame()
	return b[n:], true, err
}

func (l *link) stepHeader(b []byte) (rest []byte, more bool, err error) {
	in := &l.in
	head := b
	if in.have > 0 || len(b) < wire.HeaderSize {
		n := copy(in.header[in.have:], b)
		in.have += n
		head, b = in.header[:in.have], b[n:]
		if in.have == 0 {
			return nil, false, nil
		}
		if in.have < wire.HeaderSize {
			return nil, false, checkStart(head)
		}
	} else {
		b = b[wire.HeaderSize:]
	}
	in.have = 0
	if in.h, err = wire.ParseHeader(head); err != nil {
		return nil, false, err
	}
	if in.h.Kind.Message() && int(in.h.Metadata) > l.o.Limits.Metadata {
		return nil, false, errTooMuchMetadata
	}
	in.inFrame, in.begun = true, false
	return b, true, nil
}

// take returns the next n bytes when they are complete. What comes in parts is
// gathered as it comes, whatever a length promises.
func (in *reader) take(b []byte, n int) (taken, rest []byte, ok bool) {
	if len(in.partial) == 0 && len(b) >= n {
		return b[:n], b[n:], true
	}
	more := min(n-len(in.partial), len(b))
	in.partial = append(in.partial, b[:more]...)
	return in.partial, b[more:], len(in.partial) == n
}

func (in *reader) nextFrame() {
	in.inFrame, in.s = false, nil
	in.partial = in.partial[:0]
	if cap(in.partial) > flushAt {
		in.partial = nil
	}
}

// onMetadata takes header and metadata of a frame.
func (l *link) onMetadata(metadata []byte) error {
	in := &l.in
	h := &in.h
	if !h.Kind.Message() {
		if h.Kind == wire.Cancel || h.Kind == wire.GoAway {
			fields, err := readFields(metadata, &l.o.Limits)
			in.reason = fields.Get(wire.ReasonField)
			return err
		}
		return nil
	}
	if h.First() {
		s, err := l.side.begin(h, metadata)
		in.s = s
		return err
	}
	if in.s = l.lookup(h.ID); in.s == nil || in.s.in.ended() {
		in.s = nil // answered early or cancelled
		return nil
	}
	if len(metadata) == 0 {
		return nil
	}
	trailers, err := readFields(metadata, &l.o.Limits)
	in.s.in.setTrailers(trailers)
	return err
}

// onBody takes the next bytes of the body of a message; whole: they are all the
// body that the frame has. It is called once for a frame without one.
func (l *link) onBody(b []byte, whole bool) error {
	in := &l.in
	s := in.s
	if s == nil {
		return nil
	}
	last := in.h.Last() && in.left == 0
	alone := last && whole && in.h.First() && len(b) <= wire.Window
	if !alone && len(b) > 0 {
		if why := s.in.push(b); why != nil {
			l.giveUp(s, why)
			in.s = nil
			return nil
		}
	}
	if !last {
		return nil
	}
	if !alone {
		b = nil
	}
	l.side.complete(s, b)
	return nil
}

// giveUp cancels a message of the peer's that breaks a rule of its own.
func (l *link) giveUp(s *stream, why *Error) {
	if l.forget(s) {
		l.sendCancel(s.id, codec.BodyTooLarge.Status(), codec.BodyTooLarge.String(), why.Text)
	}
	s.fail(why)
	s.in.close() // it may have no handler yet that would
}

// onControl takes a frame that is no message.
func (l *link) onControl(body []byte) error {
	h := &l.in.h
	switch h.Kind {
	case wire.Heartbeat:
		if !h.Has(wire.Reply) {
			l.commit(wire.AppendHeader(l.begin(), &wire.Header{Kind: wire.Heartbeat, Flags: wire.Reply, ID: h.ID}))
		}
	case wire.Credit:
		n, err := wire.ParseCredit(body)
		if err != nil {
			return err
		}
		if s := l.lookup(h.ID); s != nil {
			s.out.give(int64(n))
		}
	case wire.Cancel:
		if s := l.lookup(h.ID); s != nil && l.forget(s) {
			s.fail(l.said(Cancelled, body))
		}
	case wire.GoAway:
		l.side.goneAway(h.ID, l.said(GoneAway, body))
	}
	return nil
}

// said is what a go-away or cancel tells.
func (l *link) said(k Kind, text []byte) *Error {
	return &Error{Kind: k, Peer: l.peer, Status: int(l.in.h.Status), Reason: l.in.reason, Text: string(text)}
}

// anyHeader is a header that has no fault.
var anyHeader = wire.AppendHeader(nil, &wire.Header{Kind: wire.Heartbeat})

// checkStart judges the magic and the version as far as they came: who speaks
// another protocol may never send a whole header.
func checkStart(b []byte) error {
	var probe [wire.HeaderSize]byte
	copy(probe[:], anyHeader)
	copy(probe[:3], b)
	_, err := wire.ParseHeader(probe[:])
	return err
}
