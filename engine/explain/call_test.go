package explain

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/route"
)

// spoken is a protocol of which explanations only say the name.
type spoken struct{ codec.Protocol }

func (spoken) Name() string { return "calls" }

// callWorld is a generation with a listener whose clients make calls.
func callWorld(t testing.TB, specs ...route.Spec) *snapshot.Snapshot {
	s := world(t, map[string]*snapshot.Route{}, specs...)
	s.Listeners["calls"] = &snapshot.Listener{Name: "calls", Protocol: spoken{}, RequestLine: 10, Headers: 64 << 10, HeaderCount: 200}
	return s
}

func version(v string) []route.Condition {
	return []route.Condition{{Name: "X-Rpc-Version", Values: []string{v}}}
}

func TestExplainCalls(t *testing.T) {
	s := callWorld(
		t,
		route.Spec{ID: "paths", Kind: route.Prefix, Pattern: "/"},
		route.Spec{ID: "find 2", Space: route.Calls, Pattern: "/com.example.Order/find", Headers: version("2")},
		route.Spec{ID: "find", Space: route.Calls, Pattern: "/com.example.Order/find"},
		route.Spec{ID: "orders", Space: route.Calls, Kind: route.Prefix, Pattern: "/com.example.Order"},
		route.Spec{ID: "of shop", Space: route.Calls, Pattern: "/Cart/add", Hosts: []string{"shop.example"}},
		route.Spec{ID: "key", Space: route.Keys, Pattern: "a?b"},
	)
	for name, tt := range map[string]struct {
		call    Call
		headers map[string][]string
		route   string
		text    []string
	}{
		"a version": {
			Call{Interface: "com.example.Order", Method: "find", Version: "2"},
			nil, "find 2",
			[]string{"call com.example.Order/find, version 2\n", "listener     calls (calls), client 127.0.0.1\n", "all routes of com.example.Order/find, in order\n", "yes        find 2\n", "not tried  find\n"},
		},
		"another version": {
			Call{Interface: "com.example.Order", Method: "find", Group: "g", Version: "3"},
			nil, "find",
			[]string{"call com.example.Order/find, group g, version 3\n", `no         find 2: header X-Rpc-Version: wanted [2], got "3"` + "\n", "none, by the routes for any host\n"},
		},
		"any method": {Call{Interface: "com.example.Order", Method: "save"}, nil, "orders", []string{"all routes of com.example.Order, in order\n"}},
		"a host":     {Call{Interface: "Cart", Method: "add"}, map[string][]string{"host": {"Shop.example:80"}}, "of shop", []string{"shop.example, by the routes for shop.example\n"}},
		"no host":    {Call{Interface: "Cart", Method: "add"}, nil, "", []string{"none: no route names the call\n", "refused with 404 route_not_found"}},
		"a key":      {Call{Key: "a?b"}, nil, "key", []string{"call by key a?b\n", "received   a?b\n", "all routes of a?b, in order\n"}},
		"no key":     {Call{Key: "/"}, nil, "", []string{"none: no route has the key\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := ask(t, s, Request{RPC: &tt.call, Listener: "calls", Headers: tt.headers})
			require.Equal(t, tt.route, e.Route)
			require.Equal(t, "calls", e.Protocol)
			require.Equal(t, "POST", e.Method)
			require.Equal(t, &tt.call, e.RPC)
			var b strings.Builder
			require.NoError(t, e.Write(&b))
			for _, want := range tt.text {
				require.Contains(t, b.String(), want)
			}
			if tt.route != "" {
				require.Equal(t, "http", e.Service.Protocol)
			}
		})
	}
}

// A message protocol may carry requests by path too, whose first line is none.
func TestExplainPathOnAMessageListener(t *testing.T) {
	s := callWorld(t, route.Spec{ID: "all", Kind: route.Prefix, Pattern: "/"})
	e := ask(t, s, Request{URL: "http://h/a/path/that/is/longer/than/ten", Listener: "calls"})
	require.Equal(t, "all", e.Route)
	require.Nil(t, e.RPC)
}

func TestCallsThatCannotBeUnderstood(t *testing.T) {
	s := callWorld(t)
	call := &Call{Interface: "I", Method: "m"}
	for want, r := range map[string]Request{
		"rpc: it stands instead of a method and a url":          {RPC: call, URL: "http://h/", Listener: "calls"},
		"rpc: the listener web speaks http, which has no calls": {RPC: call, Listener: "web"},
		"rpc: want an interface and a method, or a key":         {RPC: &Call{}, Listener: "calls"},
		"rpc: want an interface and a method, or":               {RPC: &Call{Key: "k", Version: "1"}, Listener: "calls"},
		`rpc: "I/" is not an interface and a method`:            {RPC: &Call{Interface: "I"}, Listener: "calls"},
		`rpc: "a b/c" is not an interface and a method`:         {RPC: &Call{Interface: "a b", Method: "c"}, Listener: "calls"},
		`rpc: "1\n2" has more than one line`:                    {RPC: &Call{Interface: "I", Method: "m", Version: "1\n2"}, Listener: "calls"},
		`headers: "a b" is not a name`:                          {RPC: call, Listener: "calls", Headers: map[string][]string{"a b": {"c"}}},
		"headers: a call has no content-length":                 {RPC: call, Listener: "calls", Headers: map[string][]string{"content-length": {"1"}}},
		"headers: a call has no Connection":                     {RPC: call, Listener: "calls", Headers: map[string][]string{"Connection": {"close"}}},
		"headers: the value of X-A has more than one line":      {RPC: call, Listener: "calls", Headers: map[string][]string{"X-A": {"1\r\n2"}}},
		"listener: name one of calls, web":                      {RPC: call},
	} {
		_, err := Explain(s, r, 1)
		require.ErrorContains(t, err, want)
	}
}

// FuzzExplainCall asks about any call: the answer is about the very call.
func FuzzExplainCall(f *testing.F) {
	s := callWorld(
		f,
		route.Spec{ID: "find", Space: route.Calls, Pattern: "/I/find", Headers: version("1")},
		route.Spec{ID: "all", Space: route.Calls, Kind: route.Prefix, Pattern: "/I"},
		route.Spec{ID: "key", Space: route.Keys, Pattern: "k"},
	)
	f.Add("I", "find", "g", "1", "", "X-A", "b")
	f.Add("I", "..", "", "", "", "Host", "h:80")
	f.Add("", "", "", "", "k", "Expect", "100-continue")
	f.Add("", "", "", "", "k\x1b[2J\xff", "Traceparent", "")
	f.Fuzz(func(t *testing.T, iface, method, group, version, key, name, value string) {
		call := Call{Interface: iface, Method: method, Group: group, Version: version, Key: key}
		e, err := Explain(s, Request{RPC: &call, Listener: "calls", Headers: map[string][]string{name: {value}}}, 1)
		if err != nil {
			return
		}
		require.Equal(t, call, *e.RPC)
		if e.Outcome.Kind == Forwarded {
			require.Equal(t, iface == "I", e.Route != "key")
		}
		var b strings.Builder
		require.NoError(t, e.Write(&b))
		require.NotContains(t, b.String(), "\x1b")
		_, err = json.Marshal(e)
		require.NoError(t, err)
	})
}
