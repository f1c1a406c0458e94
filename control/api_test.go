package control

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStatusAPI(t *testing.T) {
	r := serve(t, routes, ok)
	var s statusAnswer
	require.Equal(t, 200, r.admin(http.MethodGet, "/api/v1/status", "", &s))
	assert.Equal(t, "test-node", s.Node)
	assert.Equal(t, "v-test", s.Version)
	assert.Equal(t, "ready", s.State)
	assert.True(t, s.Ready.Ready)
	assert.False(t, s.Draining)
	assert.Equal(t, uint64(1), s.Generation)
	assert.Equal(t, uint64(1), s.LoopsGeneration)
	assert.Equal(t, 2, s.Loops)
	assert.Equal(t, []listenerAnswer{{Name: "web", Address: r.node.Addresses()[0], Protocol: "http"}}, s.Listeners)
	assert.Equal(t, 100000, s.Connections.Limit)
	assert.Positive(t, s.Memory.BuffersLimit)
	assert.Equal(t, r.path(), s.Config.Source)
	assert.Len(t, s.Config.Checksum, 64)
	assert.Empty(t, s.Config.LastError)
	assert.NotNil(t, s.Config.Warnings)
}

func TestRoutesAPI(t *testing.T) {
	r := serve(t, routes+`
  - {id: off, status: disabled, match: {hosts: [a.example], template: "/t/{id}", headers: {X-A: [b]}}, service: origin, strip: 1, rewrite: {path: "/n/{id}", host: h.example}}
`, ok)
	r.get("/hello")
	r.get("/hello")
	var page routesAnswer
	eventually(t, "the hits", func() bool {
		r.admin(http.MethodGet, "/api/v1/routes?id=hello", "", &page)
		return *page.Routes[0].Hits == 2
	})
	assert.Equal(t, 3, page.Total)
	assert.Equal(t, []string{"respond"}, page.Routes[0].Filters)
	assert.Equal(t, []string{"GET"}, page.Routes[0].Match.Methods)

	page = routesAnswer{}
	r.admin(http.MethodGet, "/api/v1/routes?limit=2", "", &page)
	require.Len(t, page.Routes, 2)
	assert.Equal(t, "forward", page.Routes[0].ID)
	assert.Equal(t, "origin", page.Routes[0].Service)
	assert.Equal(t, map[string]string{"owner": "tests"}, page.Routes[0].Metadata)
	assert.Equal(t, "hello", page.Next)

	last := routesAnswer{}
	r.admin(http.MethodGet, "/api/v1/routes?limit=2&after="+page.Next, "", &last)
	require.Len(t, last.Routes, 1)
	assert.Empty(t, last.Next)
	off := last.Routes[0]
	assert.Equal(t, "disabled", off.Status)
	assert.Equal(t, matchAnswer{
		Hosts: []string{"a.example"}, Of: "path", Kind: "template", Pattern: "/t/{id}", Methods: []string{},
		Headers: map[string][]string{"X-A": {"b"}},
	}, off.Match)
	assert.Equal(t, "/n/{id}", off.RewritePath)
	assert.Equal(t, "h.example", off.RewriteHost)

	assert.Equal(t, 404, r.admin(http.MethodGet, "/api/v1/routes?id=nobody", "", nil))
	for _, limit := range []string{"0", "1001", "many"} {
		assert.Equal(t, 400, r.admin(http.MethodGet, "/api/v1/routes?limit="+limit, "", nil), limit)
	}
}

func TestPageOf(t *testing.T) {
	ids := []string{"a", "b", "d"}
	tests := []struct {
		after string
		limit int
		page  []string
		next  string
	}{
		{"", 2, []string{"a", "b"}, "b"},
		{"b", 2, []string{"d"}, ""},
		{"c", 2, []string{"d"}, ""}, // it was removed meanwhile
		{"d", 2, []string{}, ""},
		{"", 3, ids, ""},
	}
	for _, tt := range tests {
		page, next := pageOf(ids, tt.after, tt.limit)
		assert.Equal(t, tt.page, page)
		assert.Equal(t, tt.next, next)
	}
}

func TestServicesAPI(t *testing.T) {
	r := serve(t, `
services:
  - {name: origin, balance: round_robin, endpoints: [{address: "ORIGIN", weight: 3}, {address: "127.0.0.1:1", weight: 0}]}
  - {name: empty, endpoints: []}
routes: [{id: forward, match: {prefix: /o}, service: origin}]
`, ok)
	r.get("/o")
	var answer servicesAnswer
	eventually(t, "the idle connection", func() bool {
		answer = servicesAnswer{}
		r.admin(http.MethodGet, "/api/v1/services", "", &answer)
		return answer.Services[1].Endpoints[0].Idle == 1
	})
	assert.Equal(t, "empty", answer.Services[0].Name)
	assert.Empty(t, answer.Services[0].Endpoints)
	origin := answer.Services[1]
	assert.Equal(t, "round_robin", origin.Balance)
	assert.Equal(t, 20, origin.MaxConnections)
	assert.Equal(t, 1, origin.Usable)
	require.Len(t, origin.Endpoints, 2)
	assert.Equal(t, 3, origin.Endpoints[0].Weight)
	assert.Equal(t, int64(1), origin.Endpoints[0].Connections)
	assert.False(t, origin.Endpoints[0].Ejected)
}

func TestServicesAPIShowsEjections(t *testing.T) {
	r := serve(t, `
services:
  - name: origin
    endpoints: [{address: "ORIGIN"}, {address: "127.0.0.1:1"}]
    retries: {attempts: 0}
    health: {passive: {consecutive_failures: 1, eject: 60s}}
routes: [{id: forward, match: {prefix: /o}, service: origin}]
`, ok)
	var answer servicesAnswer
	eventually(t, "the ejection", func() bool {
		r.get("/o")
		r.admin(http.MethodGet, "/api/v1/services", "", &answer)
		return answer.Services[0].Endpoints[1].Ejected
	})
	assert.Equal(t, 1, answer.Services[0].Usable)
	assert.Equal(t, uint64(1), answer.Services[0].Ejections)
	assert.Positive(t, answer.Services[0].Endpoints[1].EjectedMillis)
}

func TestLoopsAPI(t *testing.T) {
	r := serve(t, routes, ok)
	r.get("/hello")
	var answer loopsAnswer
	require.Equal(t, 200, r.admin(http.MethodGet, "/api/v1/loops", "", &answer))
	require.Len(t, answer.Loops, 2)
	assert.GreaterOrEqual(t, answer.Skew, 1.0)
	var requests uint64
	for i, l := range answer.Loops {
		assert.Equal(t, i, l.ID)
		assert.Equal(t, -1, l.CPU)
		assert.True(t, l.Answered)
		assert.False(t, l.Stalled)
		assert.Equal(t, uint64(1), l.Generation)
		requests += l.Requests
	}
	assert.Equal(t, uint64(1), requests)
}
