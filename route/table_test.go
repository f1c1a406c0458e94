package route

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// attributes is a request's attributes in tests: name to value.
type attributes struct{ headers, query, cookies map[string]string }

func (a *attributes) HasHeader(name string, values []string) bool {
	return has(a.headers, name, values)
}

func (a *attributes) HasQuery(name string, values []string) bool { return has(a.query, name, values) }

func (a *attributes) HasCookie(name string, values []string) bool {
	return has(a.cookies, name, values)
}

func has(in map[string]string, name string, values []string) bool {
	value, ok := in[name]
	return ok && (len(values) == 0 || slices.Contains(values, value))
}

// build makes a table in which every payload is the route's ID.
func build(t testing.TB, specs ...Spec) *Table[string] {
	t.Helper()
	changes := make([]Change[string], len(specs))
	for i := range specs {
		changes[i] = Change[string]{Spec: &specs[i], Payload: specs[i].ID}
	}
	table, err := New[string](42).Apply(changes)
	require.NoError(t, err)
	return table
}

// get looks up "METHOD host/path" and returns the payload, or the outcome.
func get(table *Table[string], line string, a Attributes) (string, *Match[string]) {
	method, target, _ := strings.Cut(line, " ")
	slash := strings.IndexByte(target, '/')
	m := &Match[string]{}
	r := Request{Host: []byte(target[:slash]), Method: []byte(method), Path: []byte(target[slash:]), Attributes: a}
	table.Lookup(&r, m, nil)
	if m.Outcome == Found {
		return m.Payload, m
	}
	return m.Outcome.String(), m
}

func TestThePathDecides(t *testing.T) {
	table := build(t,
		Spec{ID: "exact", Kind: Exact, Pattern: "/users/me"},
		Spec{ID: "exact-slash", Kind: Exact, Pattern: "/users/me/"},
		Spec{ID: "user", Kind: Template, Pattern: "/users/{id}"},
		Spec{ID: "user-files", Kind: Template, Pattern: "/users/{id}/files"},
		Spec{ID: "all-files", Kind: Template, Pattern: "/users/all/{what}"},
		Spec{ID: "user-slash", Kind: Template, Pattern: "/users/{id}/"},
		Spec{ID: "users", Kind: Prefix, Pattern: "/users"},
		Spec{ID: "api", Kind: Prefix, Pattern: "/api"},
		Spec{ID: "api-v1", Kind: Prefix, Pattern: "/api/v1/"},
		Spec{ID: "both", Kind: Prefix, Pattern: "/both"},
		Spec{ID: "both-slash", Kind: Prefix, Pattern: "/both/"},
		Spec{ID: "double", Kind: Prefix, Pattern: "/double//x"},
		Spec{ID: "deep", Kind: Template, Pattern: "/deep/{a}/b/{c}"},
		Spec{ID: "deep-x", Kind: Template, Pattern: "/deep/x/{b}/c/d"},
	)
	cases := map[string]string{
		"/users/me":           "exact",
		"/users/me/":          "exact-slash",
		"/users/7":            "user",
		"/users/7/":           "user-slash",
		"/users/7/files":      "user-files",
		"/users/all/files":    "all-files",
		"/users/all":          "user",
		"/users/all/":         "user-slash",
		"/users/all/x/y":      "users",
		"/users/7/other":      "users",
		"/users/":             "users",
		"/users":              "users",
		"/usersx":             "route_not_found",
		"/api":                "api",
		"/api/":               "api",
		"/api/x/y":            "api",
		"/apix":               "route_not_found",
		"/api/v1":             "api",
		"/api/v1/":            "api-v1",
		"/api/v1/x":           "api-v1",
		"/both":               "both",
		"/both/":              "both-slash",
		"/both/x":             "both-slash",
		"/double/x":           "route_not_found",
		"/double//x":          "double",
		"/double//x/y":        "double",
		"/deep/1/b/2":         "deep",
		"/deep/x/b/2":         "deep",
		"/deep/x/b/c/d":       "deep-x",
		"/deep/x//c/d":        "route_not_found",
		"/":                   "route_not_found",
		"/API":                "route_not_found",
		"/users/%2F":          "user",
		"/nowhere/to/be/seen": "route_not_found",
	}
	for path, want := range cases {
		got, _ := get(table, "GET any.host"+path, nil)
		assert.Equal(t, want, got, path)
	}
}

func TestThePrefixOfTheRootCoversEverything(t *testing.T) {
	table := build(t, Spec{ID: "root", Kind: Prefix, Pattern: "/"})
	for _, path := range []string{"/", "/a", "//", "/a/b/"} {
		got, _ := get(table, "GET h"+path, nil)
		assert.Equal(t, "root", got, path)
	}
	var m Match[string]
	for _, path := range []string{"", "*", "a"} {
		table.Lookup(&Request{Path: []byte(path)}, &m, nil)
		assert.Equal(t, NotFound, m.Outcome, path)
	}
}

