package frame

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"

	wire "github.com/corelane/corelane/codec/frame"
)

// recorder is a side that writes down what it is told.
type recorder struct {
	l     *link
	told  bytes.Buffer
	whole bool // bodies came in one piece
}

func (r *recorder) failed(why *Error) {}

func (r *recorder) begin(h *wire.Header, metadata []byte) (*stream, error) {
	fmt.Fprintf(&r.told, "begin %d %d %x %q\n", h.Kind, h.ID, h.Flags, metadata)
	if r.l.lookup(h.ID) != nil || len(r.l.live) == 8 {
		return nil, nil
	}
	s := &stream{}
	s.init(r.l, wire.Response, r)
	s.id = h.ID
	r.l.live[h.ID] = s
	return s, nil
}

func (r *recorder) complete(s *stream, whole []byte) {
	r.whole = len(whole) > 0
	body := append(bytes.Clone(s.in.b[s.in.off:]), whole...)
	fmt.Fprintf(&r.told, "end %d %q %v\n", s.id, body, s.in.trailers)
	delete(r.l.live, s.id)
	s.in.close()
}

func (r *recorder) goneAway(last uint64, why *Error) {
	fmt.Fprintf(&r.told, "away %d %s\n", last, why)
}

func (r *recorder) closed() {}

func (r *recorder) ended(why *Error) { fmt.Fprintf(&r.told, "ended %s\n", why) }

// read feeds the pieces to a link that writes nothing, and returns what it told
// its side and what it wanted to write.
func read(pieces ...[]byte) (told string, out []byte, r *recorder) {
	o := Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	o.Limits.Metadata = 1 << 10
	r = &recorder{}
	r.l = &link{fd: -1, fdGone: true, o: o.withDefaults(), side: r, live: map[uint64]*stream{}, writing: true}
	for _, b := range pieces {
		if !r.l.hasEnded() {
			r.l.feed(b)
		}
	}
	return r.told.String(), r.l.out, r
}

func byByte(b []byte) (pieces [][]byte) {
	for i := range b {
		pieces = append(pieces, b[i:i+1])
	}
	return pieces
}

// script is one of everything.
func script() []byte {
	meta := wire.AppendPair(wire.AppendPair(nil, ":key", "k"), "a", "b")
	var b []byte
	message := func(h wire.Header, meta, body []byte) {
		h.Metadata, h.Body = uint32(len(meta)), uint32(len(body))
		b = append(append(wire.AppendHeader(b, &h), meta...), body...)
	}
	message(wire.Header{Kind: wire.Request, ID: 1}, meta, []byte("whole"))
	message(wire.Header{Kind: wire.OneWay, ID: 2}, meta, nil)
	message(wire.Header{Kind: wire.Request, Flags: wire.More, ID: 3}, meta, []byte("pie"))
	message(wire.Header{Kind: wire.Heartbeat, ID: 9}, nil, nil)
	message(wire.Header{Kind: wire.Request, Flags: wire.More | wire.Continues, ID: 3}, nil, nil)
	message(wire.Header{Kind: 100, ID: 9}, meta, []byte("skipped"))
	message(wire.Header{Kind: wire.Request, Flags: wire.Continues, ID: 3}, wire.AppendPair(nil, "t", "end"), []byte("ces"))
	message(wire.Header{Kind: wire.Request, Flags: wire.Continues, ID: 3}, nil, []byte("nobody's"))
	b = wire.AppendCredit(b, 3, 1)
	message(wire.Header{Kind: wire.Request, Flags: wire.More, ID: 4}, meta, []byte("given up"))
	b = wire.AppendDetail(b, wire.Cancel, 4, 503, "overloaded", "why")
	return wire.AppendDetail(b, wire.GoAway, 7, 400, "bad_request", "enough")
}

const told = `begin 1 1 0 "\x00\x04\x00\x01:keyk\x00\x01\x00\x01ab"
end 1 "whole" []
begin 3 2 0 "\x00\x04\x00\x01:keyk\x00\x01\x00\x01ab"
end 2 "" []
begin 1 3 1 "\x00\x04\x00\x01:keyk\x00\x01\x00\x01ab"
end 3 "pieces" [{t end}]
begin 1 4 1 "\x00\x04\x00\x01:keyk\x00\x01\x00\x01ab"
away 7 frame: gone away: status 400 bad_request: enough
`

