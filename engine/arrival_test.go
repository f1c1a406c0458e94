package engine

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/snapshot"
)

func TestArrive(t *testing.T) {
	const start = "OPTIONS /a HTTP/1.1\r\nHost: h\r\n"
	lis := &snapshot.Listener{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
	for name, tt := range map[string]struct {
		fields, peer string
		want         Arrival
		client, gray string
	}{
		"a stranger":          {"X-Forwarded-For: 1.2.3.4\r\nX-Gray-Tag: v2\r\n", "192.0.2.1", Arrival{}, "192.0.2.1", ""},
		"a trusted proxy":     {"X-Forwarded-For: 1.2.3.4\r\nX-Gray-Tag: v2\r\n", "10.0.0.1", Arrival{}, "1.2.3.4", "v2"},
		"a hop-by-hop field":  {"X-Hop: 1\r\nConnection: X-Hop\r\n", "10.0.0.1", Arrival{}, "10.0.0.1", ""},
		"the last hop":        {"Max-Forwards: 0\r\n", "192.0.2.1", Arrival{Status: 200}, "", ""},
		"a number of no hops": {"Max-Forwards: x\r\n", "192.0.2.1", refusal(faultMaxForwards), "", ""},
		"an expectation":      {"Expect: magic\r\n", "192.0.2.1", refusal(faultExpectation), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var h codec.Head
			decode(t, &h, start+tt.fields+"\r\n")
			got := Arrive(&h, lis, netip.MustParseAddr(tt.peer), "http")
			if tt.client != "" {
				tt.want.Client = netip.MustParseAddr(tt.client)
				require.NotNil(t, h.Get(codec.Via))
				require.Nil(t, h.GetName("X-Hop"))
				require.Equal(t, tt.gray, string(h.Get(codec.XGrayTag)))
			}
			require.Equal(t, tt.want, got)
		})
	}
}

// Group and version are part of what a call names: nobody need be trusted to say
// them. Of a request by path they are what a proxy tells.
func TestArriveOfACall(t *testing.T) {
	for name, tt := range map[string]struct {
		call          bool
		field         string
		group, called string
	}{
		"a call":          {true, "X-Rpc-Group", "g", "2.0.0"},
		"a lookalike":     {true, "X_Rpc_Group", "", "2.0.0"},
		"a call by a key": {false, "X-Rpc-Group", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var h codec.Head
			h.Reset()
			if h.SetKeyCall([]byte("k")); tt.call {
				require.True(t, h.SetMethodCall([]byte("I"), []byte("m")))
			}
			h.AddString(tt.field, "g")
			h.AddString("X-Rpc-Version", "2.0.0")
			h.AddString("X-Gray-Tag", "v2")
			at := Arrive(&h, &snapshot.Listener{}, netip.MustParseAddr("192.0.2.1"), "http")
			require.Zero(t, at.Status)
			require.Equal(t, tt.group, string(h.Get(codec.XRPCGroup)))
			require.Equal(t, tt.called, string(h.Get(codec.XRPCVersion)))
			require.Nil(t, h.Get(codec.XGrayTag))
		})
	}
}

func TestRefusals(t *testing.T) {
	var h codec.Head
	h.Reset()
	require.Equal(t, refusal(faultRouteNotFound), RefusalOf(codec.RouteNotFound, &h))
	require.Equal(t, Arrival{Status: 429, Reason: codec.RateLimited}, RefusalOf(codec.RateLimited, &h))
	h.SetKeyCall([]byte("k"))
	require.Equal(t, refusal(faultCallNotFound), RefusalOf(codec.RouteNotFound, &h))
	require.Equal(t, Arrival{Status: 414, Reason: codec.URITooLong, Message: "too long"}, Refusal(&codec.Error{Reason: codec.URITooLong, Detail: "too long"}))
}
