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

func TestRefusals(t *testing.T) {
	require.Equal(t, refusal(faultRouteNotFound), RefusalOf(codec.RouteNotFound))
	require.Equal(t, Arrival{Status: 429, Reason: codec.RateLimited}, RefusalOf(codec.RateLimited))
	require.Equal(t, Arrival{Status: 414, Reason: codec.URITooLong, Message: "too long"}, Refusal(&codec.Error{Reason: codec.URITooLong, Detail: "too long"}))
}
