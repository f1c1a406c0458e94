package config

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
	"github.com/corelane/corelane/route"
)

// reviewed returns the warnings of a document as lines.
func reviewed(t *testing.T, text string) []string {
	t.Helper()
	d := newDraft([]File{{Name: "f.yaml", Text: []byte(text)}}, nil)
	doc, err := d.parse()
	require.NoError(t, err)
	s, _, err := NewCompiler(pool.NewRegistry()).Compile(doc, nil)
	require.NoError(t, err)
	lines := []string{}
	for _, one := range d.located(d.review(s.Routes)) {
		lines = append(lines, one.String())
	}
	return lines
}

// reviewHead takes two lines.
const reviewHead = "listeners: [{name: web, address: 127.0.0.1:8080}]\n" +
	"services: [{name: a, endpoints: [{address: 127.0.0.1:9000}]}]\n"

func TestReviewOfRoutes(t *testing.T) {
	const behind = " has the same path, is tried before it and takes all that it would"
	tests := []struct {
		name   string
		routes []string // each on a line of its own, from line 4 on
		want   []string
	}{
		{"different paths", []string{"id: x, match: {path: /x}", "id: y, match: {path: /y}"}, nil},
		{"the same path and predicates", []string{"id: y, match: {path: /x}", "id: x, match: {path: /x}"}, []string{`4:23 routes[0].match: no request reaches the route: route "x" (f.yaml, line 5)` + behind}},
		{"a narrower one first", []string{"id: x, match: {path: /x, methods: [GET]}", "id: y, match: {path: /x}"}, nil},
		{"a wider one first", []string{"id: x, match: {path: /x, methods: [GET]}", "id: y, priority: 1, match: {path: /x}"}, []string{`4:23 routes[0].match: no request reaches the route: route "y" (f.yaml, line 5)` + behind}},
		{"another header", []string{"id: x, match: {path: /x, headers: {E: [a]}}", "id: y, priority: 1, match: {path: /x, headers: {E: [b]}}"}, nil},
		{"more values first", []string{"id: x, match: {path: /x, headers: {E: [a]}}", "id: y, priority: 1, match: {path: /x, headers: {e: [a, b]}}"}, []string{`4:23 routes[0].match: no request reaches the route: route "y" (f.yaml, line 5)` + behind}},
		{"templates whose names differ", []string{"id: x, match: {template: '/u/{id}'}", "id: y, match: {template: '/u/{name}'}"}, []string{`5:23 routes[1].match: no request reaches the route: route "x" (f.yaml, line 4)` + behind}},
		{"a template that is an exact path", []string{"id: x, match: {template: /u}", "id: y, match: {path: /u}"}, []string{`4:23 routes[0].match: no request reaches the route: route "y" (f.yaml, line 5)` + behind}},
		{"a prefix and an exact path", []string{"id: x, match: {prefix: /u}", "id: y, match: {path: /u}"}, nil},
		{"one host of two", []string{"id: x, match: {path: /x, hosts: [a.com, b.com]}", "id: y, priority: 1, match: {path: /x, hosts: [a.com]}"}, []string{`4:23 routes[0].match: no request for a.com reaches the route: route "y" (f.yaml, line 5)` + behind}},
		{"a disabled one before", []string{"id: x, match: {path: /x}", "id: y, priority: 1, status: disabled, match: {path: /x}"}, []string{`5:44 routes[1].status: the route is disabled, but route "x" (f.yaml, line 4) has the same path and takes requests`}},
		{"a disabled one for other requests", []string{"id: x, match: {path: /x, methods: [GET]}", "id: y, status: disabled, match: {path: /x, methods: [PUT]}"}, nil},
		{"a disabled one alone", []string{"id: x, match: {path: /x}", "id: y, status: disabled, match: {path: /y}"}, nil},
		{
			"a host that is taken from its wildcard",
			[]string{"id: x, match: {prefix: /api, hosts: ['*.a.com']}", "id: y, match: {prefix: /other, hosts: ['*.a.com']}", "id: z, match: {path: /z, hosts: [www.a.com]}"},
			[]string{`4:52 routes[0].match.hosts: requests for www.a.com do not fall through to *.a.com: other routes name that host, and none of them covers /api; so it is with the prefixes of 1 other route of *.a.com`},
		},
		{"a wildcard below a wildcard", []string{"id: x, match: {prefix: /api, hosts: ['*.com']}", "id: z, match: {path: /z, hosts: ['*.a.com']}"}, []string{`4:52 routes[0].match.hosts: requests for *.a.com do not fall through to *.com: other routes name that host, and none of them covers /api`}},
		{"a host that covers it by a wider prefix", []string{"id: x, match: {prefix: /api, hosts: ['*.a.com']}", "id: z, match: {prefix: /, hosts: [www.a.com]}"}, nil},
		{"another domain", []string{"id: x, match: {prefix: /api, hosts: ['*.a.com']}", "id: z, match: {path: /z, hosts: [www.b.com, a.com]}"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := reviewHead + "routes:\n"
			for _, one := range tt.routes {
				text += "- {service: a, " + one + "}\n"
			}
			checkReview(t, text, tt.want)
		})
	}
}

