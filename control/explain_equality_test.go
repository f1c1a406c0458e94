package control

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/engine/explain"
	_ "github.com/corelane/corelane/filters/headers"
)

// dice makes random routes and requests of few words, so that they meet.
type dice struct{ *rand.Rand }

func (d dice) of(words ...string) string { return words[d.IntN(len(words))] }

func (d dice) one(in int) bool { return d.IntN(in) == 0 }

// route is one random route as YAML.
func (d dice) route(id string) string {
	template := d.one(3)
	match := d.of("path", "prefix") + ": " + d.of("/a", "/b", "/a/b", "/", "/c/d/e")
	if template {
		match = "template: " + d.of(`"/a/{x}"`, `"/b/{x}/c"`, `"/{x}"`)
	}
	for _, more := range []struct {
		in   int
		text string
	}{
		{3, `hosts: [` + d.of(`shop.example`, `"*.example"`, `"*.shop.example"`, `other.test`) + `]`},
		{3, `methods: [` + d.of("GET", "POST", "GET, HEAD", "OPTIONS, PUT") + `]`},
		{4, `headers: {` + d.of("X-Env: [prod]", "X-Env: [pre, test]", "X-Env: []", "X-Gray-Tag: [v2]", "X-Forwarded-For: []") + `}`},
		{5, `query: {q: [` + d.of(`"1"`, `"a b"`) + `]}`},
		{5, `cookies: {lane: [` + d.of("red", "blue") + `]}`},
		{9, `regex: "` + d.of("b$", "^/a") + `"`},
	} {
		if d.one(more.in) {
			match += ", " + more.text
		}
	}
	target := `filters: [{respond: {headers: {X-Route: ` + id + `}}}]`
	if d.one(2) {
		target = `service: origin, filters: [{headers: {request: {set: {X-Route: ` + id + `}}}}], strip: ` + d.of("0", "1", "2")
		if template && d.one(2) {
			target += `, rewrite: {path: "/new/{x}"}`
		} else if d.one(4) {
			target += `, rewrite: {path: /fixed, host: inner.test}`
		}
	}
	return fmt.Sprintf("  - {id: %s, status: %s, priority: %d, match: {%s}, %s}\n",
		id, d.of("enabled", "enabled", "enabled", "disabled"), d.IntN(3), match, target)
}

// question is one random request.
func (d dice) question(listener string) explain.Request {
	path := ""
	for range 1 + d.IntN(4) {
		path += "/" + d.of("a", "b", "c", "d", "e", "%61", ".", "..", "", "x%2fy", "%7Ez", "b;v=1")
	}
	if d.one(3) {
		path += "?" + d.of("q=1", "q=a+b", "q=a%20b&q=2", "other")
	}
	q := explain.Request{
		Method:  d.of("GET", "GET", "HEAD", "POST", "PUT", "OPTIONS"),
		URL:     "http://" + d.of("shop.example", "Shop.Example.:80", "a.shop.example", "b.example", "other.test:1", "any.test") + path,
		Headers: map[string][]string{}, Listener: listener,
	}
	for _, field := range []struct {
		in          int
		name, value string
	}{
		{2, "X-Env", d.of("prod", "pre", "test", "none")},
		{4, "X-Gray-Tag", "v2"},
		{4, "X-Forwarded-For", "198.51.100.1"},
		{3, "Cookie", d.of("lane=red", "a=b; lane=\"blue\"")},
		{9, "Connection", "X-Env"},
		{20, "Max-Forwards", d.of("0", "1", "many")},
		{20, "Expect", "magic"},
	} {
		if d.one(field.in) {
			q.Headers[field.name] = []string{field.value}
		}
	}
	return q
}

// mirrored answers with what it got.
func mirrored(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Route", r.Header.Get("X-Route"))
	w.Header().Set("X-Path", strings.SplitN(r.RequestURI, "?", 2)[0])
	w.Header().Set("X-Host", r.Host)
}

// sent puts the request on the wire as its client would.
func (c *rawClient) sent(q explain.Request) *http.Response {
	host, target, _ := strings.Cut(strings.TrimPrefix(q.URL, "http://"), "/")
	text := q.Method + " /" + target + " HTTP/1.1\r\nHost: " + host + "\r\n"
	for name, values := range q.Headers {
		text += name + ": " + values[0] + "\r\n"
	}
	c.send(text + "\r\n")
	return c.response(q.Method)
}

// An explanation is worth nothing if traffic goes elsewhere.
func TestExplanationsAgreeWithTraffic(t *testing.T) {
	const generations, routes, requests = 4, 40, 150
	outcomes := make(map[string]int)
	for seed := range uint64(generations) {
		d := dice{rand.New(rand.NewPCG(seed, 7))}
		r := newRig(t, mirrored)
		sections := "services: [{name: origin, endpoints: [{address: \"ORIGIN\"}]}]\nroutes:\n"
		for i := range routes {
			sections += d.route(fmt.Sprint("r", i))
		}
		r.serve(strings.Replace(r.document(sections), `[{name: web, address: "127.0.0.1:0"}]`,
			`[{name: web, address: "127.0.0.1:0"}, {name: inner, address: "127.0.0.2:0", paths: {slashes: merge, dangerous: keep}, trusted_proxies: [127.0.0.0/8]}]`, 1))
		clients := map[string]*rawClient{"web": dialRaw(t, r.node.Addresses()[0]), "inner": dialRaw(t, r.node.Addresses()[1])}
		for range requests {
			q := d.question(d.of("web", "inner"))
			e, res := r.explain(q), clients[q.Listener].sent(q)
			agree(t, q, e, res)
			outcomes[fmt.Sprint(e.Outcome.Kind, " ", e.Outcome.Status)]++
		}
	}
	for _, kind := range []string{"forwarded 0", "answered 0", "answered 200", "refused 400", "refused 404", "refused 405", "refused 417"} {
		require.Positive(t, outcomes[kind], "no request was %s: %v", kind, outcomes)
	}
}

func agree(t *testing.T, q explain.Request, e *explain.Explanation, res *http.Response) {
	t.Helper()
	about := fmt.Sprintf("%+v\n%+v", q, e)
	require.Equal(t, e.Route, res.Header.Get("X-Route"), about)
	require.Equal(t, e.Outcome.Kind == explain.Forwarded, res.Header.Get("X-Path") != "", about)
	switch e.Outcome.Kind {
	case explain.Forwarded:
		require.Equal(t, e.Path.Forwarded, res.Header.Get("X-Path"), about)
		require.Equal(t, e.Host.Forwarded, res.Header.Get("X-Host"), about)
	case explain.Refused:
		require.Equal(t, e.Outcome.Status, res.StatusCode, about)
		require.Equal(t, e.Outcome.Allow, res.Header.Get("Allow"), about)
		var body struct{ Error, Message string }
		if q.Method != http.MethodHead {
			require.NoError(t, json.NewDecoder(res.Body).Decode(&body))
			require.Equal(t, e.Outcome.Reason, body.Error, about)
			require.Equal(t, e.Outcome.Message, body.Message, about)
		}
	default:
		require.Equal(t, 200, res.StatusCode, about)
	}
}
