package explain

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/codec/http1"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/pool"
	"github.com/corelane/corelane/route"
)

// answering is a filter that answers every request.
type answering struct{}

func (answering) Answers() bool { return true }

// passing is one that does not.
type passing struct{}

func chainOf(all ...any) *filters.Chain {
	var entries []*filters.Entry
	for _, f := range all {
		name := "passing"
		if _, ok := f.(answering); ok {
			name = "answering"
		}
		entries = append(entries, filters.NewEntry(name, f))
	}
	return filters.NewChain(entries)
}

// world is a generation with one service and the routes of a test.
func world(t testing.TB, routes map[string]*snapshot.Route, specs ...route.Spec) *snapshot.Snapshot {
	t.Helper()
	registry := pool.NewRegistry()
	e, err := registry.Endpoint("a", "127.0.0.1:1", "")
	require.NoError(t, err)
	p, err := pool.NewService(pool.ServiceConfig{
		Name: "a", State: registry.Service("a"), Members: []pool.Member{{Endpoint: e, Weight: 1}},
		Limits: pool.Limits{Wait: time.Second},
	})
	require.NoError(t, err)
	svc := &snapshot.Service{Name: "a", Pool: p, ConnectTimeout: 3 * time.Second}
	var changes []route.Change[*snapshot.Route]
	for i := range specs {
		r := routes[specs[i].ID]
		if r == nil {
			r = &snapshot.Route{Service: svc}
		}
		r.Info = filters.RouteInfo{ID: specs[i].ID}
		changes = append(changes, route.Change[*snapshot.Route]{Spec: &specs[i], Payload: r})
	}
	table, err := route.New[*snapshot.Route](1).Apply(changes)
	require.NoError(t, err)
	return &snapshot.Snapshot{
		Generation: 3, Routes: table,
		Listeners: map[string]*snapshot.Listener{"web": {Name: "web", RequestLine: 8 << 10, Headers: 64 << 10, HeaderCount: 200}},
	}
}

func ask(t testing.TB, s *snapshot.Snapshot, r Request) *Explanation {
	t.Helper()
	e, err := Explain(s, r, 1)
	require.NoError(t, err)
	return e
}

func TestQuestionsThatCannotBeUnderstood(t *testing.T) {
	s := world(t, nil)
	s.Listeners["db"] = &snapshot.Listener{Name: "db", Passage: snapshot.NewPassage(nil, nil)}
	for want, r := range map[string]Request{
		"listener: db passes connections through": {URL: "http://h/", Listener: "db"},
		`method: "G T" is not a method`:           {Method: "G T", URL: "http://h/"},
		"url: want http://host/path":              {URL: "ftp://h/"},
		"url: there is no host":                   {URL: "http:///a"},
		"url: user information":                   {URL: "http://user@h/"},
		"url: a fragment":                         {URL: "http://h/#a"},
		"url: white space":                        {URL: "http://h/a HTTP/1.1\r\nX: y"},
		`client: "me" is not an IP address`:       {URL: "http://h/", Client: "me"},
		`client: "fe80::1%a\nb" is not an IP`:     {URL: "http://h/", Client: "fe80::1%a\nb"},
		`headers: "X Y" is not a name`:            {URL: "http://h/", Headers: map[string][]string{"X Y": {"a"}}},
		"headers: the value of X-A has more than": {URL: "http://h/", Headers: map[string][]string{"X-A": {"a\r\nX-B: c"}}},
		`listener: there is no "x", only web`:     {URL: "http://h/", Listener: "x"},
	} {
		_, err := Explain(s, r, 1)
		require.ErrorContains(t, err, want)
	}
}

