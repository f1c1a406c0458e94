package proxyproto

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// v2 makes a header of version 2 whose length field is right.
func v2(command, family byte, rest string) string {
	head := string(signature) + string([]byte{command, family})
	return head + string(binary.BigEndian.AppendUint16(nil, uint16(len(rest)))) + rest
}

// extension makes one extension.
func extension(kind byte, value string) string {
	return string([]byte{kind}) + string(binary.BigEndian.AppendUint16(nil, uint16(len(value)))) + value
}

// Address blocks.
const (
	block4 = "\xc0\x00\x02\x01\xc6\x33\x64\x02\xdc\x04\x01\xbb"
	block6 = "\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01" +
		"\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\xdc\x04\x01\xbb"
	mapped6 = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xc0\x00\x02\x01" +
		"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xc6\x33\x64\x02\xdc\x04\x01\xbb"
)

var blockUnix = strings.Repeat("/a\x00\x00", sizeUnix/4)

// fromHAProxy is what HAProxy 2.6.12 sent with `send-proxy-v2 proxy-v2-options
// crc32c` for a client at 127.0.0.1:49138 of its 127.0.0.1:18000.
const fromHAProxy = "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x13" +
	"\x7f\x00\x00\x01\x7f\x00\x00\x01\xbf\xf2\x46\x50" + "\x03\x00\x04\xcc\x03\xa4\xe4"

