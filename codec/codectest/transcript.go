package codectest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/corelane/corelane/codec"
)

// Message is a message that was decoded.
type Message struct {
	ID     uint64
	OneWay bool
	// Head is nil if the receiver skips, Trailers if there are none.
	Head, Trailers *codec.Head
	Body           []byte
	// Done: its end has come.
	Done bool

	begun bool // its head is complete, or skipped
	cut   bool // its body has ended: trailers have begun
	parts int  // of the body
}

// String tells all that a message says but its id.
func (m *Message) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "one-way %v done %v\n", m.OneWay, m.Done)
	if m.Head != nil {
		s.WriteString(Describe(m.Head))
	}
	fmt.Fprintf(&s, "body %q\n", m.Body)
	if m.Trailers != nil {
		s.WriteString("trailers\n" + DescribeFields(m.Trailers))
	}
	return s.String()
}

// Transcript is what a decoder has said.
type Transcript struct {
	// Events are all events in their order, in words; pieces of one body that
	// follow each other are one.
	Events []string
	// Messages are those that began, in that order.
	Messages []*Message
	// Err is how it ended.
	Err *codec.Error

	tb   testing.TB
	kit  *Kit
	open map[uint64]*Message
	// data says that the last event is a piece of the body of that message.
	data *Message
	// filling is the message whose head or trailers are being decoded.
	filling *Message
}

func newTranscript(tb testing.TB, k *Kit) *Transcript {
	tb.Helper()
	return &Transcript{tb: tb, kit: k, open: map[uint64]*Message{}}
}

// maxEvents is far over what a decoder can say without a byte.
const maxEvents = 64

// feed gives the decoder one piece, until it wants more.
func (t *Transcript) feed(d codec.Decoder, b []byte, e *codec.Event) {
	t.tb.Helper()
	for idle := 0; ; idle++ {
		n, err := d.Next(b, e)
		if err != nil {
			t.Err = errorOf(t.tb, err)
			return
		}
		if n < 0 || n > len(b) {
			t.tb.Fatalf("%d of %d bytes were taken", n, len(b))
		}
		if n > 0 {
			idle = 0
		}
		if idle > maxEvents {
			t.tb.Fatal("the decoder does not come to an end")
		}
		if e.Kind == codec.NeedMore {
			if n < len(b) {
				t.tb.Fatalf("more is needed, and %d bytes were not taken", len(b)-n)
			}
			return
		}
		t.note(e)
		b = elsewhere(b, n, inFront(b, e))
	}
}

// elsewhere is b without the n bytes that were taken, in another buffer, and spoils
// b and its first dead bytes: an engine may stop between two events, and then gives
// the rest again.
func elsewhere(b []byte, n, dead int) []byte {
	for i := range dead {
		b[i] = 0xee
	}
	rest := bytes.Clone(b[n:])
	for i := range b {
		b[i] = 0xee
	}
	return rest
}

// inFront is the number of bytes of b in front of a body that was handed out: an
// engine puts heads there.
func inFront(b []byte, e *codec.Event) int {
	if e.Kind != codec.MessageData || len(b) == 0 {
		return 0
	}
	at := int(uintptr(unsafe.Pointer(unsafe.SliceData(e.Data))) - uintptr(unsafe.Pointer(unsafe.SliceData(b))))
	if at < 0 || at > len(b) {
		return 0 // it lies in the decoder's own buffer
	}
	return at
}

// note takes an event as an engine would.
func (t *Transcript) note(e *codec.Event) {
	t.tb.Helper()
	last := t.data
	t.data = nil
	switch e.Kind {
	case codec.MessageBegin:
		t.begin(e)
	case codec.MessageHead:
		m := t.message(e)
		if m != t.filling || m.Head == nil || m.begun {
			t.tb.Fatalf("the head of %d comes at a wrong time", e.ID)
		}
		m.begun = true
		t.say("head %d\n%s", e.ID, Describe(m.Head))
	case codec.MessageData:
		t.addData(e, last)
	case codec.MessageTrailers:
		t.announceTrailers(e)
	case codec.MessageEnd:
		t.end(e)
	case codec.HeartbeatEvent:
		t.say("heartbeat %d", e.ID)
	case codec.HeartbeatReplyEvent:
		t.say("heartbeat reply %d", e.ID)
	case codec.GoAwayEvent:
		t.say("go-away %d", e.ID)
	case codec.CancelEvent:
		t.say("cancel %d", e.ID)
	case codec.CreditEvent:
		t.say("credit %d of %d", e.Amount, e.ID)
	default:
		t.tb.Fatalf("an event of kind %d", e.Kind)
	}
}

