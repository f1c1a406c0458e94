package proxyproto

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAppend(t *testing.T) {
	tests := []struct {
		name, source, destination string
		line                      string
		read                      [2]string // what is read back
	}{
		{"IPv4", "192.0.2.1:56324", "198.51.100.2:443", "PROXY TCP4 192.0.2.1 198.51.100.2 56324 443\r\n", [2]string{"192.0.2.1:56324", "198.51.100.2:443"}},
		{"IPv6", "[2001:db8::1]:1", "[2001:db8::2]:2", "PROXY TCP6 2001:db8::1 2001:db8::2 1 2\r\n", [2]string{"[2001:db8::1]:1", "[2001:db8::2]:2"}},
		{"mixed", "192.0.2.1:1", "[::1]:2", "PROXY TCP6 ::ffff:192.0.2.1 ::1 1 2\r\n", [2]string{"192.0.2.1:1", "[::1]:2"}},
		{"zone", "[fe80::1%7]:1", "[fe80::2%7]:2", "PROXY TCP6 fe80::1 fe80::2 1 2\r\n", [2]string{"[fe80::1]:1", "[fe80::2]:2"}},
		{"no destination", "192.0.2.1:0", "", "PROXY TCP4 192.0.2.1 0.0.0.0 0 0\r\n", [2]string{"192.0.2.1:0", "0.0.0.0:0"}},
		{"no destination, IPv6", "[::1]:0", "", "PROXY TCP6 ::1 :: 0 0\r\n", [2]string{"[::1]:0", "[::]:0"}},
		{"nobody", "", "198.51.100.2:443", "PROXY UNKNOWN\r\n", [2]string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			source, destination := end(t, tt.source), end(t, tt.destination)
			one, two := AppendV1(nil, source, destination), AppendV2([]byte("before"), source, destination)
			assert.Equal(t, tt.line, string(one))
			for _, wire := range [][]byte{one, two[len("before"):]} {
				h, n, err := Parse(wire)
				require.NoError(t, err)
				assert.Equal(t, len(wire), n)
				assert.Equal(t, tt.read, [2]string{endText(h.Source), endText(h.Destination)})
			}
		})
	}
}

func end(t *testing.T, text string) netip.AddrPort {
	if text == "" {
		return netip.AddrPort{}
	}
	a, err := netip.ParseAddrPort(text)
	require.NoError(t, err)
	return a
}

func TestAppendDoesNotAllocate(t *testing.T) {
	source, destination := end(t, "192.0.2.1:1"), end(t, "[::1]:2")
	b := make([]byte, 0, 256)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		b = AppendV1(b[:0], source, destination)
		b = AppendV2(b[:0], source, destination)
	}))
}
