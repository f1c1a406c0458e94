package route

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParams(t *testing.T) {
	table := build(t,
		Spec{ID: "two", Kind: Template, Pattern: "/shops/{shop}/items/{item}"},
		Spec{ID: "same place", Kind: Template, Pattern: "/shops/{s}/items/{i}", Priority: 1, Methods: []string{"POST"}},
		Spec{ID: "dead end", Kind: Template, Pattern: "/shops/{x}/{y}/{z}/{more}"},
		Spec{ID: "prefix", Kind: Prefix, Pattern: "/shops"},
	)
	path := []byte("/shops/7/items/a%2Fb")
	got, m := get(table, "GET h"+string(path), nil)
	require.Equal(t, "two", got)
	assert.Equal(t, 2, m.ParamCount())
	assert.Equal(t, "7", string(m.Param(path, "shop")))
	assert.Equal(t, "a%2Fb", string(m.Param(path, "item")))
	assert.Nil(t, m.Param(path, "s"))
	name, value := m.ParamAt(path, 1)
	assert.Equal(t, "item a%2Fb", name+" "+string(value))

	got, m = get(table, "POST h"+string(path), nil)
	require.Equal(t, "same place", got)
	assert.Equal(t, "a%2Fb", string(m.Param(path, "i")))

	got, m = get(table, "GET h/shops/7/8/9", nil)
	require.Equal(t, "prefix", got)
	assert.Zero(t, m.ParamCount())
	assert.Nil(t, m.Param([]byte("/shops/7/8/9"), "x"))
}

func TestAMatchCanHoldTheLongestTemplate(t *testing.T) {
	table := build(t, Spec{ID: "r", Kind: Template, Pattern: manyNames(MaxParams)})
	path := []byte("/0/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f")
	got, m := get(table, "GET h"+string(path), nil)
	require.Equal(t, "r", got)
	assert.Equal(t, "f", string(m.Param(path, "n15")))
}

func TestAllow(t *testing.T) {
	table := build(t,
		Spec{ID: "1", Pattern: "/a", Methods: []string{"POST", "HEAD", "GET"}},
		Spec{ID: "2", Pattern: "/a", Methods: []string{"GET", "PURGE", "ACL"}},
		Spec{ID: "3", Pattern: "/a", Methods: []string{"DELETE"}, Headers: []Condition{{Name: "Admin"}}},
		Spec{ID: "4", Pattern: "/a", Methods: []string{"PUT"}, Disabled: true},
		Spec{ID: "5", Pattern: "/b", Methods: []string{"DELETE"}, Headers: []Condition{{Name: "Admin"}}},
	)
	var m Match[string]
	allow := func(method, path string, a Attributes) (Outcome, string) {
		table.Lookup(&Request{Method: []byte(method), Path: []byte(path), Attributes: a}, &m, nil)
		return m.Outcome, string(m.Allow([]byte("Allow: ")))
	}
	admin := &attributes{headers: map[string]string{"Admin": ""}}
	cases := []struct {
		method, path string
		a            Attributes
		outcome      Outcome
		allow        string
	}{
		{"PATCH", "/a", nil, MethodNotAllowed, "Allow: ACL, GET, HEAD, POST, PURGE"},
		{"PATCH", "/a", admin, MethodNotAllowed, "Allow: ACL, DELETE, GET, HEAD, POST, PURGE"},
		{"BREW", "/a", nil, MethodNotAllowed, "Allow: ACL, GET, HEAD, POST, PURGE"},
		{"GET", "/b", nil, NotFound, "Allow: "},
		{"GET", "/b", admin, MethodNotAllowed, "Allow: DELETE"},
		{"PURGE", "/a", nil, Found, "Allow: "},
		{"get", "/a", nil, MethodNotAllowed, "Allow: ACL, GET, HEAD, POST, PURGE"},
	}
	for _, c := range cases {
		outcome, got := allow(c.method, c.path, c.a)
		assert.Equal(t, c.outcome, outcome, "%s %s", c.method, c.path)
		assert.Equal(t, c.allow, got, "%s %s", c.method, c.path)
	}
}