// checkReview compares warnings with the beginnings of those that are wanted.
func checkReview(t *testing.T, text string, want []string) {
	t.Helper()
	got := reviewed(t, text)
	require.Len(t, got, len(want), strings.Join(got, "\n"))
	for i, line := range got {
		place, message, _ := strings.Cut(want[i], " ")
		whole := "f.yaml:" + place + ": " + message
		assert.Equal(t, whole, line[:min(len(line), len(whole))])
	}
}

func TestReviewOfServicesAndFilters(t *testing.T) {
	const answers = " before it answers every request: "
	tests := []struct {
		name, text string
		want       []string
	}{
		{"a service without routes", "services: [{name: b}]\n", []string{`4:19 services[0].name: no route uses the service "b"`}},
		{"a service of a filter", "services: [{name: b, endpoints: [{address: 127.0.0.1:1}]}]\nfilter_sets: {s: [{stamp: {service: b}}]}\n", nil},
		{"a service without endpoints", "services: [{name: b}]\nroutes:\n- {id: x, match: {path: /b}, service: b}\n- {id: y, match: {path: /c}, service: b}\n", []string{`4:12 services[0].endpoints: the service has no endpoints: requests of route "x" (f.yaml, line 6) and 1 other route are answered 503 no_endpoint`}},
		{"weights of nothing", "services: [{name: b, endpoints: [{address: 127.0.0.1:1, weight: 0}]}]\nroutes:\n- {id: x, match: {path: /b}, service: b}\n", []string{`4:33 services[0].endpoints: the service has no endpoint with a weight: requests of route "x" (f.yaml, line 6) are answered`}},
		{"nothing to retry", "services: [{name: b, endpoints: [{address: 127.0.0.1:1}], retries: {on: []}}]\nroutes:\n- {id: x, match: {path: /b}, service: b}\n", []string{"4:73 services[0].retries.on: 1 extra attempt, but `on` is empty: nothing is tried again"}},
		{"no attempts", "services: [{name: b, endpoints: [{address: 127.0.0.1:1}], retries: {attempts: 0, on: []}}]\nroutes:\n- {id: x, match: {path: /b}, service: b}\n", nil},
		{"only hedges", "services: [{name: b, endpoints: [{address: 127.0.0.1:1}], retries: {on: [], hedge: 1s}}]\nroutes:\n- {id: x, match: {path: /b}, service: b}\n", nil},
		{"nothing to retry for a route", "routes:\n- {id: x, match: {path: /b}, service: a, retries: {attempts: 2, on: []}}\n- {id: y, match: {path: /c}, service: a, retries: {attempts: 2}}\n", []string{"5:42 routes[0].retries: 2 extra attempts, but `on` is empty"}},
		{"behind an answer", "routes:\n- {id: x, match: {path: /b}, filters: [{answer: {}}, {stamp: {}}, {stamp: {}}]}\n", []string{"5:54 routes[0].filters[1]: answer" + answers + "stamp and 1 other filter gets none"}},
		{"before an answer", "routes:\n- {id: x, match: {path: /b}, filters: [{stamp: {}}, {answer: {}}]}\n", nil},
		{"a service behind an answer", "routes:\n- {id: x, match: {path: /b}, service: a, filters: [{answer: {}}]}\n", []string{"5:39 routes[0].service: answer answers every request: the service a gets none"}},
		{"a set that answers", "filter_sets: {s: [{answer: {}}]}\nroutes:\n- {id: x, match: {path: /b}, use: [s], filters: [{stamp: {}}]}\n", []string{"6:50 routes[0].filters[0]: answer" + answers + "stamp gets none"}},
		{"a set behind one that answers", "filter_sets: {s: [{answer: {}}], t: [{stamp: {}}]}\nroutes:\n- {id: x, match: {path: /b}, use: [s, t]}\n", []string{"6:39 routes[0].use[1]: answer" + answers + "the set t gets none"}},
		{"inside a set", "filter_sets: {s: [{answer: {}}, {stamp: {}}]}\nroutes:\n- {id: x, match: {path: /b}, use: [s]}\n", []string{"4:33 filter_sets.s[1]: answer" + answers + "stamp gets none"}},
		{"a listener that answers", "listeners: [{name: l, address: 127.0.0.1:2, filters: [{answer: {}}]}]\n", []string{"4:54 listeners[0].filters: answer answers every request of this listener: no route gets any"}},
		{"a route that a newer one replaces", "routes:\n- {id: x, updated_at: 2026-01-01, match: {path: /b}, service: a}\n---\nroutes:\n- {id: x, updated_at: 2025-01-01, match: {path: /c}, service: a}\n", []string{`8:8 routes[1].id: route "x" is left out: the one in f.yaml, line 5 is newer`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			head := reviewHead + "---\n" + tt.text + "\n---\nroutes:\n- {id: uses-a, match: {path: /a}, service: a}\n"
			checkReview(t, head, tt.want)
		})
	}
}

