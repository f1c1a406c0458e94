package layout

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
)

func FuzzDecoder(f *testing.F) {
	layouts := []Layout{withIDs(), withoutIDs(), least(), odd(KeyBytes, 8), odd(KeyInteger, 2)}
	for _, seed := range []string{request + oneWayFrame + ping, response + failed, thriftCall, thriftReply, "0002414200", oddFrame, oddFrame + "58ff"} {
		for which := range layouts {
			f.Add(uint8(which), false, uint8(5), unhex(f, seed))
			f.Add(uint8(which), true, uint8(17), unhex(f, seed))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, responses bool, cut uint8, in []byte) {
		p := mustNew(t, layouts[int(which)%len(layouts)])
		role := codec.Requests
		if responses {
			role = codec.Responses
		}
		whole, err := read(t, p, role, false, in)
		at := min(int(cut), len(in))
		split, again := read(t, p, role, false, in[:at], in[at:])
		require.Equal(t, whole, split)
		require.Equal(t, err, again)
	})
}

// FuzzLayout makes descriptions of numbers. One that is accepted must work for
// all frames.
func FuzzLayout(f *testing.F) {
	f.Add([]byte{0, 12, 4, 0, 0, 16, 4, 8, 1, 4, 16, 0, 2, 1, 0, 1, 3, 2}, unhex(f, request))
	f.Add([]byte{2, 0, 4, 1, 2, 8, 0, 0, 0, 1, 8, 4, 7, 1, 0, 1, 2, 0}, unhex(f, thriftCall))
	f.Add([]byte{1, 1, 3, 1, 1, 16, 4, 2, 1, 1, 8, 2, 9, 9, 0, 1, 6, 2}, unhex(f, oddFrame))
	f.Fuzz(func(t *testing.T, d, in []byte) {
		d = append(d, make([]byte, 18)...)
		n := func(i int) int { return int(int8(d[i])) }
		l := Layout{
			Magic:  make([]byte, d[0]),
			Length: Length{Integer: Integer{n(1), n(2), Order(d[3] & 1)}, Counts: Counts(d[4]), Header: n(5), Max: 1024},
			ID:     &Integer{n(6), n(7), Order(d[8] & 1)},
			Key:    &Key{Kind: KeyKind(d[9]), Integer: Integer{n(10), n(11), Order(d[8] >> 1 & 1)}},
			Kind: &Kind{
				Integer: Integer{n(12), n(13), BigEndian}, Mask: uint64(d[14]),
				Request: []uint64{uint64(d[15])}, Response: []uint64{0},
			},
			Failure: &Failure{Echo: true, Fields: []Field{{Integer: Integer{n(16), n(17), LittleEndian}}}, Body: "{status}"},
		}
		p, err := New("fuzz", l)
		if err != nil {
			return
		}
		_, _ = read(t, p, codec.Requests, false, in)
		h := foreign("/key")
		h.SetRaw(make([]byte, l.Length.Header))
		for _, piece := range []codec.Piece{{Head: h}, {Head: h, Native: true}, {Role: codec.Responses, Head: answer(404)}} {
			if out, err := p.Encode(nil, &piece); err == nil {
				require.Len(t, out, l.Length.Header)
				total := l.Length.total(l.Length.read(out))
				require.Equal(t, l.Length.Header, total)
			}
		}
		_ = p.AppendFailure(nil, &codec.Failure{Status: 503, Request: h})
	})
}