func TestTargetsAreSentAsClientsDo(t *testing.T) {
	s := world(t, nil)
	for _, tt := range []struct{ method, url, target, host string }{
		{"", "http://h", "/", "h"},
		{"GET", "HTTP://h?a=b", "/?a=b", "h"},
		{"OPTIONS", "https://h:8443", "*", "h:8443"},
		{"GET", "http://[::1]:80/a//b/%2e", "/a//b/%2e", "[::1]:80"},
	} {
		r := Request{Method: tt.method, URL: tt.url}
		p, err := r.parse(s)
		require.NoError(t, err, tt.url)
		require.Equal(t, tt.target, p.target)
		require.Equal(t, tt.host, p.host)
		_, err = p.decode()
		require.NoError(t, err, tt.url)
	}
}

func TestHostFieldGoesBeforeTheURL(t *testing.T) {
	s := world(t, nil, route.Spec{ID: "one", Hosts: []string{"one.test"}, Kind: route.Exact, Pattern: "/"})
	require.Equal(t, "one", ask(t, s, Request{URL: "http://one.test/"}).Route)
	e := ask(t, s, Request{URL: "http://127.0.0.1:80/", Headers: map[string][]string{"host": {"one.test"}}})
	require.Equal(t, "one", e.Route)
	require.Equal(t, "one.test", e.Host.Received)
	e = ask(t, s, Request{URL: "http://one.test/", Headers: map[string][]string{"Host": {"other.test"}}})
	require.False(t, e.Host.Known)
	require.Equal(t, 404, e.Outcome.Status)
}

func TestPredicatesShowWhatWasSeen(t *testing.T) {
	one := func(name string, values ...string) []route.Condition {
		return []route.Condition{{Name: name, Values: values}}
	}
	s := world(
		t, nil,
		route.Spec{ID: "header", Kind: route.Exact, Pattern: "/h", Headers: one("X-Env", "prod")},
		route.Spec{ID: "presence", Kind: route.Exact, Pattern: "/p", Headers: one("X-Env")},
		route.Spec{ID: "query", Kind: route.Exact, Pattern: "/q", Query: one("a b", "1")},
		route.Spec{ID: "cookie", Kind: route.Exact, Pattern: "/c", Cookies: one("lane", "blue")},
		route.Spec{ID: "authorization", Kind: route.Exact, Pattern: "/a", Headers: one("Authorization", "Basic hidden")},
		route.Spec{ID: "token", Kind: route.Exact, Pattern: "/t", Query: one("access_token", "hidden")},
		route.Spec{ID: "regex", Kind: route.Prefix, Pattern: "/r", Regex: "x$"},
	)
	long := strings.Repeat("l", 2*maxShown)
	for _, tt := range []struct {
		path, id string
		headers  map[string][]string
		want     Predicate
	}{
		{"/h", "header", map[string][]string{"x-env": {"pre", "test"}}, Predicate{"X-Env", []string{"prod"}, []string{"pre", "test"}}},
		{"/h", "header", map[string][]string{"X-Env": {long}}, Predicate{"X-Env", []string{"prod"}, []string{long[:maxShown]}}},
		{"/h", "header", map[string][]string{"Connection": {"X-Env"}, "X-Env": {"prod"}}, Predicate{"X-Env", []string{"prod"}, []string{}}},
		{"/p", "presence", nil, Predicate{"X-Env", []string{}, []string{}}},
		{"/q?a+b=x%21&a%20b=%zz&c", "query", nil, Predicate{"a b", []string{"1"}, []string{"x!", "%zz"}}},
		{"/c", "cookie", map[string][]string{"Cookie": {"lane=hidden"}}, Predicate{"lane", []string{}, []string{}}},
		{"/a", "authorization", map[string][]string{"Authorization": {"Basic hidden!"}}, Predicate{"Authorization", []string{redacted}, []string{redacted}}},
		{"/t?access_token=hidden!", "token", nil, Predicate{"access_token", []string{redacted}, []string{redacted}}},
		{"/r/./a", "regex", nil, Predicate{"", []string{"x$"}, []string{"/r/a"}}},
	} {
		e := ask(t, s, Request{URL: "http://h" + tt.path, Headers: tt.headers})
		require.Equal(t, []Candidate{{ID: tt.id, Verdict: e.Candidates[0].Verdict, Failed: &tt.want}}, e.Candidates)
		text, err := json.Marshal(e)
		require.NoError(t, err)
		require.NotContains(t, string(text), "hidden")
	}
}

