package layout

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
)

// Layouts of the tests: one with ids and all kinds, one like Thrift's framed
// transport without ids, one with the least that is possible, one that is odd.
func withIDs() Layout {
	reply := uint64(0x20)
	failed := uint64(0x01)
	return Layout{
		Magic:  []byte{0xda, 0xbb},
		Length: Length{Integer: Integer{At: 12, Width: 4}, Header: 16, Max: 1 << 20},
		ID:     &Integer{At: 4, Width: 8},
		Key:    &Key{Kind: KeyString16, Integer: Integer{At: 16}},
		Kind: &Kind{
			Integer: Integer{At: 2, Width: 1}, Mask: 0xe1,
			Request: []uint64{0xc0}, Response: []uint64{0x00}, OneWay: []uint64{0x80}, Heartbeat: []uint64{0xe0}, HeartbeatReply: &reply,
		},
		Constants: []Constant{{At: 2, Bytes: []byte{0x02}}},
		Failure: &Failure{
			Kind:   &failed,
			Fields: []Field{{Integer: Integer{At: 3}, Bytes: []byte{70}}},
			Body:   "{status} {reason}: {message} ({trace_id})",
		},
	}
}

func withoutIDs() Layout {
	return Layout{
		Length: Length{Integer: Integer{Width: 4}, Counts: CountsRest, Header: 8, Max: 1 << 16},
		Key:    &Key{Kind: KeyString32, Integer: Integer{At: 8}},
		Kind:   &Kind{Integer: Integer{At: 7, Width: 1}, Request: []uint64{1}, Response: []uint64{2, 3}, OneWay: []uint64{4}},
	}
}

func least() Layout {
	return Layout{
		Length: Length{Integer: Integer{Width: 1}, Header: 1, Max: 256},
		Key:    &Key{Kind: KeyConstant, Constant: "legacy"},
	}
}

// odd has little-endian numbers, a length of the whole frame, and keys of fixed
// size in the header.
func odd(kind KeyKind, width int) Layout {
	return Layout{
		Magic:   []byte("X"),
		Length:  Length{Integer: Integer{At: 1, Width: 3, Order: LittleEndian}, Counts: CountsFrame, Header: 16, Max: 4096},
		ID:      &Integer{At: 4, Width: 2, Order: LittleEndian},
		Key:     &Key{Kind: kind, Integer: Integer{At: 8, Width: width, Order: LittleEndian}},
		Failure: &Failure{Echo: true, Fields: []Field{{Integer: Integer{At: 6, Width: 2, Order: LittleEndian}}}, Body: `{"error":"{reason}"}`},
	}
}

func mustNew(t testing.TB, l Layout) *Protocol {
	t.Helper()
	p, err := New("layout:test", l)
	require.NoError(t, err)
	return p
}

var limits = codec.MessageLimits{Head: 1024, Body: 1 << 20}

// read feeds pieces to a new decoder and writes down what it reports. Bodies are
// put together, so that a script is the same whatever the pieces are.
func read(t testing.TB, p *Protocol, r codec.Role, skip bool, pieces ...[]byte) (script string, err error) {
	t.Helper()
	d := p.NewDecoder(r, limits)
	var b strings.Builder
	var e codec.Event
	var h codec.Head
	for _, piece := range pieces {
		for {
			n, failure := d.Next(piece, &e)
			require.LessOrEqual(t, n, len(piece))
			if failure != nil {
				return b.String(), failure
			}
			piece = piece[n:]
			if e.Kind == codec.NeedMore {
				require.Empty(t, piece, "with NeedMore all is taken")
				break
			}
			note(&b, &e, r, &h)
			if e.Kind == codec.MessageBegin && !skip {
				h.Reset()
				e.Head = &h
			}
		}
	}
	return b.String(), nil
}

// note writes an event down.
func note(b *strings.Builder, e *codec.Event, r codec.Role, h *codec.Head) {
	switch e.Kind {
	case codec.MessageBegin:
		fmt.Fprintf(b, "begin %d", e.ID)
		if e.OneWay {
			b.WriteString(" one-way")
		}
	case codec.MessageHead:
		if e.Refused != nil {
			fmt.Fprintf(b, "refused %v, raw %x\n", e.Refused, h.Raw())
			return
		}
		if r == codec.Requests {
			fmt.Fprintf(b, "head %q %s", h.Key(), h.Path())
		} else {
			fmt.Fprintf(b, "head %d", h.Status())
		}
		fmt.Fprintf(b, " raw %x length %d", h.Raw(), h.ContentLength())
	case codec.MessageData:
		fmt.Fprintf(b, "data %d %x", e.ID, e.Data)
	case codec.MessageEnd:
		fmt.Fprintf(b, "end %d", e.ID)
	case codec.HeartbeatEvent:
		fmt.Fprintf(b, "heartbeat %d", e.ID)
	case codec.HeartbeatReplyEvent:
		fmt.Fprintf(b, "heartbeat reply %d", e.ID)
	}
	b.WriteByte('\n')
}

// unhex reads hexadecimal text with spaces.
func unhex(t testing.TB, text string) []byte {
	t.Helper()
	var b []byte
	_, err := fmt.Sscanf(strings.ReplaceAll(text, " ", ""), "%x", &b)
	require.NoError(t, err)
	return b
}
