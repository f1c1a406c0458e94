package dubbo

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
)

// forward is the way of a message through the gateway: decoded, given a trace,
// sent on.
type forward struct {
	d     codec.Decoder
	e     codec.Event
	head  codec.Head
	piece codec.Piece
	out   []byte
}

func (f *forward) run(tb testing.TB, r codec.Role, frame []byte) {
	var data []byte
	for rest := frame; len(rest) > 0; {
		n, err := f.d.Next(rest, &f.e)
		if err != nil {
			tb.Fatal(err)
		}
		rest = rest[n:]
		switch f.e.Kind {
		case codec.MessageBegin:
			f.head.Reset()
			f.e.Head = &f.head
		case codec.MessageData:
			data = f.e.Data
		}
	}
	f.head.SetKnown(codec.Traceparent, trace)
	f.piece = codec.Piece{Role: r, ID: 7, Head: &f.head, Body: data, Native: true, Last: true, Timeout: 1000, Tail: f.piece.Tail[:0]}
	out, err := New().Encode(f.out[:0], &f.piece)
	if err != nil {
		tb.Fatal(err)
	}
	f.out = out
}

var trace = []byte("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")

func newForward(r codec.Role) *forward { return &forward{d: New().NewDecoder(r, limits)} }

func TestForwardingDoesNotAllocate(t *testing.T) {
	for _, name := range []string{"1.sayHello", "1.user(7)", "4.echo(User)", "4.attachments"} {
		for kind, r := range map[string]codec.Role{"request": codec.Requests, "response": codec.Responses} {
			frame := find(t, name, kind)
			f := newForward(r)
			f.run(t, r, frame)
			require.Zero(t, testing.AllocsPerRun(100, func() { f.run(t, r, frame) }), "%s %s", name, kind)
		}
	}
	f := newForward(codec.Requests)
	frame := find(t, "1.sayHello", "request")
	f.run(t, codec.Requests, frame)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		n, err := f.d.Next(frame[:50], &f.e)
		if n != 50 || err != nil {
			t.Fatal(n, err)
		}
		for rest := frame[50:]; len(rest) > 0; {
			if n, err = f.d.Next(rest, &f.e); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
	}), "in two pieces")
	failure := &codec.Failure{Status: 503, Reason: codec.NoEndpoint, Message: []byte("nobody"), TraceID: trace}
	out := New().AppendFailure(nil, failure)
	require.Zero(t, testing.AllocsPerRun(100, func() { out = New().AppendFailure(out[:0], failure) }))
}

func BenchmarkForwardRequest(b *testing.B)  { benchmarkForward(b, codec.Requests, "request") }
func BenchmarkForwardResponse(b *testing.B) { benchmarkForward(b, codec.Responses, "response") }

func benchmarkForward(b *testing.B, r codec.Role, kind string) {
	frame := find(b, "4.sayHello", kind)
	f := newForward(r)
	b.ReportAllocs()
	b.SetBytes(int64(len(frame)))
	for b.Loop() {
		f.run(b, r, frame)
	}
}

func BenchmarkResultToJSON(b *testing.B) {
	frame := find(b, "4.user(7)", "response")
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		f := newJSONWriter(frame[headerSize+1:])
		if !f.value(1) {
			b.Fatal(f.fault)
		}
		out = append(out[:0], f.out...)
	}
}
