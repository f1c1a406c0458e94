package control

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/engine/explain"
)

// ask posts a question to the admin server without a token.
func (r *rig) ask(body string, into any) int {
	r.t.Helper()
	res, err := r.client.Post("http://"+r.node.AdminAddress()+"/api/v1/explain", "application/json", strings.NewReader(body))
	require.NoError(r.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(r.t, err)
	require.NoError(r.t, json.Unmarshal(text, into), string(text))
	return res.StatusCode
}

func (r *rig) explain(q explain.Request) *explain.Explanation {
	r.t.Helper()
	body, err := json.Marshal(q)
	require.NoError(r.t, err)
	var e explain.Explanation
	require.Equal(r.t, 200, r.ask(string(body), &e))
	return &e
}

func TestExplainAPI(t *testing.T) {
	r := serve(t, routes, ok)
	var e explain.Explanation
	require.Equal(t, 200, r.ask(`{"method":"GET","url":"http://any.example/o/a?x=1","headers":{"X-A":["b"]},"client":"10.0.0.1","listener":"web"}`, &e))
	assert.Equal(t, uint64(1), e.Generation)
	assert.Equal(t, "web", e.Listener)
	assert.Equal(t, "10.0.0.1", e.Client)
	assert.Equal(t, "forward", e.Route)
	assert.Equal(t, explain.Path{Received: "/o/a", Matched: "/o/a", Forwarded: "/o/a"}, e.Path)
	assert.Equal(t, []explain.Candidate{{ID: "forward", Verdict: "matched"}}, e.Candidates)
	require.NotNil(t, e.Service)
	assert.Equal(t, strings.TrimPrefix(r.origin.URL, "http://"), e.Service.Chosen)
	assert.Equal(t, explain.Forwarded, e.Outcome.Kind)

	e = *r.explain(explain.Request{Method: "PUT", URL: "http://any.example/hello"})
	assert.Equal(t, explain.Outcome{
		Kind: explain.Refused, Status: 405, Reason: "method_not_allowed", Message: "the route does not take this method", Allow: "GET",
	}, e.Outcome)
	assert.Equal(t, &explain.Predicate{Wanted: []string{"GET"}, Got: []string{"PUT"}}, e.Candidates[0].Failed)
	assert.Nil(t, e.Service)
}

func TestExplainAPIRefusesQuestions(t *testing.T) {
	r := serve(t, routes, ok)
	for name, tt := range map[string]struct {
		body    string
		status  int
		message string
	}{
		"no JSON":          {`hello`, 400, "invalid character"},
		"nothing":          {``, 400, "EOF"},
		"an unknown field": {`{"url":"http://h/","colour":"red"}`, 400, "colour"},
		"two values":       {`{"url":"http://h/"} {}`, 400, "more than one value"},
		"no url":           {`{}`, 400, "url: want http://host/path"},
		"no such listener": {`{"url":"http://h/","listener":"x"}`, 400, `there is no "x"`},
		"too much":         {`{"url":"http://h/` + strings.Repeat("a", maxAdminBody) + `"}`, 413, "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			var e apiError
			assert.Equal(t, tt.status, r.ask(tt.body, &e))
			assert.Contains(t, e.Message, tt.message)
		})
	}
	assert.Equal(t, 405, r.admin(http.MethodGet, "/api/v1/explain", "", nil))
}

// An explanation is of this moment: the published generation, and endpoints as
// the process knows them.
func TestExplainAPISeesTheRunningNode(t *testing.T) {
	sections := `
services:
  - name: origin
    endpoints: [{address: "ORIGIN"}, {address: "127.0.0.1:1"}]
    retries: {attempts: 0}
    health: {passive: {consecutive_failures: 1, eject: 60s}}
routes: [{id: forward, match: {prefix: /o}, service: origin}]
`
	r := serve(t, sections, ok)
	question := explain.Request{URL: "http://h/o"}
	require.True(t, r.explain(question).Service.Endpoints[1].Usable)
	eventually(t, "the ejection", func() bool {
		r.get("/o")
		return !r.explain(question).Service.Endpoints[1].Usable
	})
	e := r.explain(question)
	assert.Equal(t, "ejected", e.Service.Endpoints[1].Why)
	assert.Equal(t, e.Service.Endpoints[0].Address, e.Service.Chosen)

	r.write(r.document(strings.Replace(sections, "service: origin}]", "service: origin, strip: 1}]", 1)))
	eventually(t, "the new generation", func() bool { return r.explain(question).Path.Forwarded == "/" })
	assert.Equal(t, uint64(2), r.explain(question).Generation)
}
