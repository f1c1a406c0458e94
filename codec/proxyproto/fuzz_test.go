package proxyproto

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"PROXY TCP4 192.0.2.1 198.51.100.2 56324 443\r\nGET", "PROXY TCP6 ::ffff:1.2.3.4 ::1 1 2\r\n", "PROXY UNKNOWN x\r\n",
		"PROXY TCP4 192.0.2.1", "GET / HTTP/1.1\r\n", "\x16\x03\x01", "",
		v2(0x21, 0x11, block4+extension(0x01, "h2")), v2(0x21, 0x21, block6), v2(0x21, 0x31, blockUnix), v2(0x20, 0, "x"),
		fromHAProxy, string(signature),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := checkSplits(t, string(b[:min(len(b), 300)]))
		if err != nil {
			require.Zero(t, h)
			return
		}
		if !h.Source.IsValid() {
			return
		}
		for _, wire := range [][]byte{AppendV1(nil, h.Source, h.Destination), AppendV2(nil, h.Source, h.Destination)} {
			again, n, err := Parse(wire)
			require.NoError(t, err, "%q", wire)
			require.Equal(t, len(wire), n)
			require.Equal(t, h.Source, again.Source)
			require.Equal(t, h.Destination, again.Destination)
		}
	})
}