func (t *Transcript) say(format string, args ...any) {
	t.Events = append(t.Events, fmt.Sprintf(format, args...))
}

func (t *Transcript) begin(e *codec.Event) {
	m := &Message{ID: e.ID, OneWay: e.OneWay}
	e.Head = nil
	if !t.kit.Skips {
		m.Head = new(codec.Head)
		m.Head.Reset()
		e.Head = m.Head
	}
	t.Messages = append(t.Messages, m)
	t.open[e.ID], t.filling = m, m
	if m.OneWay {
		t.say("begin %d, one-way", e.ID)
	} else {
		t.say("begin %d", e.ID)
	}
}

// message is the one that the event is for. An engine ignores events of messages
// that it does not know; here they are told as of one that never began.
func (t *Transcript) message(e *codec.Event) *Message {
	m := t.open[e.ID]
	if m == nil {
		m = &Message{ID: e.ID, begun: true}
		t.open[e.ID] = m
	}
	if m.OneWay != e.OneWay && m.Head != nil {
		t.tb.Fatalf("message %d changes its mind about an answer", e.ID)
	}
	return m
}

func (t *Transcript) addData(e *codec.Event, last *Message) {
	m := t.message(e)
	switch m.parts++; {
	case len(e.Data) == 0:
		t.tb.Fatal("a piece of a body is empty")
	case m.Head != nil && !m.begun:
		t.tb.Fatalf("the body of %d comes before its head", e.ID)
	case m.cut:
		t.tb.Fatalf("the body of %d goes on behind its trailers", e.ID)
	case m.parts > 1 && !t.kit.Protocol.Traits().Splits:
		t.tb.Fatalf("the body of %d comes in pieces", e.ID)
	}
	m.Body = append(m.Body, e.Data...)
	if m == last {
		t.Events = t.Events[:len(t.Events)-1]
	}
	t.data = m
	t.say("body of %d up to here: %s", e.ID, quote(m.Body))
}

// quote writes each byte by itself, so that the beginning of a body reads as the
// beginning of its whole.
func quote(b []byte) string {
	var s strings.Builder
	s.WriteByte('"')
	for _, c := range b {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			fmt.Fprintf(&s, `\x%02x`, c)
		} else {
			s.WriteByte(c)
		}
	}
	s.WriteByte('"')
	return s.String()
}

func (t *Transcript) announceTrailers(e *codec.Event) {
	m := t.message(e)
	if m.cut {
		t.tb.Fatalf("the trailers of %d come twice", e.ID)
	}
	m.cut, e.Head = true, nil
	if !t.kit.Skips {
		m.Trailers = new(codec.Head)
		m.Trailers.Reset()
		e.Head = m.Trailers
	}
	t.say("trailers of %d", e.ID)
}

func (t *Transcript) end(e *codec.Event) {
	m := t.message(e)
	if m.Head != nil && !m.begun {
		t.tb.Fatalf("%d ends before its head is complete", e.ID)
	}
	m.Done = true
	delete(t.open, e.ID)
	if m.Trailers != nil {
		t.say("end %d\n%s", e.ID, DescribeFields(m.Trailers))
	} else {
		t.say("end %d", e.ID)
	}
}

// same fails the test unless the other says the same.
func (t *Transcript) same(other *Transcript, at int) {
	t.tb.Helper()
	if !slices.Equal(t.Events, other.Events) {
		t.tb.Fatalf("split at %d: the events are\n%s\nand were\n%s", at, strings.Join(other.Events, "\n"), strings.Join(t.Events, "\n"))
	}
	if (t.Err == nil) != (other.Err == nil) || t.Err != nil && *t.Err != *other.Err {
		t.tb.Fatalf("split at %d: the error is %v and was %v", at, other.Err, t.Err)
	}
}

// beginning fails the test unless the whole begins with what t says.
func (t *Transcript) beginning(whole *Transcript, n int) {
	t.tb.Helper()
	for i, event := range t.Events {
		if i < len(whole.Events) && event == whole.Events[i] {
			continue
		}
		if i == len(t.Events)-1 && t.data != nil && i < len(whole.Events) &&
			strings.HasPrefix(whole.Events[i], strings.TrimSuffix(event, `"`)) {
			continue // the body goes on
		}
		t.tb.Fatalf("the first %d bytes say %q", n, event)
	}
}
