package route

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSpecsThatAreValid(t *testing.T) {
	specs := map[string]Spec{
		"root":            {Kind: Exact, Pattern: "/"},
		"escapes kept":    {Kind: Exact, Pattern: "/a%20b/%E4"},
		"two slashes":     {Kind: Prefix, Pattern: "/a//b/"},
		"template":        {Kind: Template, Pattern: "/users/{id}/files/{file_name-2}"},
		"plain template":  {Kind: Template, Pattern: "/users"},
		"prefix root":     {Kind: Prefix, Pattern: "/"},
		"hosts":           {Pattern: "/", Hosts: []string{"a.example.com", "*.example.com", "localhost", "10.0.0.1", "[::1]", "a_b"}},
		"methods":         {Pattern: "/", Methods: []string{"GET", "PURGE", "m-search"}},
		"conditions":      {Pattern: "/", Headers: []Condition{{Name: "X-Env"}}, Query: []Condition{{Name: "a b"}}, Cookies: []Condition{{Name: "uid"}}},
		"regex":           {Pattern: "/", Regex: `^/a/\d+$`},
		"longest pattern": {Pattern: "/" + strings.Repeat("a", MaxPattern-1)},
	}
	for name, spec := range specs {
		t.Run(name, func(t *testing.T) {
			spec.ID = "r"
			assert.NoError(t, spec.Validate())
		})
	}
}

func TestSpecErrorsNameWhatIsWrong(t *testing.T) {
	pattern := func(kind Kind, p string) Spec { return Spec{ID: "r", Kind: kind, Pattern: p} }
	host := func(h ...string) Spec { return Spec{ID: "r", Pattern: "/", Hosts: h} }
	long := strings.Repeat("x", 64)
	cases := []struct {
		spec Spec
		want string
	}{
		{Spec{Pattern: "/"}, "id is empty"},
		{pattern(9, "/"), "unknown kind of pattern 9"},
		{pattern(Exact, ""), "pattern is empty"},
		{pattern(Exact, "a"), `pattern "a" does not start with /`},
		{pattern(Exact, "/"+strings.Repeat("a", MaxPattern)), "is longer than 4096"},
		{pattern(Exact, "/a b"), "' ' cannot stand in a path"},
		{pattern(Exact, "/a?b=c"), "'?' cannot stand in a path"},
		{pattern(Exact, "/a#b"), "'#' cannot stand in a path"},
		{pattern(Exact, "/a/../b"), `is not normalised: write "/b"`},
		{pattern(Exact, "/%41"), `is not normalised: write "/A"`},
		{pattern(Exact, "/../b"), "is not an unambiguous path"},
		{pattern(Exact, `/a\b`), "is not an unambiguous path"},
		{pattern(Exact, "/a/{id}"), "{name} belongs in a template, not in exact"},
		{pattern(Prefix, "/a/{id}"), "{name} belongs in a template, not in prefix"},
		{pattern(Prefix, strings.Repeat("/a", MaxSegments+1)), "more than 64 segments"},
		{pattern(Template, "/a/x{id}"), `segment "x{id}" is not a whole {name}`},
		{pattern(Template, "/a/{}"), `segment "{}" is not a whole {name}`},
		{pattern(Template, "/a/{1}"), "is not a whole {name}"},
		{pattern(Template, "/a/}"), "is not a whole {name}"},
		{pattern(Template, "/{a}/{a}"), "{a} stands twice"},
		{pattern(Template, manyNames(MaxParams+1)), "more than 16 names"},
		{host("A.example.com"), "must be in lower case"},
		{host("example.com:80"), "must not have a port"},
		{host("a.*.com"), "* may only stand first"},
		{host("*"), "leave hosts out for any host"},
		{host(""), "must have 1 to 253 bytes"},
		{host("a..b"), "labels must have 1 to 63 bytes"},
		{host(long + ".com"), "labels must have 1 to 63 bytes"},
		{host("exa mple"), "' ' cannot stand in a host name"},
		{host("[::g]"), "is not an IPv6 address"},
		{host("[::1"), "is not an IPv6 address"},
		{host("[]"), "is not an IPv6 address"},
		{host("[::A]"), "must be in lower case"},
		{host("a", "a"), `host "a" stands twice`},
		{host(make([]string, MaxHosts+1)...), "1025 hosts are more than 1024"},
		{Spec{ID: "r", Pattern: "/", Methods: []string{"get"}}, `method "get": methods have case, write GET`},
		{Spec{ID: "r", Pattern: "/", Methods: []string{"A B"}}, `method "A B" is not a token`},
		{Spec{ID: "r", Pattern: "/", Methods: []string{""}}, `method "" is not a token`},
		{Spec{ID: "r", Pattern: "/", Methods: make([]string, MaxMethods+1)}, "33 methods are more than 32"},
		{Spec{ID: "r", Pattern: "/", Headers: []Condition{{Name: "a:"}}}, `header condition: name "a:"`},
		{Spec{ID: "r", Pattern: "/", Query: []Condition{{}}}, "query condition: name is empty"},
		{Spec{ID: "r", Pattern: "/", Cookies: []Condition{{Name: "a b"}}}, `cookie condition: name "a b"`},
		{Spec{ID: "r", Pattern: "/", Query: make([]Condition, MaxConditions+1)}, "33 conditions are more than 32"},
		{Spec{ID: "r", Pattern: "/", Regex: "("}, `regex "("`},
		{Spec{ID: "r", Pattern: "/", Regex: strings.Repeat("a", MaxRegex+1)}, "is longer than 1024"},
	}
	for _, c := range cases {
		assert.ErrorContains(t, c.spec.Validate(), c.want)
	}
}

func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("/{n" + strconv.Itoa(i) + "}")
	}
	return b.String()
}

func TestNamesOfEnums(t *testing.T) {
	assert.Equal(t, []string{"exact", "template", "prefix", "unknown"},
		[]string{Exact.String(), Template.String(), Prefix.String(), Kind(3).String()})
	assert.Equal(t, []string{"route_not_found", "method_not_allowed", "found", "unknown"},
		[]string{NotFound.String(), MethodNotAllowed.String(), Found.String(), Outcome(3).String()})
	assert.Equal(t, "matched", Matched.String())
	assert.Equal(t, "outranked", Outranked.String())
	assert.Equal(t, "unknown", Verdict(99).String())
}

func TestApplyNamesEveryBadChange(t *testing.T) {
	table := New[int](1)
	next, err := table.Apply([]Change[int]{
		{Spec: &Spec{ID: "good", Pattern: "/"}},
		{Spec: &Spec{ID: "bad-pattern", Pattern: "x"}},
		{Spec: &Spec{ID: "bad-regex", Pattern: "/", Regex: "["}},
		{Spec: &Spec{ID: "one", Pattern: "/"}, ID: "two"},
		{},
	})
	assert.Nil(t, next)
	for _, want := range []string{`route "bad-pattern": pattern`, `route "bad-regex": regex`, `route "two": spec has the id "one"`, "change 4 has neither"} {
		assert.ErrorContains(t, err, want)
	}
	assert.Zero(t, table.Len())

	next, err = table.Apply([]Change[int]{{ID: "not there"}})
	require.NoError(t, err)
	assert.Zero(t, next.Len())
}
