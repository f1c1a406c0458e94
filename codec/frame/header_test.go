package frame

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
)

// unhex reads bytes that are written with spaces and line ends between them.
func unhex(tb testing.TB, s string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	require.NoError(tb, err)
	return b
}

func TestHeaders(t *testing.T) {
	tests := []struct {
		name, hex string
		want      Header
	}{
		{"request", "434c 01 01 0000 0000 0000000000000001 00000000 00000000", Header{Kind: Request, ID: 1}},
		{"request in parts", "434c 01 01 0005 0000 0000000000000007 00000102 01000000", Header{Kind: Request, Flags: More | Zstd, ID: 7, Metadata: 0x102, Body: MaxBody}},
		{"trailers", "434c 01 01 0002 0000 0102030405060708 00100000 00000009", Header{Kind: Request, Flags: Continues, ID: 0x0102030405060708, Metadata: MaxMetadata, Body: 9}},
		{"response", "434c 01 02 0000 00c8 0000000000000001 00000000 00000000", Header{Kind: Response, Status: 200, ID: 1}},
		{"end of a response", "434c 01 02 0002 0000 0000000000000001 00000000 00000000", Header{Kind: Response, Flags: Continues, ID: 1}},
		{"one-way", "434c 01 03 0000 0000 ffffffffffffffff 00000000 00000001", Header{Kind: OneWay, ID: 1<<64 - 1, Body: 1}},
		{"heartbeat", "434c 01 04 0000 0000 0000000000000000 00000000 00000000", Header{Kind: Heartbeat}},
		{"its answer", "434c 01 04 0008 0000 0000000000000005 00000000 00000000", Header{Kind: Heartbeat, Flags: Reply, ID: 5}},
		{"go-away", "434c 01 05 0000 01f7 ffffffffffffffff 00000010 00000400", Header{Kind: GoAway, Status: 503, ID: LastIDUnknown, Metadata: 16, Body: MaxDetail}},
		{"cancel", "434c 01 06 0000 0000 0000000000000003 00000000 00000000", Header{Kind: Cancel, ID: 3}},
		{"credit", "434c 01 07 0000 0000 0000000000000003 00000000 00000004", Header{Kind: Credit, ID: 3, Body: CreditSize}},
		{"an addition", "434c 01 7f 000f ffff 0000000000000000 00000003 00000004", Header{Kind: 127, Flags: 15, Status: 0xffff, Metadata: 3, Body: 4}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := unhex(t, tt.hex)
			h, err := ParseHeader(append(b, "more"...))
			require.NoError(t, err)
			require.Equal(t, tt.want, h)
			require.Equal(t, b, AppendHeader(nil, &h))
			require.Equal(t, HeaderSize+int(h.Metadata)+int(h.Body), h.Size())
			for n := range b {
				_, err := ParseHeader(b[:n])
				require.ErrorContains(t, err, "a frame header has 24 bytes", "%d bytes", n)
			}
		})
	}
}

