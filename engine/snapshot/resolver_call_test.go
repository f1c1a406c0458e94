package snapshot

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/route"
)

// callOf is the head of a call with fields in pairs.
func callOf(t testing.TB, iface, method string, fields ...string) *codec.Head {
	t.Helper()
	h := new(codec.Head)
	h.Reset()
	require.True(t, h.SetMethodCall([]byte(iface), []byte(method)))
	for i := 0; i < len(fields); i += 2 {
		h.Add([]byte(fields[i]), []byte(fields[i+1]))
	}
	return h
}

func keyCall(key string) *codec.Head {
	h := new(codec.Head)
	h.Reset()
	h.SetKeyCall([]byte(key))
	return h
}

// lines is a generation with routes of every space.
func lines(t testing.TB) *Snapshot {
	version := []route.Condition{{Name: "X-Rpc-Version", Values: []string{"2.0.0"}}}
	return snapshotOf(
		t,
		planned{spec: route.Spec{ID: "paths", Kind: route.Prefix, Pattern: "/"}},
		planned{spec: route.Spec{ID: "find", Space: route.Calls, Pattern: "/com.example.Order/find"}, to: Route{Strip: 1}},
		planned{
			spec: route.Spec{ID: "find 2", Space: route.Calls, Pattern: "/com.example.Order/find", Headers: version},
			to:   Route{RewritePath: "/v2/find", RewriteHost: "orders.internal"},
		},
		planned{spec: route.Spec{ID: "orders", Space: route.Calls, Kind: route.Prefix, Pattern: "/com.example.Order"}},
		planned{spec: route.Spec{ID: "get", Space: route.Keys, Pattern: "get"}},
		planned{spec: route.Spec{ID: "star", Space: route.Keys, Pattern: "*"}},
		planned{spec: route.Spec{ID: "slash", Space: route.Keys, Pattern: "/a/../b\x00"}},
	)
}

func TestResolveCalls(t *testing.T) {
	s, r := lines(t), NewResolver()
	for name, tt := range map[string]struct {
		head        *codec.Head
		route, path string
	}{
		"a method, stripped":       {callOf(t, "com.example.Order", "find"), "find", "/find"},
		"a version, rewritten":     {callOf(t, "com.example.Order", "find", "x-rpc-version", "2.0.0"), "find 2", "/v2/find"},
		"another version":          {callOf(t, "com.example.Order", "find", "x-rpc-version", "3.0.0"), "find", "/find"},
		"any method":               {callOf(t, "com.example.Order", "save"), "orders", "/com.example.Order/save"},
		"an interface of nobody":   {callOf(t, "com.example.Cart", "find"), "", ""},
		"a key":                    {keyCall("get"), "get", "/get"},
		"a key that looks like *":  {keyCall("*"), "star", "/*"},
		"a key that is not a path": {keyCall("/a/../b\x00"), "slash", "//a/../b%00"},
		"a key of nobody":          {keyCall("GET"), "", ""},
		"a key of a path":          {keyCall("/"), "", ""},
		"no key":                   {keyCall(""), "", ""},
		"a path that looks like a call": {
			headOf(t, "POST /com.example.Order/find HTTP/1.1\r\nHost: any\r\n\r\n"), "paths", "/com.example.Order/find",
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := new(Query)
			reason := r.Resolve(q, s, tt.head, nil)
			if tt.route == "" {
				require.Equal(t, codec.RouteNotFound, reason)
				require.Nil(t, q.Route())
				return
			}
			require.Equal(t, codec.ReasonNone, reason)
			require.Equal(t, tt.route, q.Route().Info.ID)
			r.Forward(q, tt.head, nil)
			require.Equal(t, tt.path, string(tt.head.Path()))
		})
	}
}

func TestRecordOfCall(t *testing.T) {
	s, q, rec := lines(t), new(Query), new(Record)
	NewResolver().Resolve(q, s, callOf(t, "com.example.Order", "find", "X-Rpc-Version", "1.0.0"), rec)
	assert.Equal(t, "/com.example.Order/find", rec.Matched)
	assert.Equal(t, "/com.example.Order/find", rec.Pattern)
	require.Len(t, rec.Candidates, 2, "the routes of the path are no candidates")
	assert.Equal(t, Candidate{Spec: rec.Candidates[0].Spec, Why: route.Header, Condition: "X-Rpc-Version"}, rec.Candidates[0])
	assert.Equal(t, "find", rec.Candidates[1].Spec.ID)
}

func TestResolveCallAllocatesNothing(t *testing.T) {
	s, r, q := lines(t), NewResolver(), new(Query)
	for _, h := range []*codec.Head{callOf(t, "com.example.Order", "find"), callOf(t, "com.example.Order", "save"), keyCall("get")} {
		require.Zero(t, testing.AllocsPerRun(1000, func() { r.Resolve(q, s, h, nil) }))
		require.NotNil(t, q.Route())
	}
}

// What routes may name and what heads may carry are the same.
func TestCallNamesOfRoutesAndHeads(t *testing.T) {
	h := new(codec.Head)
	for c := range 256 {
		for _, name := range []string{string([]byte{byte(c)}), string([]byte{'a', byte(c), 'b'}), string([]byte{byte(c), byte(c)})} {
			h.Reset()
			assert.Equal(t, h.SetMethodCall([]byte(name), []byte("m")), route.IsCallName(name), strconv.Quote(name))
		}
	}
}
