package codectest

import (
	"bytes"
	"errors"
	"runtime"
	"testing"

	"github.com/corelane/corelane/codec"
)

// Kit is a protocol in one direction, and how much a decoder may accept.
type Kit struct {
	Protocol codec.Protocol
	Role     codec.Role
	Limits   codec.MessageLimits
	// Skips plays a receiver that wants no head of any message.
	Skips bool
}

// Decode feeds the pieces to a new decoder, one after the other, and tells what it
// said. It fails the test if the decoder breaks the contract of codec.Decoder, or
// looks at a piece after it was taken.
func (k Kit) Decode(tb testing.TB, pieces ...[]byte) *Transcript {
	tb.Helper()
	t := newTranscript(tb, &k)
	d := k.Protocol.NewDecoder(k.Role, k.Limits)
	var e codec.Event
	for _, p := range pieces {
		piece := bytes.Clone(p)
		t.feed(d, piece, &e)
		for i := range piece {
			piece[i] = 0xee
		}
		if t.Err != nil {
			break
		}
	}
	return t
}

// Splits decodes the bytes whole, in two pieces at every place, and byte by byte.
// It fails the test if the events or the error are not the same, and returns them.
func (k Kit) Splits(tb testing.TB, wire []byte) *Transcript {
	tb.Helper()
	whole := k.Decode(tb, wire)
	single := make([][]byte, len(wire))
	for i := range wire {
		single[i] = wire[i : i+1]
		whole.same(k.Decode(tb, wire[:i], wire[i:]), i)
	}
	whole.same(k.Decode(tb, single...), -1)
	return whole
}

// Pieces decodes the bytes whole and cut at i and j, modulo their number, for fuzz
// targets. It fails the test if that is not the same, and returns the events.
func (k Kit) Pieces(tb testing.TB, wire []byte, i, j uint16) *Transcript {
	tb.Helper()
	from, to := int(i)%(len(wire)+1), int(j)%(len(wire)+1)
	from, to = min(from, to), max(from, to)
	whole := k.Decode(tb, wire)
	whole.same(k.Decode(tb, wire[:from], wire[from:to], wire[to:]), from)
	return whole
}

// Truncated fails the test if a beginning of valid bytes is an error, or says what
// the whole does not.
func (k Kit) Truncated(tb testing.TB, wire []byte) {
	tb.Helper()
	whole := k.Decode(tb, wire)
	if whole.Err != nil {
		tb.Fatalf("the whole is refused: %v", whole.Err)
	}
	for n := range wire {
		part := k.Decode(tb, wire[:n])
		if part.Err != nil {
			tb.Fatalf("the first %d bytes are refused: %v", n, part.Err)
		}
		part.beginning(whole, n)
	}
}

// Refuses fails the test unless every split of the bytes ends with an error that
// reads so.
func (k Kit) Refuses(tb testing.TB, wire []byte, err string) {
	tb.Helper()
	t := k.Splits(tb, wire)
	if t.Err == nil || t.Err.Error() != err {
		tb.Fatalf("the error is %v, want %s", t.Err, err)
	}
}

// RoundTrip decodes the bytes, encodes their messages as Native, and decodes the
// result. It fails the test if that does not say the same, and returns what was
// encoded. Controls are not repeated.
func (k Kit) RoundTrip(tb testing.TB, wire []byte) []byte {
	tb.Helper()
	before := k.Decode(tb, wire)
	if before.Err != nil {
		tb.Fatalf("refused: %v", before.Err)
	}
	var out []byte
	for _, m := range before.Messages {
		out = append(out, k.Encode(tb, m)...)
	}
	after := k.Decode(tb, out)
	if after.Err != nil {
		tb.Fatalf("what was encoded is refused: %v\n%x", after.Err, out)
	}
	if len(before.Messages) != len(after.Messages) {
		tb.Fatalf("%d messages became %d", len(before.Messages), len(after.Messages))
	}
	for i, m := range before.Messages {
		if was, is := m.String(), after.Messages[i].String(); was != is {
			tb.Fatalf("message %d was\n%s\nand is\n%s", i, was, is)
		}
	}
	return out
}

// Encode returns a message, Native: one piece, or where it came split a piece with
// the head and one with the rest. It fails the test if the protocol cannot say it.
func (k Kit) Encode(tb testing.TB, m *Message) []byte {
	tb.Helper()
	p := codec.Piece{Role: k.Role, ID: m.ID, Head: m.Head, Native: true, OneWay: m.OneWay}
	var out []byte
	if k.Protocol.Traits().Splits && m.Head.Framing() == codec.FramingChunked {
		out = k.mustAppend(tb, out, &p)
		p.Head, p.Tail = nil, nil
	}
	p.Body, p.Last, p.Trailers = m.Body, true, m.Trailers
	return k.mustAppend(tb, out, &p)
}

func (k Kit) mustAppend(tb testing.TB, dst []byte, p *codec.Piece) []byte {
	tb.Helper()
	dst, err := AppendPiece(dst, k.Protocol, p)
	if err != nil {
		tb.Fatalf("message %d cannot be encoded: %v", p.ID, err)
	}
	return dst
}

// AppendPiece appends all of a piece as the engine sends it: what Encode says, the
// body, the tail.
func AppendPiece(dst []byte, p codec.Protocol, piece *codec.Piece) ([]byte, error) {
	dst, err := p.Encode(dst, piece)
	if err != nil {
		return dst, err
	}
	return append(append(dst, piece.Body...), piece.Tail...), nil
}

// Cheap fails the test if decoding the bytes, the beginning of a message with a
// length that lies, allocates more than so many bytes.
func (k Kit) Cheap(tb testing.TB, wire []byte, most int) {
	tb.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	k.Decode(tb, wire)
	runtime.ReadMemStats(&after)
	if spent := after.TotalAlloc - before.TotalAlloc; spent > uint64(most) {
		tb.Fatalf("%d bytes were allocated for %d received", spent, len(wire))
	}
}

// Allocations returns how many times the decoder allocates for the bytes, whole
// messages, once its buffers have grown. It fails the test on an error.
func (k Kit) Allocations(tb testing.TB, wire []byte) float64 {
	tb.Helper()
	d := k.Protocol.NewDecoder(k.Role, k.Limits)
	var e codec.Event
	var head, trailers codec.Head
	return testing.AllocsPerRun(100, func() {
		for rest := wire; ; {
			n, err := d.Next(rest, &e)
			if err != nil {
				tb.Fatal(err)
			}
			rest = rest[n:]
			switch e.Kind {
			case codec.MessageBegin:
				head.Reset()
				e.Head = &head
			case codec.MessageTrailers:
				trailers.Reset()
				e.Head = &trailers
			case codec.NeedMore:
				return
			}
		}
	})
}

// errorOf returns the error as what a decoder must return.
func errorOf(tb testing.TB, err error) *codec.Error {
	tb.Helper()
	var e *codec.Error
	if !errors.As(err, &e) {
		tb.Fatalf("the error is no *codec.Error: %v", err)
	}
	if e.Reason.Status() == 0 || e.Detail == "" {
		tb.Fatalf("the error lacks a reason or a detail: %v", err)
	}
	return e
}