func TestHeadersThatAreRefused(t *testing.T) {
	tests := []struct{ name, hex, err string }{
		{"HTTP", "474554202f20485454502f312e310d0a486f73743a20610d", "bad_request: a frame does not begin with CL"},
		{"half the magic", "4343 01 01 0000 0000 0000000000000001 00000000 00000000", "bad_request: a frame does not begin with CL"},
		{"version 0", "434c 00 01 0000 0000 0000000000000001 00000000 00000000", "version_not_supported: the version of a frame is not 1"},
		{"version 2", "434c 02 01 0000 0000 0000000000000001 00000000 00000000", "version_not_supported: the version of a frame is not 1"},
		{"kind 0", "434c 01 00 0000 0000 0000000000000001 00000000 00000000", "bad_request: the kind of a frame is 0 or over 127"},
		{"kind 128", "434c 01 80 0000 0000 0000000000000001 00000000 00000000", "bad_request: the kind of a frame is 0 or over 127"},
		{"reserved flag", "434c 01 01 8000 0000 0000000000000001 00000000 00000000", "bad_request: a flag of a frame is reserved or does not fit its kind"},
		{"reserved flag of an addition", "434c 01 08 0010 0000 0000000000000001 00000000 00000000", "bad_request: a flag of a frame is reserved or does not fit its kind"},
		{"reply of a request", "434c 01 01 0008 0000 0000000000000001 00000000 00000000", "bad_request: a flag of a frame is reserved or does not fit its kind"},
		{"heartbeat with more", "434c 01 04 0001 0000 0000000000000001 00000000 00000000", "bad_request: a flag of a frame is reserved or does not fit its kind"},
		{"credit with more", "434c 01 07 0001 0000 0000000000000001 00000000 00000004", "bad_request: a flag of a frame is reserved or does not fit its kind"},
		{"late zstd", "434c 01 01 0006 0000 0000000000000001 00000000 00000000", "bad_request: the flag ZSTD stands behind the first frame of its message"},
		{"request with a status", "434c 01 01 0000 00c8 0000000000000001 00000000 00000000", "bad_request: the status of a frame is out of range or does not fit its kind"},
		{"response without one", "434c 01 02 0000 0000 0000000000000001 00000000 00000000", "bad_request: the status of a frame is out of range or does not fit its kind"},
		{"interim response", "434c 01 02 0000 00c7 0000000000000001 00000000 00000000", "bad_request: the status of a frame is out of range or does not fit its kind"},
		{"status 600", "434c 01 02 0000 0258 0000000000000001 00000000 00000000", "bad_request: the status of a frame is out of range or does not fit its kind"},
		{"status twice", "434c 01 02 0002 00c8 0000000000000001 00000000 00000000", "bad_request: the status of a frame is out of range or does not fit its kind"},
		{"cancel with status 1", "434c 01 06 0000 0001 0000000000000001 00000000 00000000", "bad_request: the status of a frame is out of range or does not fit its kind"},
		{"heartbeat with a status", "434c 01 04 0000 00c8 0000000000000001 00000000 00000000", "bad_request: the status of a frame is out of range or does not fit its kind"},
		{"request 0", "434c 01 01 0000 0000 0000000000000000 00000000 00000000", "bad_request: the id of a frame is 0"},
		{"cancel of 0", "434c 01 06 0000 0000 0000000000000000 00000000 00000000", "bad_request: the id of a frame is 0"},
		{"credit for 0", "434c 01 07 0000 0000 0000000000000000 00000000 00000004", "bad_request: the id of a frame is 0"},
		{"much metadata", "434c 01 01 0000 0000 0000000000000001 00100001 00000000", "headers_too_large: the metadata of a frame is over its limit"},
		{"negative metadata", "434c 01 08 0000 0000 0000000000000001 ffffffff 00000000", "headers_too_large: the metadata of a frame is over its limit"},
		{"heartbeat with metadata", "434c 01 04 0000 0000 0000000000000001 00000001 00000000", "bad_request: a frame of this kind has no metadata"},
		{"credit with metadata", "434c 01 07 0000 0000 0000000000000001 00000001 00000004", "bad_request: a frame of this kind has no metadata"},
		{"metadata in the middle", "434c 01 01 0003 0000 0000000000000001 00000001 00000000", "bad_request: a frame in the middle of a message has metadata"},
		{"large body", "434c 01 01 0000 0000 0000000000000001 00000000 01000001", "body_too_large: the body of a frame is over 16 MiB"},
		{"negative body", "434c 01 01 0000 0000 0000000000000001 00000000 ffffffff", "body_too_large: the body of a frame is over 16 MiB"},
		{"heartbeat with a body", "434c 01 04 0000 0000 0000000000000001 00000000 00000001", "bad_framing: the body of a frame has a length that does not fit its kind"},
		{"credit of 3 bytes", "434c 01 07 0000 0000 0000000000000001 00000000 00000003", "bad_framing: the body of a frame has a length that does not fit its kind"},
		{"204 with a body", "434c 01 02 0000 00cc 0000000000000001 00000000 00000001", "bad_framing: a response with status 204 or 304 has a body, or more frames"},
		{"304 with more", "434c 01 02 0001 0130 0000000000000001 00000000 00000000", "bad_framing: a response with status 204 or 304 has a body, or more frames"},
		{"go-away with a novel", "434c 01 05 0000 0000 0000000000000001 00000000 00000401", "bad_framing: the body of a frame has a length that does not fit its kind"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, err := ParseHeader(unhex(t, tt.hex))
			require.EqualError(t, err, tt.err)
			require.Zero(t, h)
		})
	}
}

