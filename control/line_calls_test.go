package control

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/corelane/corelane/codec"
)

// lineCalls is a protocol for tests: a request is one line, "I/m" or "=key" and then
// fields as name=value, and so is the response: status, then fields. Bodies are
// left out. Requests of a connection follow one another.
type lineCalls struct{}

func init() { codec.Register(lineCalls{}) }

func (lineCalls) Name() string { return "lines" }

func (lineCalls) Traits() codec.Traits { return codec.Traits{Splits: true} }

func (lineCalls) NewDecoder(codec.Role, codec.MessageLimits) codec.Decoder { return &lineDecoder{} }

func (lineCalls) Encode(dst []byte, p *codec.Piece) ([]byte, error) {
	if p.Head != nil {
		dst = fmt.Appendf(dst, "%d", p.Head.Status())
		for i := range p.Head.Len() {
			if !p.Head.Removed(i) {
				dst = fmt.Appendf(dst, " %s=%s", p.Head.Name(i), p.Head.Value(i))
			}
		}
	}
	if p.Body = nil; p.Last {
		dst = append(dst, '\n')
	}
	return dst, nil
}

func (lineCalls) AppendFailure(dst []byte, f *codec.Failure) []byte {
	return fmt.Appendf(dst, "%d X-Reason=%s\n", f.Status, f.Reason)
}

func (lineCalls) AppendControl(dst []byte, _ *codec.Control) []byte { return dst }

// lineDecoder reads requests.
type lineDecoder struct {
	line []byte
	next codec.EventKind
	id   uint64
}

func (d *lineDecoder) Next(b []byte, e *codec.Event) (int, error) {
	e.ID = d.id
	switch d.next {
	case codec.MessageHead:
		d.next, e.Kind = codec.MessageEnd, codec.MessageHead
		return 0, d.head(e.Head)
	case codec.MessageEnd:
		d.next, e.Kind = codec.NeedMore, codec.MessageEnd
		return 0, nil
	}
	line, _, whole := bytes.Cut(b, []byte("\n"))
	if d.line = append(d.line, line...); !whole {
		e.Kind = codec.NeedMore
		return len(b), nil
	}
	d.id++
	e.ID, e.Kind, d.next = d.id, codec.MessageBegin, codec.MessageHead
	return len(line) + 1, nil
}

func (d *lineDecoder) head(h *codec.Head) error {
	words := bytes.Split(d.line, []byte(" "))
	d.line = nil
	if h == nil {
		return nil
	}
	if key, is := bytes.CutPrefix(words[0], []byte("=")); is {
		h.SetKeyCall(key)
	} else if iface, method, _ := bytes.Cut(words[0], []byte("/")); !h.SetMethodCall(iface, method) {
		return errors.New("no call")
	}
	for _, word := range words[1:] {
		name, value, _ := bytes.Cut(word, []byte("="))
		h.Add(name, value)
	}
	h.SetReceived(codec.FramingNone, 0, false, true, false, codec.Span{})
	return nil
}
