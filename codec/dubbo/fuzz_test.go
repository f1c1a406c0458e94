package dubbo

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
)

// FuzzFrames feeds bytes in one piece and in two, and sends on what was
// understood: with nothing changed it must be the frame that came.
func FuzzFrames(f *testing.F) {
	frames, _ := readVectors(f)
	for _, v := range frames {
		f.Add(v.frame, uint16(20))
	}
	f.Add(append(find(f, "1.add", "request"), find(f, "2.dubbo2.js")...), uint16(100))
	f.Fuzz(func(t *testing.T, b []byte, at uint16) {
		for _, r := range []codec.Role{codec.Requests, codec.Responses} {
			l := codec.MessageLimits{Body: 1 << 16}
			want, err := decode(r, l, b)
			cut := min(int(at), len(b))
			got, again := decode(r, l, b[:cut], b[cut:])
			require.Equal(t, err, again)
			same(t, want, got)
			for _, m := range want {
				if len(m.kinds) < 3 || m.refused != nil {
					continue
				}
				out := encode(t, r, m)
				require.Equal(t, string(m.data), string(out[headerSize:]))
				if r == codec.Requests {
					m.head.AddString("traceparent", "00-1")
					again := decodeOne(t, r, encode(t, r, m))
					require.Nil(t, again.refused)
					require.Equal(t, "00-1", string(lastOf(&again.head, "traceparent")))
				}
			}
		}
	})
}

// lastOf is the value of the last field of that name.
func lastOf(h *codec.Head, name string) (value []byte) {
	for i := range h.Len() {
		if codec.EqualFold(h.Name(i), name) {
			value = h.Value(i)
		}
	}
	return value
}

// FuzzToJSON reads values in both ways: what can be skipped can be written, but
// for limits, and is JSON.
func FuzzToJSON(f *testing.F) {
	frames, _ := readVectors(f)
	for _, v := range frames {
		f.Add(v.frame[headerSize:])
	}
	f.Add([]byte("\x79\x51\x90"))
	f.Add([]byte("M\x04java\x01kW\x91\x51\x90ZZ"))
	f.Add([]byte("R\x00\x01\xed\xa0\xbd\x01\xed\xb8\x80"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := scanner{b: b, wide: 1}
		skipped := s.value(1)
		out, err := AppendJSON(nil, b)
		if err == nil {
			require.True(t, json.Valid(out), "%q", out)
			require.LessOrEqual(t, len(out), 2*(minJSON+jsonFactor*len(b)))
			require.True(t, skipped || s.sawWide)
		}
		for _, r := range []codec.Role{codec.Requests, codec.Responses} {
			var h codec.Head
			h.Reset()
			if out, err = translator.Neutral(nil, r, &h, b); err == nil {
				require.True(t, json.Valid(out), "%q", out)
			}
		}
	})
}

// FuzzFromJSON makes calls and answers of anything, which are sound if they are
// made at all.
func FuzzFromJSON(f *testing.F) {
	for _, seed := range []string{
		`["a",1,3000000000,1.5,true,null,[1],{"a":{"class":"U"}}]`, `{"types":["long"],"args":[1]}`, `[{"type":"byte[]","value":"AQI="}]`,
		`{"class":"com.U","list":[{"class":"com.U","list":[]}]}`, `[`, ``, `"\ud83d"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		if frame, err := post(t, "/A/m", body); err == nil {
			require.Nil(t, decodeOne(t, codec.Requests, frame).refused)
			_, _, err := neutral(t, frame)
			require.NoError(t, err)
		}
		if frame, err := answer(t, 200, "application/json", body); err == nil {
			text, h, err := neutral(t, frame)
			require.NoError(t, err)
			require.Equal(t, 200, h.Status())
			require.True(t, json.Valid([]byte(text)))
		}
		text := appendText(nil, body)
		s := scanner{b: text, wide: 1}
		require.True(t, s.text())
		require.Zero(t, s.left())
		out, ok := (&scanner{b: text, wide: 1}).readText(nil)
		require.True(t, ok)
		if !bytes.Contains([]byte(body), []byte{0xed}) {
			require.Equal(t, string(bytes.Runes([]byte(body))), string(out))
		}
	})
}