func TestUserInformationOfAHostIsNotShown(t *testing.T) {
	e := ask(t, world(t, nil), Request{URL: "http://h/", Headers: map[string][]string{"Host": {"user:hidden@one.test"}}})
	require.Equal(t, 400, e.Outcome.Status)
	require.Equal(t, "(redacted)@one.test", e.Host.Received)
}

func TestNamesOfSecrets(t *testing.T) {
	for name, want := range map[string]bool{
		"Proxy-Authorization": true, "sig": true, "X-Amz-Signature": true, "X-Hub-Hmac": true, "otp": true, "X-Env": false,
	} {
		require.Equal(t, want, isSecret(name), name)
	}
}

// What was copied from an attacker's request must not steer a terminal.
func TestTextHasNoControlCharacters(t *testing.T) {
	s := world(t, nil, route.Spec{ID: "q", Kind: route.Exact, Pattern: "/", Query: []route.Condition{{Name: "a", Values: []string{"x"}}}})
	for _, r := range []Request{
		{URL: "http://h/", Headers: map[string][]string{"Host": {"h\x1b[2J"}}},
		{URL: "http://h/\u202e\u009b2J"},
		{URL: "http://h/?a=%1b[2J%0aroute"},
	} {
		var b strings.Builder
		require.NoError(t, ask(t, s, r).Write(&b))
		require.Equal(t, -1, strings.IndexFunc(b.String(), func(r rune) bool { return r != '\n' && !strconv.IsPrint(r) }), b.String())
	}
}

func TestFiltersTellTheirPlace(t *testing.T) {
	s := world(t, map[string]*snapshot.Route{
		"all": {
			Chain: chainOf(passing{}, passing{}, passing{}, answering{}, passing{}),
			Sets:  []snapshot.FilterSet{{Name: "first", Filters: 1}, {Name: "none"}, {Name: "second", Filters: 1}},
		},
		"dead": {},
	}, route.Spec{ID: "all", Kind: route.Exact, Pattern: "/"}, route.Spec{ID: "dead", Kind: route.Exact, Pattern: "/dead"})
	s.Listeners["web"].Chain = chainOf(passing{})
	e := ask(t, s, Request{URL: "http://h/"})
	require.Equal(t, []Filter{
		{Name: "passing", From: "listener web"},
		{Name: "passing", From: "set first"},
		{Name: "passing", From: "set second"},
		{Name: "passing", From: "route all"},
		{Name: "answering", From: "route all", Answers: true},
	}, e.Filters)
	require.Equal(t, Outcome{Kind: Answered, By: "answering of route all"}, e.Outcome)
	require.Nil(t, e.Service)

	// A compiled route without service and answer is refused, never forwarded.
	require.Equal(t, "no_endpoint", ask(t, s, Request{URL: "http://h/dead"}).Outcome.Reason)

	s.Listeners["web"].Chain = chainOf(answering{}, passing{})
	e = ask(t, s, Request{URL: "http://h/"})
	require.Len(t, e.Filters, 1)
	require.Empty(t, e.Route, "the route is not looked up")
}