func TestParse(t *testing.T) {
	long := strings.Repeat("x", MaxV1-len("PROXY UNKNOWN \r\n"))
	tests := []struct {
		name, wire          string
		source, destination string
		err                 error
	}{
		{"TCP4", "PROXY TCP4 192.0.2.1 198.51.100.2 56324 443\r\n", "192.0.2.1:56324", "198.51.100.2:443", nil},
		{"TCP6", "PROXY TCP6 2001:db8::1 2001:DB8::2 0 65535\r\n", "[2001:db8::1]:0", "[2001:db8::2]:65535", nil},
		{"IPv4 in IPv6", "PROXY TCP6 ::ffff:192.0.2.1 ::1 1 2\r\n", "192.0.2.1:1", "[::1]:2", nil},
		{
			"longest line", "PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n",
			"[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535", "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535", nil,
		},
		{"unknown", "PROXY UNKNOWN\r\n", "", "", nil},
		{"unknown with more", "PROXY UNKNOWN who knows ::1\r\n", "", "", nil},
		{"107 bytes", "PROXY UNKNOWN " + long + "\r\n", "", "", nil},
		{"108 bytes", "PROXY UNKNOWN " + long + "x\r\n", "", "", ErrTooLong},
		{"no end", "PROXY UNKNOWN " + long + "xx", "", "", ErrTooLong},
		{"LF alone", "PROXY UNKNOWN\n", "", "", ErrLine},
		{"CR alone", "PROXY UNKNOWN\rx", "", "", ErrLine},
		{"empty", "PROXY \r\n", "", "", ErrFamily},
		{"lower case", "PROXY tcp4 192.0.2.1 198.51.100.2 1 2\r\n", "", "", ErrFamily},
		{"family alone", "PROXY TCP4\r\n", "", "", ErrLine},
		{"word missing", "PROXY TCP4 192.0.2.1 198.51.100.2 1\r\n", "", "", ErrLine},
		{"word too many", "PROXY TCP4 192.0.2.1 198.51.100.2 1 2 3\r\n", "", "", ErrLine},
		{"trailing space", "PROXY TCP4 192.0.2.1 198.51.100.2 1 2 \r\n", "", "", ErrLine},
		{"two spaces", "PROXY TCP4  192.0.2.1 198.51.100.2 1\r\n", "", "", ErrAddress},
		{"TCP4 with IPv6", "PROXY TCP4 ::1 ::1 1 2\r\n", "", "", ErrAddress},
		{"TCP4 with IPv4 in IPv6", "PROXY TCP4 ::ffff:192.0.2.1 192.0.2.1 1 2\r\n", "", "", ErrAddress},
		{"TCP6 with IPv4", "PROXY TCP6 192.0.2.1 192.0.2.1 1 2\r\n", "", "", ErrAddress},
		{"zone", "PROXY TCP6 fe80::1%eth0 ::1 1 2\r\n", "", "", ErrAddress},
		{"leading zero in an address", "PROXY TCP4 192.0.2.01 198.51.100.2 1 2\r\n", "", "", ErrAddress},
		{"leading zero in a port", "PROXY TCP4 192.0.2.1 198.51.100.2 01 2\r\n", "", "", ErrAddress},
		{"port too large", "PROXY TCP4 192.0.2.1 198.51.100.2 1 65536\r\n", "", "", ErrAddress},
		{"port with a sign", "PROXY TCP4 192.0.2.1 198.51.100.2 1 +2\r\n", "", "", ErrAddress},
		{"six digits", "PROXY TCP4 192.0.2.1 198.51.100.2 1 000002\r\n", "", "", ErrAddress},

		{"v2 TCP4", v2(0x21, 0x11, block4), "192.0.2.1:56324", "198.51.100.2:443", nil},
		{"v2 UDP4", v2(0x21, 0x12, block4), "192.0.2.1:56324", "198.51.100.2:443", nil},
		{"v2 TCP6", v2(0x21, 0x21, block6), "[2001:db8::1]:56324", "[2001:db8::2]:443", nil},
		{"v2 IPv4 in IPv6", v2(0x21, 0x21, mapped6), "192.0.2.1:56324", "198.51.100.2:443", nil},
		{"v2 unix", v2(0x21, 0x31, blockUnix), "", "", nil},
		{"v2 unspecified", v2(0x21, 0x00, ""), "", "", nil},
		{"v2 unspecified with more", v2(0x21, 0x00, "whatever"), "", "", nil},
		{"v2 local", v2(0x20, 0x00, ""), "", "", nil},
		{"v2 local with addresses", v2(0x20, 0x11, block4), "", "", nil},
		{"v2 local of a strange family", v2(0x20, 0xff, "x"), "", "", nil},
		{"v2 extensions", v2(0x21, 0x11, block4+extension(0x01, "h2")+extension(0x04, "")+extension(0xee, "x")), "192.0.2.1:56324", "198.51.100.2:443", nil},
		{"v2 largest", v2(0x21, 0x11, block4+extension(0x04, strings.Repeat("x", MaxV2-fixedSize-size4-3))), "192.0.2.1:56324", "198.51.100.2:443", nil},
		{"v2 too large", v2(0x21, 0x11, block4+extension(0x04, strings.Repeat("x", MaxV2-fixedSize-size4-2))), "", "", ErrTooLong},
		{"v2 local too large", v2(0x20, 0x00, strings.Repeat("x", MaxV2)), "", "", ErrTooLong},
		{"v2 of version 1", v2(0x11, 0x11, block4), "", "", ErrCommand},
		{"v2 of version 3", v2(0x31, 0x11, block4), "", "", ErrCommand},
		{"v2 unknown command", v2(0x22, 0x11, block4), "", "", ErrCommand},
		{"v2 unknown family", v2(0x21, 0x41, block4), "", "", ErrFamily},
		{"v2 unknown transport", v2(0x21, 0x13, block4), "", "", ErrFamily},
		{"v2 half a family", v2(0x21, 0x10, block4), "", "", ErrFamily},
		{"v2 short TCP4", v2(0x21, 0x11, block4[1:]), "", "", ErrShort},
		{"v2 short TCP6", v2(0x21, 0x21, block6[1:]), "", "", ErrShort},
		{"v2 short unix", v2(0x21, 0x31, blockUnix[1:]), "", "", ErrShort},
		{"v2 cut extension", v2(0x21, 0x11, block4+extension(0x01, "h2")[:4]), "", "", ErrExtension},
		{"v2 cut extension head", v2(0x21, 0x11, block4+"\x01\x00"), "", "", ErrExtension},
		{"v2 wrong checksum", v2(0x21, 0x11, block4+extension(0x03, "\x00\x00\x00\x00")), "", "", ErrChecksum},
		{"v2 short checksum", v2(0x21, 0x11, block4+extension(0x03, "\x00\x00\x00")), "", "", ErrExtension},
		{"v2 wrong signature", strings.Replace(v2(0x21, 0x11, block4), "QUIT", "QUIX", 1), "", "", ErrNoHeader},

		{"HTTP", "GET / HTTP/1.1\r\n\r\n", "", "", ErrNoHeader},
		{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "", "", ErrNoHeader},
		{"empty lines before", "\r\nPROXY UNKNOWN\r\n", "", "", ErrNoHeader},
		{"lower case word", "proxy UNKNOWN\r\n", "", "", ErrNoHeader},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, err := checkSplits(t, tt.wire)
			require.ErrorIs(t, err, tt.err)
			assert.Equal(t, tt.source, endText(h.Source))
			assert.Equal(t, tt.destination, endText(h.Destination))
		})
	}
}

