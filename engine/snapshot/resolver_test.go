package snapshot

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/route"
)

// planned is a route of a test: who it takes and what it changes.
type planned struct {
	spec route.Spec
	to   Route
}

func snapshotOf(t testing.TB, routes ...planned) *Snapshot {
	t.Helper()
	var changes []route.Change[*Route]
	for _, p := range routes {
		p.to.Info = filters.RouteInfo{ID: p.spec.ID}
		changes = append(changes, route.Change[*Route]{Spec: &p.spec, Payload: &p.to})
	}
	table, err := route.New[*Route](1).Apply(changes)
	require.NoError(t, err)
	return &Snapshot{Generation: 1, Routes: table}
}

// shop is a generation with a route of each kind.
func shop(t testing.TB) *Snapshot {
	return snapshotOf(
		t,
		planned{
			spec: route.Spec{
				ID: "order", Kind: route.Template, Pattern: "/orders/{id}", Methods: []string{"GET"},
				Headers: []route.Condition{{Name: "X-Env", Values: []string{"prod"}}},
			},
			to: Route{Strip: 1, RewritePath: "/o/{id}", RewriteHost: "orders.internal"},
		},
		planned{spec: route.Spec{ID: "api", Kind: route.Prefix, Pattern: "/api", Hosts: []string{"*.shop.example"}}, to: Route{Strip: 1}},
		planned{spec: route.Spec{ID: "root", Kind: route.Exact, Pattern: "/"}},
		planned{spec: route.Spec{ID: "off", Kind: route.Exact, Pattern: "/off", Disabled: true}},
	)
}

// decide takes all steps of a request.
func decide(t testing.TB, s *Snapshot, lis *Listener, request string, rec *Record) (q *Query, h *codec.Head, reason codec.Reason) {
	t.Helper()
	r := NewResolver()
	q, h = new(Query), headOf(t, request)
	if !r.Normalize(h, lis, rec) {
		return q, h, codec.AmbiguousPath
	}
	if reason = r.Resolve(q, s, h, rec); reason == codec.ReasonNone {
		r.Forward(q, h, rec)
	}
	return q, h, reason
}

func TestResolver(t *testing.T) {
	s := shop(t)
	lis := &Listener{Paths: route.PathOptions{RejectDangerous: true}}
	for name, tt := range map[string]struct {
		request                  string
		reason                   codec.Reason
		route, path, host, allow string
	}{
		"template, stripped, rewritten": {
			request: "GET /x/../orders/4%32?q=1 HTTP/1.1\r\nHost: any\r\nX-Env: prod\r\n\r\n",
			route:   "order", path: "/o/42", host: "orders.internal",
		},
		"a wildcard host, stripped": {
			request: "PUT /api/a HTTP/1.1\r\nHost: A.Shop.Example.:80\r\n\r\n", route: "api", path: "/a", host: "A.Shop.Example.:80",
		},
		"a method that nobody takes": {
			request: "PUT /orders/1 HTTP/1.1\r\nHost: any\r\nX-Env: prod\r\n\r\n", reason: codec.MethodNotAllowed, allow: "GET",
		},
		"a condition that fails":      {request: "GET /orders/1 HTTP/1.1\r\nHost: any\r\n\r\n", reason: codec.RouteNotFound},
		"a disabled route":            {request: "GET /off HTTP/1.1\r\nHost: any\r\n\r\n", reason: codec.RouteNotFound},
		"no wider host":               {request: "GET / HTTP/1.1\r\nHost: a.shop.example\r\n\r\n", reason: codec.RouteNotFound},
		"a path with two readings":    {request: "GET /a%2fb HTTP/1.1\r\nHost: any\r\n\r\n", reason: codec.AmbiguousPath},
		"a question about the server": {request: "OPTIONS * HTTP/1.1\r\nHost: any\r\n\r\n", route: "root", path: "*", host: "any"},
	} {
		t.Run(name, func(t *testing.T) {
			q, h, reason := decide(t, s, lis, tt.request, nil)
			require.Equal(t, tt.reason, reason)
			require.Equal(t, tt.allow, string(q.Allow(nil)))
			require.Equal(t, tt.allow != "", q.Allowed())
			if tt.route == "" {
				require.Nil(t, q.Route())
				return
			}
			require.Equal(t, tt.route, q.Route().Info.ID)
			require.Equal(t, tt.path, string(h.Path()))
			require.Equal(t, tt.host, string(h.Authority()))

			_, recorded, _ := decide(t, s, lis, tt.request, new(Record))
			require.Equal(t, h.Path(), recorded.Path(), "a record changes nothing")
		})
	}
}

