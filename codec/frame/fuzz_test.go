package frame

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/codec/codectest"
)

func FuzzDecoder(f *testing.F) {
	for i, s := range []string{
		usual(1), inFrames(2) + usual(3), usualResponse(1), usualResponse(1)[:40], "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
		string(unhex(f, hexByPath)), string(unhex(f, hexByMethod)), string(unhex(f, hexByKey)), string(unhex(f, hexResponse)),
		frame(Header{Kind: Heartbeat}, nil, "") + string(AppendDetail(nil, GoAway, 1, 503, "draining", "x")) + string(AppendCredit(nil, 1, 1)),
		frame(Header{Kind: 99, Flags: Reply}, []byte("any"), "thing") + string(AppendDetail(nil, Cancel, 1, 0, "", "")),
	} {
		f.Add([]byte(s), uint16(7*i), uint16(31*i), i%2 == 1, i%3 == 1)
	}
	f.Fuzz(func(t *testing.T, b []byte, i, j uint16, response, skips bool) {
		kit := codectest.Kit{Protocol: Protocol{}, Limits: codec.MessageLimits{Head: 400, HeadFields: 12, Body: 1 << 20}, Skips: skips}
		if response {
			kit.Role = codec.Responses
		}
		got := kit.Pieces(t, b, i, j)
		if got.Err != nil || skips {
			return
		}
		for _, m := range got.Messages {
			if !m.Done {
				continue
			}
			out := kit.Encode(t, m)
			again := kit.Decode(t, out)
			require.Nil(t, again.Err, "%x", out)
			require.Len(t, again.Messages, 1)
			require.Equal(t, m.String(), again.Messages[0].String())
		}
	})
}
