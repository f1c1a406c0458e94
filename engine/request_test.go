package engine

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/codec/http1"
	"github.com/corelane/corelane/engine/snapshot"
)

// exchangeFor is an exchange outside a loop that holds a decoded request.
func exchangeFor(t *testing.T, request string) *Exchange {
	t.Helper()
	x := new(Exchange)
	decode(t, &x.req, request)
	return x
}

func decode(t testing.TB, h *codec.Head, request string) {
	t.Helper()
	var d http1.Decoder
	_, done, err := d.Request(h, []byte(request), &http1.Limits{})
	require.NoError(t, err)
	require.True(t, done)
}

func TestValidTraceparent(t *testing.T) {
	const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for tp, want := range map[string]bool{
		good:                   true,
		"cc" + good[2:] + "-x": true,  // a later version may say more
		"cc" + good[2:] + "x":  false, // but not without a dash
		good + "-x":            false,
		"ff" + good[2:]:        false,
		"00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01": false,
		"00-00000000000000000000000000000000-b7ad6b7169203331-01": false,
		"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01": false,
		good[:54]: false, "": false, "0g" + good[2:]: false,
	} {
		require.Equal(t, want, validTraceparent([]byte(tp)), tp)
	}
}

func TestLookalike(t *testing.T) {
	for name, want := range map[string]codec.Known{
		"X_Forwarded_For": codec.XForwardedFor, "x.real.ip": codec.XRealIP, "X-Forwarded_Proto": codec.XForwardedProto,
		"X_Other": codec.Unknown, "X-Forwarded-For": codec.Unknown, "a_very_long_name_that_is_no_known_one": codec.Unknown,
	} {
		require.Equal(t, want, lookalike([]byte(name)), name)
	}
}

func TestClientOf(t *testing.T) {
	x := exchangeFor(t, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	x.lis = &snapshot.Listener{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
	x.Peer = netip.MustParseAddrPort("10.0.0.1:99")
	for chain, want := range map[string]string{
		"":                              "10.0.0.1",
		"203.0.113.9":                   "203.0.113.9",
		"6.6.6.6, 203.0.113.9":          "203.0.113.9", // what stands before it, anyone may have written
		"203.0.113.9, 10.1.1.1":         "203.0.113.9",
		"203.0.113.9:1234":              "203.0.113.9",
		"[2001:db8::1]:80, 10.1.1.1":    "2001:db8::1",
		"garbage, 10.1.1.1":             "10.1.1.1",
		"203.0.113.9, fe80::1%eth0":     "10.0.0.1",
		"::ffff:203.0.113.9":            "203.0.113.9",
		"10.2.2.2, 10.1.1.1":            "10.2.2.2",
		" , 203.0.113.9 ,, 10.1.1.1  ,": "203.0.113.9",
	} {
		require.Equal(t, want, x.clientOf([]byte(chain)).String(), chain)
	}
}

func TestSampleBound(t *testing.T) {
	require.Zero(t, sampleBound(false, 1))
	require.Zero(t, sampleBound(true, 0))
	require.Equal(t, ^uint64(0), sampleBound(true, 1))
	require.InDelta(t, float64(1<<63), float64(sampleBound(true, 0.5)), 1e6)
}