// TestReader at every split, and byte by byte.
func TestReader(t *testing.T) {
	b := script()
	got, out, r := read(b)
	assert.Equal(t, told, got)
	assert.Equal(t, wire.AppendHeader(nil, &wire.Header{Kind: wire.Heartbeat, Flags: wire.Reply, ID: 9}), out)
	assert.Zero(t, r.l.buffered.Load()-int64(len("given up")), "what was cancelled is freed by its reader")
	for at := range b {
		got, _, _ := read(b[:at], b[at:])
		assert.Equal(t, told, got, "split at %d", at)
	}
	got, _, _ = read(byByte(b)...)
	assert.Equal(t, told, got)
}

// TestWholeBodiesAreNotCopied on their way to an inline handler.
func TestWholeBodiesAreNotCopied(t *testing.T) {
	_, _, r := read(script()[:24+13+5+5])
	assert.True(t, r.whole)
}

// TestTruncated: a part of a frame is never an error, whatever is missing.
func TestTruncated(t *testing.T) {
	b := script()
	for n := range b {
		got, _, _ := read(b[:n])
		assert.True(t, len(got) <= len(told) && told[:len(got)] == got, "%d bytes: %s", n, got)
	}
}

// TestLyingLengths reserve nothing.
func TestLyingLengths(t *testing.T) {
	h := wire.Header{Kind: wire.Request, ID: 1, Body: wire.MaxBody, Metadata: 9}
	b := append(wire.AppendHeader(nil, &h), wire.AppendPair(nil, ":key", "k")...)
	_, _, r := read(b, []byte("x"))
	assert.Less(t, cap(r.l.live[1].in.b), 64)
	h = wire.Header{Kind: 100, Body: wire.MaxBody}
	_, _, r = read(wire.AppendHeader(nil, &h), []byte("x"))
	assert.Less(t, cap(r.l.in.partial), 64)
	_, _, r = read(wire.AppendHeader(nil, &h), make([]byte, 1<<20), make([]byte, wire.MaxBody-1<<20))
	assert.Zero(t, cap(r.l.in.partial), "what was skipped is not kept")
}

// FuzzReader: nothing crashes it, and it understands the same whatever the split.
func FuzzReader(f *testing.F) {
	f.Add(script(), 30)
	f.Add(wire.AppendHeader(nil, &wire.Header{Kind: wire.Request, ID: 1, Metadata: 1 << 20}), 3)
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"), 1)
	f.Add([]byte("CL\x02"), 0)
	f.Fuzz(func(t *testing.T, b []byte, at int) {
		if len(b) > 1<<12 {
			return
		}
		want, out, _ := read(b)
		at = max(0, min(at, len(b)))
		for _, pieces := range [][][]byte{{b[:at], b[at:]}, byByte(b)} {
			got, again, _ := read(pieces...)
			assert.Equal(t, want, got)
			assert.Equal(t, out, again)
		}
	})
}

// FuzzRequest: metadata that was taken can be said again, and means the same.
func FuzzRequest(f *testing.F) {
	f.Add(wire.AppendPair(wire.AppendPair(nil, ":path", "/a?b"), ":verb", "GET"))
	f.Add(wire.AppendPair(wire.AppendPair(wire.AppendPair(nil, ":interface", "I"), ":method", "m"), "x", "y"))
	f.Add(wire.AppendPair(wire.AppendPair(nil, ":key", ""), ":timeout", "5"))
	f.Fuzz(func(t *testing.T, metadata []byte) {
		l := Options{}.withDefaults().Limits
		var r, again Request
		if readRequest(&r, metadata, &l) != nil {
			return
		}
		said := (&head{call: &r.Call, metadata: r.Metadata}).append(nil)
		assert.NoError(t, readRequest(&again, said, &l))
		assert.Equal(t, r.Call, again.Call)
		assert.Equal(t, r.Metadata, again.Metadata)
	})
}