func TestTheHostDecidesFirst(t *testing.T) {
	at := func(id, pattern string, hosts ...string) Spec {
		return Spec{ID: id, Pattern: pattern, Hosts: hosts}
	}
	table := build(t,
		at("any", "/"), at("any-only", "/any"),
		at("wide", "/", "*.example.com"), at("wide-only", "/wide", "*.example.com"),
		at("narrow", "/", "*.b.example.com"),
		at("exact", "/", "a.b.example.com", "other.org"),
		Spec{ID: "off", Pattern: "/off", Hosts: []string{"off.example.com"}, Disabled: true},
	)
	cases := map[string]string{
		"unknown.org/":         "any",
		"/":                    "any",
		"example.com/":         "any",
		"x.example.com/":       "wide",
		"x.y.example.com/":     "wide",
		".example.com/":        "any",
		"xexample.com/":        "any",
		"b.example.com/":       "wide",
		"c.b.example.com/":     "narrow",
		"d.c.b.example.com/":   "narrow",
		"a.b.example.com/":     "exact",
		"z.a.b.example.com/":   "narrow",
		"other.org/":           "exact",
		"unknown.org/any":      "any-only",
		"x.example.com/any":    "route_not_found",
		"x.example.com/wide":   "wide-only",
		"c.b.example.com/wide": "route_not_found",
		"a.b.example.com/any":  "route_not_found",
		"off.example.com/":     "route_not_found",
		"off.example.com/off":  "route_not_found",
	}
	for target, want := range cases {
		got, _ := get(table, "GET "+target, nil)
		assert.Equal(t, want, got, target)
	}
	got, _ := get(table, "GET "+strings.Repeat("a.", MaxHost)+"example.com/", nil)
	assert.Equal(t, "any", got, "too long to be registered")
}

func TestAHostIsGoneWithItsLastRoute(t *testing.T) {
	table := build(t, Spec{ID: "any", Pattern: "/"}, Spec{ID: "a", Pattern: "/a", Hosts: []string{"h"}}, Spec{ID: "b", Pattern: "/b", Hosts: []string{"h"}})
	for _, step := range []struct{ drop, want string }{{"a", "route_not_found"}, {"b", "any"}} {
		next, err := table.Apply([]Change[string]{{ID: step.drop}})
		require.NoError(t, err)
		got, _ := get(next, "GET h/", nil)
		assert.Equal(t, step.want, got)
		table = next
	}
}

func TestRankOfCandidates(t *testing.T) {
	env := []Condition{{Name: "X-Env", Values: []string{"prod", "pre"}}}
	table := build(t,
		Spec{ID: "plain-b", Pattern: "/"},
		Spec{ID: "plain-a", Pattern: "/"},
		Spec{ID: "env", Pattern: "/", Headers: env},
		Spec{ID: "env-get", Pattern: "/", Headers: env, Methods: []string{"GET"}},
		Spec{ID: "top", Pattern: "/", Priority: 1, Query: []Condition{{Name: "top"}}},
		Spec{ID: "off", Pattern: "/", Priority: 2, Disabled: true},
		Spec{ID: "low", Pattern: "/", Priority: -1, Cookies: []Condition{{Name: "c"}}, Regex: "/"},
	)
	env1 := &attributes{headers: map[string]string{"X-Env": "pre"}}
	cases := []struct {
		method string
		a      *attributes
		want   string
	}{
		{"GET", &attributes{}, "plain-a"},
		{"GET", env1, "env-get"},
		{"POST", env1, "env"},
		{"GET", &attributes{headers: map[string]string{"X-Env": "dev"}}, "plain-a"},
		{"GET", &attributes{query: map[string]string{"top": ""}, headers: env1.headers}, "top"},
		{"GET", &attributes{cookies: map[string]string{"c": ""}}, "plain-a"},
	}
	for _, c := range cases {
		got, _ := get(table, c.method+" h/", c.a)
		assert.Equal(t, c.want, got)
	}
}

func TestFailedCandidatesNeverFallToAWiderPath(t *testing.T) {
	table := build(t,
		Spec{ID: "exact", Pattern: "/a/b", Methods: []string{"POST"}},
		Spec{ID: "template", Kind: Template, Pattern: "/a/{x}", Headers: []Condition{{Name: "H"}}},
		Spec{ID: "prefix", Kind: Prefix, Pattern: "/a"},
		Spec{ID: "off", Kind: Exact, Pattern: "/a/off", Disabled: true, Methods: []string{"POST"}},
		Spec{ID: "number", Kind: Template, Pattern: "/n/{x}", Regex: `^/n/\d+$`},
	)
	cases := map[string]string{
		"GET h/a/b":    "method_not_allowed",
		"POST h/a/b":   "exact",
		"GET h/a/c":    "route_not_found",
		"GET h/a/c/d":  "prefix",
		"GET h/a/off":  "route_not_found",
		"POST h/a/off": "route_not_found",
		"GET h/n/12":   "number",
		"GET h/n/x":    "route_not_found",
	}
	for line, want := range cases {
		got, _ := get(table, line, nil)
		assert.Equal(t, want, got, line)
	}
}

func TestLenGetAndAll(t *testing.T) {
	table := build(t, Spec{ID: "a", Pattern: "/a"}, Spec{ID: "b", Kind: Prefix, Pattern: "/b"}, Spec{ID: "b", Pattern: "/c"})
	assert.Equal(t, 2, table.Len())
	spec, payload, ok := table.Get("b")
	assert.True(t, ok)
	assert.Equal(t, "/c", spec.Pattern)
	assert.Equal(t, "b", payload)
	_, _, ok = table.Get("c")
	assert.False(t, ok)

	var ids []string
	for spec, payload := range table.All() {
		assert.Equal(t, spec.ID, payload)
		ids = append(ids, payload)
	}
	assert.ElementsMatch(t, []string{"a", "b"}, ids)
	for range table.All() {
		break
	}
	for range New[int](0).All() {
		t.Fatal("an empty table has no routes")
	}
}

func TestAnEmptyTableHasNoHost(t *testing.T) {
	_, m := get(New[string](0), "GET h/", nil)
	_, ok := m.Host()
	assert.False(t, ok)
	assert.Empty(t, m.Pattern())
}
