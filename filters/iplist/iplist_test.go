package iplist_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/filters/filtertest"
	"github.com/corelane/corelane/filters/iplist"
)

func TestRegistered(t *testing.T) {
	kind, ok := filters.Lookup("ip_list")
	require.True(t, ok)
	assert.Equal(t, &iplist.Filter{}, kind.New())
}

func TestDecisions(t *testing.T) {
	const unix = ""
	tests := []struct {
		name   string
		filter *iplist.Filter
		in     []string
		out    []string
	}{
		{"nothing listed", &iplist.Filter{}, []string{"192.0.2.1", "2001:db8::1", unix}, nil},
		{
			"denied",
			&iplist.Filter{Deny: []string{"192.0.2.0/24", "198.51.100.7", "2001:db8::/32"}},
			[]string{"192.0.3.1", "198.51.100.8", "2001:db9::1", unix},
			[]string{"192.0.2.0", "192.0.2.255", "198.51.100.7", "2001:db8:ffff::1", "::ffff:192.0.2.9"},
		},
		{
			"only these",
			&iplist.Filter{Allow: []string{"10.0.0.0/8", "::1"}},
			[]string{"10.255.0.1", "::ffff:10.0.0.1", "::1"},
			[]string{"11.0.0.1", "::2", unix},
		},
		{
			"denied among the allowed",
			&iplist.Filter{Allow: []string{"10.0.0.0/8"}, Deny: []string{"10.1.0.0/16"}},
			[]string{"10.2.0.1"},
			[]string{"10.1.0.1", "11.0.0.1"},
		},
		{
			"bypass lets nobody in",
			&iplist.Filter{Allow: []string{"10.0.0.0/8"}, Deny: []string{"10.1.0.0/16"}, Bypass: []string{"0.0.0.0/0", "::/0"}},
			[]string{"10.2.0.1"},
			[]string{"10.1.0.1", "11.0.0.1", "::1"},
		},
		{"unix allowed", &iplist.Filter{Allow: []string{"unix"}}, []string{unix}, []string{"127.0.0.1"}},
		{"unix denied", &iplist.Filter{Deny: []string{"unix"}}, []string{"127.0.0.1"}, []string{unix}},
		{"IPv4 written in IPv6", &iplist.Filter{Deny: []string{"::ffff:192.0.2.0/120"}}, []string{"192.0.3.1"}, []string{"192.0.2.1"}},
		{"a zone does not matter", &iplist.Filter{Deny: []string{"fe80::/10"}}, nil, []string{"fe80::1%eth0"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.NoError(t, tt.filter.Provision())
			for _, text := range tt.in {
				x := from(t, text)
				assert.Equal(t, filters.Continue, tt.filter.OnRequest(&x.Context), text)
				assert.Equal(t, filters.Continue, tt.filter.OnConnection(&x.Context), text)
			}
			for _, text := range tt.out {
				x := from(t, text)
				assert.Equal(t, filters.Respond, tt.filter.OnConnection(&x.Context), text)
				got := x.Run(tt.filter)
				assert.Equal(t, 403, got.Status, text)
				assert.Equal(t, codec.IPDenied, got.Reason, text)
			}
		})
	}
}

// from is an exchange of a client; the empty address is a unix socket's.
func from(t *testing.T, address string) *filtertest.Exchange {
	x := filtertest.New(t, "GET / HTTP/1.1", "Host: a.example")
	x.Client = netip.Addr{}
	if address != "" {
		x.Client = netip.MustParseAddr(address)
	}
	return x
}

func TestBypassIsTold(t *testing.T) {
	f := &iplist.Filter{Bypass: []string{"10.0.0.0/8"}}
	for address, want := range map[string]bool{"10.1.1.1": true, "11.1.1.1": false} {
		x := from(t, address)
		x.Run(f)
		got, _ := filters.Bypass.Get(&x.Context)
		assert.Equal(t, want, got, address)
	}
}

func TestRefusedOptions(t *testing.T) {
	err := (&iplist.Filter{
		Bypass: []string{"10.0.0.1/8"}, Deny: []string{"1.2.3.4", "nonsense"}, Allow: []string{"fe80::1%eth0"},
	}).Provision()
	for _, want := range []string{
		`bypass[0]: "10.0.0.1/8" has bits outside its mask: write 10.0.0.0/8`,
		`deny[1]: "nonsense" is not a network`,
		`allow[0]: "fe80::1%eth0" is not a network`,
	} {
		assert.ErrorContains(t, err, want)
	}
}

func TestAllocations(t *testing.T) {
	f := &iplist.Filter{Bypass: []string{"192.0.2.0/24"}, Deny: []string{"10.0.0.0/8"}, Allow: []string{"192.0.0.0/16"}}
	require.NoError(t, f.Provision())
	x := filtertest.New(t, "GET / HTTP/1.1", "Host: a.example")
	assert.Zero(t, testing.AllocsPerRun(100, func() { f.OnRequest(&x.Context) }))
}