// What is no frame is refused by its first bytes, before a header is there.
func TestForeignBytesAreRefusedEarly(t *testing.T) {
	for _, b := range []string{"G", "\x16\x03", "CX", "CL\x02", "CL\x00\x01"} {
		_, err := ParseHeader([]byte(b))
		require.Error(t, err)
		require.NotErrorIs(t, err, &errShort.request, "%q", b)
	}
}

func TestKinds(t *testing.T) {
	first := Header{Kind: Request, Flags: More}
	assert.True(t, first.First())
	assert.False(t, first.Last())
	last := Header{Kind: OneWay, Flags: Continues}
	assert.False(t, last.First())
	assert.True(t, last.Last())
	control := Header{Kind: Cancel}
	assert.False(t, control.First() || control.Last())
	assert.True(t, Kind(8).Ignored() && MaxIgnored.Ignored())
	assert.False(t, Credit.Ignored() || Kind(128).Ignored() || Kind(0).Ignored())
}

func TestCredits(t *testing.T) {
	b := AppendCredit(nil, 9, 65536)
	require.Equal(t, unhex(t, "434c 01 07 0000 0000 0000000000000009 00000000 00000004 00010000"), b)
	n, err := ParseCredit(b[HeaderSize:])
	require.NoError(t, err)
	require.EqualValues(t, 65536, n)
	for body, want := range map[string]string{
		"00000000": "a credit is 0", "80000000": "a credit is 0 or over", "0000": "length that does not fit",
	} {
		_, err := ParseCredit(unhex(t, body))
		require.ErrorContains(t, err, want)
	}
}

func TestDetails(t *testing.T) {
	b := AppendDetail(nil, GoAway, 5, 400, "bad_request", "no")
	require.Equal(t, unhex(t, "434c 01 05 0000 0190 0000000000000005 00000020 00000002"+
		"0011 000b 782d636f72656c616e652d726561736f6e 6261645f72657175657374 6e6f"), b)
	long := AppendDetail([]byte("x"), Cancel, 1, 0, "", strings.Repeat("a", 2000))
	h, err := ParseHeader(long[1:])
	require.NoError(t, err)
	require.Equal(t, Header{Kind: Cancel, ID: 1, Body: MaxDetail}, h)
	require.Len(t, long, 1+h.Size())
}

func FuzzHeader(f *testing.F) {
	for _, s := range []string{
		"434c 01 01 0005 0000 0000000000000007 00000102 00000004", "434c 01 02 0000 00c8 0000000000000001 00000000 00000000",
		"434c 01 05 0000 01f7 ffffffffffffffff 00000010 00000400", "434c 01 7f 000f ffff 0000000000000000 00000003 00000004",
		"434c 02", "",
	} {
		f.Add(unhex(f, s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := ParseHeader(b)
		if err != nil {
			require.Zero(t, h)
			var e *codec.Error
			require.ErrorAs(t, err, &e)
			require.NotZero(t, e.Reason.Status())
			return
		}
		require.Equal(t, b[:HeaderSize], AppendHeader(nil, &h))
	})
}