func endText(a netip.AddrPort) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}

// checkSplits holds that the verdict on a header does not change with what
// follows, and that before it there is none.
func checkSplits(t require.TestingT, wire string) (Header, error) {
	want, n, wrong := Parse([]byte(wire))
	decided := false
	for i := range len(wire) + 1 {
		h, k, err := Parse([]byte(wire[:i]))
		switch {
		case k == 0 && err == nil:
			require.False(t, decided, "undecided again at %d of %q", i, wire)
			require.Less(t, i, Max)
		default:
			decided = true
			require.Equal(t, fmt.Sprint(want, n, wrong), fmt.Sprint(h, k, err), "split at %d of %q", i, wire)
			require.LessOrEqual(t, k, i)
		}
	}
	return want, wrong
}

func TestParseTellsTheLength(t *testing.T) {
	for _, wire := range []string{"PROXY UNKNOWN\r\n", v2(0x21, 0x11, block4), v2(0x20, 0, "")} {
		h, n, err := Parse([]byte(wire + "GET / HTTP/1.1\r\n"))
		require.NoError(t, err)
		assert.Equal(t, len(wire), n)
		assert.Contains(t, []int{1, 2}, h.Version)
		for i := range wire {
			_, n, err := Parse([]byte(wire[:i]))
			assert.NoError(t, err)
			assert.Zero(t, n, "more is to come")
		}
	}
}

func TestChecksum(t *testing.T) {
	h, n, err := Parse([]byte(fromHAProxy))
	require.NoError(t, err)
	assert.Equal(t, len(fromHAProxy), n)
	assert.Equal(t, "127.0.0.1:49138", h.Source.String())
	for i := fixedSize; i < len(fromHAProxy); i++ {
		if i == fixedSize+size4 {
			continue // the type: without its checksum the header is as good as any
		}
		broken := []byte(fromHAProxy)
		broken[i] ^= 1
		_, _, err := Parse(broken)
		assert.Error(t, err, "byte %d was changed", i)
	}
	sum := fromHAProxy[fixedSize+size4:]
	_, _, err = Parse([]byte(v2(0x21, 0x11, fromHAProxy[fixedSize:]+sum)))
	assert.ErrorIs(t, err, ErrExtension, "two checksums")
}

func TestParseDoesNotAllocate(t *testing.T) {
	for _, wire := range []string{
		"PROXY TCP6 2001:db8::1 2001:db8::2 56324 443\r\n", fromHAProxy, "GET / HTTP/1.1\r\n", "PROXY TCP4 1.2.3.4",
	} {
		b := []byte(wire)
		assert.Zero(t, testing.AllocsPerRun(100, func() { _, _, _ = Parse(b) }), wire)
	}
}