func TestQueryForgets(t *testing.T) {
	q, _, _ := decide(t, shop(t), &Listener{}, "GET / HTTP/1.1\r\nHost: any\r\n\r\n", nil)
	require.Equal(t, "any", string(q.Host()))
	require.Equal(t, "/", string(q.Path()))
	q.Reset()
	require.Nil(t, q.Route())
}

func TestRecord(t *testing.T) {
	s := shop(t)
	var rec Record
	decide(t, s, &Listener{}, "GET /x/../orders/42 HTTP/1.1\r\nHost: Any:80\r\nX-Env: prod\r\n\r\n", &rec)
	spec, _, _ := s.Routes.Get("order")
	require.Equal(t, Record{
		Received: "/x/../orders/42", Matched: "/orders/42", Forwarded: "/o/42",
		Host: "any", HostKnown: true, Pattern: "/orders/{id}", ForwardedHost: "orders.internal",
		Candidates: []Candidate{{Spec: rec.Candidates[0].Spec, Why: route.Matched}},
	}, rec)
	require.Equal(t, &spec, rec.Candidates[0].Spec)

	rec = Record{}
	decide(t, s, &Listener{}, "GET /orders/42 HTTP/1.1\r\nHost: any\r\n\r\n", &rec)
	require.Equal(t, route.Header, rec.Candidates[0].Why)
	require.Equal(t, "X-Env", rec.Candidates[0].Condition)
	require.Empty(t, rec.Forwarded)

	rec = Record{}
	decide(t, s, &Listener{}, "GET /../a HTTP/1.1\r\nHost: any\r\n\r\n", &rec)
	require.Equal(t, Record{Received: "/../a", Ambiguous: true}, rec)

	rec = Record{}
	decide(t, s, &Listener{}, "GET /none HTTP/1.1\r\nHost: b.shop.example\r\n\r\n", &rec)
	require.Equal(t, "*.shop.example", rec.HostPattern)
	require.Empty(t, rec.Pattern)
}

func TestNormalHost(t *testing.T) {
	r := NewResolver()
	for in, want := range map[string]string{
		"Shop.Example.COM:8080": "shop.example.com", "a.": "a", "[::1]:80": "[::1]", "[2001:DB8::1]": "[2001:db8::1]", "": "", ".": ".",
	} {
		require.Equal(t, want, string(r.normalHost([]byte(in))), in)
	}
}

// resolveOne is one decision of a loop in its steady state.
func resolveOne(r *Resolver, q *Query, s *Snapshot, h *codec.Head, lis *Listener) {
	r.Normalize(h, lis, nil)
	r.Resolve(q, s, h, nil)
}

func TestResolverAllocatesNothing(t *testing.T) {
	s, r, q, lis := shop(t), NewResolver(), new(Query), new(Listener)
	h := headOf(t, "GET /orders/42 HTTP/1.1\r\nHost: Any:80\r\nX-Env: prod\r\n\r\n")
	require.Zero(t, testing.AllocsPerRun(1000, func() { resolveOne(r, q, s, h, lis) }))
	require.Equal(t, "order", q.Route().Info.ID)
}

func BenchmarkResolver(b *testing.B) {
	s, r, q, lis := shop(b), NewResolver(), new(Query), new(Listener)
	h := headOf(b, "GET /orders/42 HTTP/1.1\r\nHost: any.example:80\r\nX-Env: prod\r\n\r\n")
	b.ReportAllocs()
	for b.Loop() {
		resolveOne(r, q, s, h, lis)
	}
}