func TestSettingsOfTheService(t *testing.T) {
	s := world(t, nil, route.Spec{ID: "r", Kind: route.Exact, Pattern: "/"})
	_, r, _ := s.Routes.Get("r")
	s.Listeners["web"].TunnelIdle = time.Hour
	r.Timeouts = snapshot.Timeouts{FirstByte: time.Second, Total: 1500 * time.Microsecond, TunnelIdle: snapshot.Inherit}
	r.Retries = snapshot.Retries{Attempts: 2, Reset: true, Statuses: snapshot.StatusSet(0).With(503), Budget: 20, Hedge: 50 * time.Millisecond}
	e := ask(t, s, Request{URL: "http://h/"})
	require.Equal(t, Timeouts{Connect: 3000, PoolWait: 1000, FirstByte: 1000, Total: 1.5, TunnelIdle: 3600_000}, e.Service.Timeouts)
	require.Equal(t, Retries{Attempts: 2, On: []string{"reset", "503"}, Budget: 20, Hedge: 50}, e.Service.Retries)
	require.Equal(t, "127.0.0.1:1", e.Service.Chosen)
	r.Timeouts = snapshot.Timeouts{TunnelIdle: time.Minute}
	require.Equal(t, 60_000.0, ask(t, s, Request{URL: "http://h/"}).Service.Timeouts.TunnelIdle)
}

func TestClientsOnUnixSockets(t *testing.T) {
	s := world(t, nil, route.Spec{ID: "r", Kind: route.Exact, Pattern: "/", Headers: []route.Condition{{Name: "X-Gray-Tag"}}})
	r := Request{URL: "http://h/", Client: "unix", Headers: map[string][]string{"X-Gray-Tag": {"v2"}}}
	e := ask(t, s, r)
	require.Equal(t, "unix", e.Client)
	require.Empty(t, e.Route)
	s.Listeners["web"].TrustUnix = true
	require.Equal(t, "r", ask(t, s, r).Route)
	r.Headers["X-Forwarded-For"] = []string{"198.51.100.4"}
	require.Equal(t, "198.51.100.4", ask(t, s, r).Client)
}

func TestSettingsInWords(t *testing.T) {
	for want, r := range map[string]Retries{
		"none":                          {On: []string{"reset"}},
		"1 extra try on reset":          {Attempts: 1, On: []string{"reset"}},
		"2 extra tries on connect, 503": {Attempts: 2, On: []string{"connect", "503"}},
		"1 extra try; one beside the first after 50ms": {Attempts: 1, Hedge: 50},
	} {
		if want != "none" {
			want += "; budget 0 %"
		}
		require.Equal(t, want, r.summary())
	}
	require.Equal(t, "none", new(Timeouts).summary())
	require.Equal(t, "connect 1.5s, total 2m0s", (&Timeouts{Connect: 1500, Total: 120_000}).summary())
	for want, e := range map[string]Endpoint{
		"weight 3, score 0.75":                            {Usable: true, Weight: 3, Score: 0.75},
		"weight 3, tier 1, score 0.1, although unhealthy": {Usable: true, Weight: 3, Tier: 1, Score: 0.1, Why: "unhealthy"},
		"ejected": {Why: "ejected", Weight: 3},
	} {
		require.Equal(t, want, e.summary())
	}
}

// FuzzExplain asks anything: no question breaks the explanation, and none is
// sent as more than one request.
func FuzzExplain(f *testing.F) {
	s := world(f, nil, route.Spec{ID: "all", Kind: route.Prefix, Pattern: "/", Headers: []route.Condition{{Name: "X", Values: []string{"a"}}}})
	f.Add("GET", "http://h/a?b=c", "X", "a")
	f.Add("OPTIONS", "http://h", "Max-Forwards", "0")
	f.Add("GET\r\n", "http://h/ HTTP/1.1\r\n\r\n", "X: y\r\nZ", "a\r\n\r\nGET / HTTP/1.1")
	f.Fuzz(func(t *testing.T, method, url, name, value string) {
		r := Request{Method: method, URL: url, Headers: map[string][]string{name: {value}}}
		p, err := r.parse(s)
		if err != nil {
			return
		}
		var d http1.Decoder
		if n, done, err := d.Request(new(codec.Head), p.text, nil); err == nil {
			require.True(t, done)
			require.Len(t, p.text, n)
		}
		e := ask(t, s, r)
		require.Contains(t, []string{Forwarded, Answered, Refused}, e.Outcome.Kind)
		var b strings.Builder
		require.NoError(t, e.Write(&b))
		require.NotEmpty(t, b.String())
	})
}