func TestEveryStandardMethodIsKnown(t *testing.T) {
	all := makeMethodSet(standardMethods[:])
	assert.Empty(t, all.others)
	assert.Equal(t, "CONNECT, DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT, TRACE", string(all.appendSorted(nil)))
	for i, method := range standardMethods {
		assert.Equal(t, uint16(1)<<i, methodBit([]byte(method)), method)
	}
	others := makeMethodSet([]string{"Z", "A", "Z"})
	assert.Equal(t, "A, Z", string(others.appendSorted(nil)))
}

// transcript records what a lookup reports.
type transcript []string

func (r *transcript) Candidate(spec *Spec, why Verdict, condition string) {
	*r = append(*r, spec.ID+" "+why.String()+" "+condition)
}

func TestExplain(t *testing.T) {
	table := build(t,
		Spec{ID: "off", Pattern: "/a", Priority: 9, Disabled: true},
		Spec{ID: "post", Pattern: "/a", Priority: 8, Methods: []string{"POST"}},
		Spec{ID: "header", Pattern: "/a", Priority: 7, Headers: []Condition{{Name: "Yes"}, {Name: "No"}}},
		Spec{ID: "query", Pattern: "/a", Priority: 6, Query: []Condition{{Name: "q"}}},
		Spec{ID: "cookie", Pattern: "/a", Priority: 5, Cookies: []Condition{{Name: "c"}}},
		Spec{ID: "regex", Pattern: "/a", Priority: 4, Regex: "b"},
		Spec{ID: "hit", Pattern: "/a", Priority: 3},
		Spec{ID: "late", Pattern: "/a"},
		Spec{ID: "wider", Kind: Prefix, Pattern: "/"},
	)
	request := Request{Method: []byte("GET"), Path: []byte("/a"), Attributes: &attributes{headers: map[string]string{"Yes": ""}}}
	var got transcript
	var m Match[string]
	table.Lookup(&request, &m, &got)
	assert.Equal(t, "hit", m.Payload)
	assert.Equal(t, transcript{
		"off disabled ", "post method ", "header header No", "query query q", "cookie cookie c",
		"regex regex b", "hit matched ", "late outranked ",
	}, got)
}

func TestAMatchTellsWhereItLooked(t *testing.T) {
	table := build(t,
		Spec{ID: "r", Kind: Template, Pattern: "/a/{id}", Hosts: []string{"*.example.com"}, Disabled: true},
		Spec{ID: "any", Pattern: "/"},
	)
	cases := []struct{ target, host, pattern string }{
		{"x.example.com/a/1", "*.example.com", "/a/{id}"},
		{"x.example.com/b", "*.example.com", ""},
		{"other/", "", "/"},
	}
	for _, c := range cases {
		_, m := get(table, "GET "+c.target, nil)
		host, ok := m.Host()
		assert.True(t, ok)
		assert.Equal(t, c.host, host)
		assert.Equal(t, c.pattern, m.Pattern())
	}
}

func TestAReusedMatchKeepsNothing(t *testing.T) {
	table := build(t,
		Spec{ID: "r", Kind: Template, Pattern: "/a/{id}"},
		Spec{ID: "post", Pattern: "/post", Methods: []string{"POST", "PURGE"}},
	)
	var m Match[string]
	for _, path := range []string{"/a/1", "/post", "/none"} {
		table.Lookup(&Request{Method: []byte("GET"), Path: []byte(path)}, &m, nil)
	}
	assert.Equal(t, NotFound, m.Outcome)
	assert.Empty(t, m.Payload)
	assert.Nil(t, m.Spec)
	assert.Zero(t, m.ParamCount())
	assert.Empty(t, m.Pattern())
	assert.Empty(t, m.Allow(nil))
}