// Each shape would take minutes if routes were compared with one another.
func TestReviewOfManyRoutes(t *testing.T) {
	const n = 50_000
	env := func(value string) []route.Condition { return []route.Condition{{Name: "E", Values: []string{value}}} }
	shapes := map[string]struct {
		spec func(i int) route.Spec
		want int
	}{
		"a path each":                {func(i int) route.Spec { return route.Spec{Pattern: fmt.Sprintf("/p%d", i)} }, 0},
		"one path, values and words": {func(i int) route.Spec { return route.Spec{Pattern: "/p", Headers: env(fmt.Sprint(i / 2))} }, n / 2},
		"one path, all disabled":     {func(int) route.Spec { return route.Spec{Pattern: "/p", Disabled: true} }, 0},
		"a prefix and a host each": {func(i int) route.Spec {
			return route.Spec{Kind: route.Prefix, Pattern: fmt.Sprintf("/p%d", i), Hosts: []string{[]string{fmt.Sprintf("h%d.a.com", i), "*.a.com"}[i%2]}}
		}, 1},
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			d := newDraft([]File{{Name: "f.yaml"}}, nil)
			var changes []route.Change[*snapshot.Route]
			for i := range n {
				spec := shape.spec(i)
				spec.ID = fmt.Sprintf("r%d", i)
				d.doc.Routes = append(d.doc.Routes, &Route{ID: spec.ID, spec: &spec})
				d.routes = append(d.routes, place{root: fmt.Sprintf("routes[%d]", i), chunk: chunk{line: i + 1}})
				if len(spec.Hosts) > 0 {
					changes = append(changes, route.Change[*snapshot.Route]{Spec: &spec})
				}
			}
			table, err := route.New[*snapshot.Route](1).Apply(changes)
			require.NoError(t, err)
			found := d.review(table)
			assert.Len(t, found, shape.want)
			assert.LessOrEqual(t, len(d.located(found)), maxProblems)
		})
	}
}

func TestCheckPrintsWarnings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.yaml")
	var b strings.Builder
	b.WriteString(reviewHead + "routes:\n- {id: x, match: {path: /x}, service: a}\n---\nservices:\n")
	for i := range maxProblems + 2 {
		fmt.Fprintf(&b, "- name: s%d\n", i)
	}
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
	var out bytes.Buffer
	assert.Equal(t, 0, Check(&out, path))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, maxProblems+2)
	assert.Equal(t, "warning: "+path+`:7:9: services[0].name: no route uses the service "s0"`, lines[0])
	assert.Equal(t, "and 2 more", lines[maxProblems])
	assert.Equal(t, "ok: 1 listener, 103 services, 0 filter sets, 1 route", lines[maxProblems+1])
	out.Reset()
	assert.Equal(t, 1, CheckStrict(&out, path))
	assert.True(t, strings.HasSuffix(out.String(), path+": 102 warnings\n"))
	require.NoError(t, os.WriteFile(path, []byte(reviewHead+"routes:\n- {id: x, match: {path: /x}, service: a}\n"), 0o600))
	out.Reset()
	assert.Equal(t, 0, CheckStrict(&out, path), out.String())
}
