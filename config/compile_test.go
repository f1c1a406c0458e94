package config

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
)

const base = `listeners:
  - {name: web, address: 127.0.0.1:8080, filters: [{stamp: {}}]}
filter_sets:
  app: [{stamp: {header: X-Set}}]
services:
  - {name: a, endpoints: [{address: 127.0.0.1:9901}]}
  - {name: b, endpoints: [{address: 127.0.0.1:9902}]}
routes:
  - {id: one, match: {path: /1}, service: a, use: [app], filters: [{stamp: {header: X-One}}, {stamp: {header: X-Two}}]}
  - {id: two, match: {path: /2}, service: b}
  - {id: three, match: {path: /3}, service: a}
`

// generations compiles one document after the other with one compiler.
type generations struct {
	t        *testing.T
	compiler *Compiler
	doc      *Document
	now      *snapshot.Snapshot
	diff     *Diff
}

func newGenerations(t *testing.T) *generations {
	g := &generations{t: t, compiler: NewCompiler(pool.NewRegistry())}
	g.next(base)
	return g
}

func (g *generations) next(text string) {
	g.t.Helper()
	doc, err := parse([]File{{Name: "gateway.yaml", Text: []byte(text)}}, g.doc)
	require.NoError(g.t, err)
	s, diff, err := g.compiler.Compile(doc, g.now)
	require.NoError(g.t, err)
	g.doc, g.now, g.diff = doc, s, diff
}

func (g *generations) route(id string) *snapshot.Route {
	g.t.Helper()
	_, r, ok := g.now.Routes.Get(id)
	require.True(g.t, ok, id)
	return r
}

func changed(old, text string) string { return strings.Replace(base, old, text, 1) }

func TestFirstGenerationAddsEverything(t *testing.T) {
	g := newGenerations(t)
	assert.EqualValues(t, 1, g.now.Generation)
	assert.Equal(t, []string{"one", "three", "two"}, g.diff.Routes.Added)
	assert.Equal(t, []string{"a", "b"}, g.diff.Services.Added)
	assert.Equal(t, []string{"web"}, g.diff.Listeners.Added)
	assert.Equal(t, 3, g.route("one").Chain.Len())
	assert.Same(t, g.now.Services["a"], g.route("three").Service)
}

func TestTheSameDocumentSharesEverything(t *testing.T) {
	for name, text := range map[string]string{
		"same text":      base,
		"other position": "# moved\n\n" + base,
		"other words":    changed("{id: two, match: {path: /2}, service: b}", "{match: {path: \"/2\"}, id: two, service: b, priority: 0}"),
	} {
		t.Run(name, func(t *testing.T) {
			g := newGenerations(t)
			first := g.now
			one, two := g.route("one"), g.route("two")
			g.next(text)
			assert.True(t, g.diff.Empty(), "%+v", g.diff)
			assert.Same(t, first.Routes, g.now.Routes)
			assert.Same(t, first.Services["a"], g.now.Services["a"])
			assert.Same(t, first.Listeners["web"], g.now.Listeners["web"])
			assert.Same(t, one, g.route("one"))
			assert.Same(t, two, g.route("two"))
		})
	}
}

func TestOneRouteChanged(t *testing.T) {
	g := newGenerations(t)
	first, one, two := g.now, g.route("one"), g.route("two")
	g.next(changed("{path: /2}", "{path: /22}"))
	assert.Equal(t, []string{"two"}, g.diff.Routes.Changed)
	assert.Empty(t, g.diff.Routes.Added)
	assert.Same(t, one, g.route("one"))
	assert.NotSame(t, two, g.route("two"))
	assert.Same(t, two.Series, g.route("two").Series, "the numbers of a route go on")
	_, old, _ := first.Routes.Get("two")
	assert.Same(t, two, old, "the last generation stays as it was")
	assert.EqualValues(t, 2, g.now.Generation)
}

func TestFiltersAreKeptByPlaceAndOptions(t *testing.T) {
	g := newGenerations(t)
	before := g.route("one").Chain.Entries()
	g.next(changed("{stamp: {header: X-One}}", "{stamp: {header: X-Other}}"))
	after := g.route("one").Chain.Entries()
	assert.Same(t, before[0], after[0], "of the set")
	assert.NotSame(t, before[1], after[1])
	assert.Same(t, before[2], after[2])
}

func TestAChangedSetRebuildsItsRoutes(t *testing.T) {
	g := newGenerations(t)
	before := g.route("one").Chain.Entries()
	g.next(changed("header: X-Set", "header: X-Sets"))
	assert.Equal(t, []string{"one"}, g.diff.Routes.Changed)
	after := g.route("one").Chain.Entries()
	assert.NotSame(t, before[0], after[0])
	assert.Same(t, before[1], after[1])
}

func TestAChangedServiceIsSeenByItsRoutes(t *testing.T) {
	g := newGenerations(t)
	two, endpoint := g.route("two"), g.now.Services["a"].Pool.Members[0].Endpoint
	g.next(changed("- {name: a,", "- {name: a, pool: {max_connections: 7},"))
	assert.Equal(t, []string{"a"}, g.diff.Services.Changed)
	assert.Equal(t, []string{"one", "three"}, g.diff.Routes.Changed)
	assert.Same(t, g.now.Services["a"], g.route("three").Service)
	assert.Same(t, two, g.route("two"))
	assert.Same(t, endpoint, g.now.Services["a"].Pool.Members[0].Endpoint, "endpoints live across generations")
	assert.EqualValues(t, 7, endpoint.Limit())
}

func TestRemoved(t *testing.T) {
	g := newGenerations(t)
	g.next(changed("  - {id: two, match: {path: /2}, service: b}\n", ""))
	assert.Equal(t, []string{"two"}, g.diff.Routes.Removed)
	assert.Equal(t, 2, g.now.Routes.Len())
	g.next(strings.Replace(changed("  - {id: two, match: {path: /2}, service: b}\n", ""), "  - {name: b, endpoints: [{address: 127.0.0.1:9902}]}\n", "", 1))
	assert.Equal(t, []string{"b"}, g.diff.Services.Removed)
}

func TestACountedRouteThatComesBackKeepsItsPlace(t *testing.T) {
	var book snapshot.SeriesBook
	g := newGenerations(t)
	place := g.route("two").Series.Slot(&book)
	g.next(changed("  - {id: two, match: {path: /2}, service: b}\n", ""))
	g.next(changed("", ""))
	assert.Equal(t, place, g.route("two").Series.Slot(&book))
}

func TestAChangedListener(t *testing.T) {
	g := newGenerations(t)
	entry := g.now.Listeners["web"].Chain.Entries()[0]
	g.next(changed("{name: web,", "{name: web, timeouts: {head: 1s}, trusted_proxies: [10.0.0.0/8],"))
	assert.Equal(t, []string{"web"}, g.diff.Listeners.Changed)
	assert.Equal(t, time.Second, g.now.Listeners["web"].Head)
	assert.Same(t, entry, g.now.Listeners["web"].Chain.Entries()[0])
	assert.Len(t, g.now.Listeners["web"].TrustedProxies, 1)
}

func TestDelta(t *testing.T) {
	g := newGenerations(t)
	first, one := g.now, g.route("one")
	routes, err := ParseRoutes(g.doc, File{Name: "delta", Text: []byte("routes:\n  - {id: two, match: {path: /2x}, service: a}\n  - {id: four, match: {path: /4}, service: b, use: [app]}\n")})
	require.NoError(t, err)
	g.now, g.diff, err = g.compiler.CompileDelta(g.doc, first, routes, []string{"three"})
	require.NoError(t, err)
	assert.Equal(t, Changes{Added: []string{"four"}, Changed: []string{"two"}, Removed: []string{"three"}}, g.diff.Routes)
	assert.EqualValues(t, 2, g.now.Generation)
	assert.Same(t, one, g.route("one"))
	assert.Same(t, first.Services["a"], g.route("two").Service)
	assert.Equal(t, 1, g.route("four").Chain.Len())

	_, _, err = g.compiler.CompileDelta(g.doc, first, nil, []string{"nobody"})
	require.ErrorContains(t, err, `no route "nobody"`)
	_, _, err = g.compiler.CompileDelta(g.doc, nil, routes, nil)
	require.Error(t, err)
	g.next(base)
	assert.Equal(t, Changes{Added: []string{"three"}, Changed: []string{"two"}, Removed: []string{"four"}}, g.diff.Routes)
}

func TestADeltaHoldsRoutesOnly(t *testing.T) {
	g := newGenerations(t)
	for text, want := range map[string]string{
		"services: [{name: x}]\n":                                                     "services[0]: a change of routes holds routes only",
		"log: {level: debug}\n":                                                       "log: a change of routes holds routes only",
		"routes:\n  - {id: x, match: {path: /x}, service: c}\n":                       `unknown service "c"`,
		"routes:\n  - {id: x, match: {path: x}, service: a}\n":                        "does not start with /",
		"routes:\n  - {id: x, match: {path: /x}, service: a, filters: [{ask: {}}]}\n": `routes[0].filters[0].ask: unknown service "auth"`,
	} {
		_, err := ParseRoutes(g.doc, File{Name: "delta", Text: []byte(text)})
		require.ErrorContains(t, err, want)
	}
	_, err := ParseRoutes(g.doc)
	require.Error(t, err)
}

func TestAFailedCompilationLeavesLimitsAlone(t *testing.T) {
	g := newGenerations(t)
	endpoint := g.now.Services["a"].Pool.Members[0].Endpoint
	doc, err := Parse(File{Name: "gateway.yaml", Text: []byte(changed("- {name: a,", "- {name: a, pool: {max_connections: 3},"))})
	require.NoError(t, err)
	doc.Listeners[0].Filters[0].Name = "no-longer-there"
	_, _, err = g.compiler.Compile(doc, g.now)
	require.ErrorContains(t, err, "no-longer-there")
	assert.EqualValues(t, 20, endpoint.Limit())
}

func TestTunnelsInheritFromTheirListener(t *testing.T) {
	g := newGenerations(t)
	assert.Equal(t, snapshot.Inherit, g.route("two").Timeouts.TunnelIdle)
	own := changed("service: b}\n  - {id: three", "service: b, timeouts: {tunnel_idle: 0}}\n  - {id: three")
	g.next(own)
	assert.Equal(t, []string{"two"}, g.diff.Routes.Changed)
	assert.Zero(t, g.route("two").Timeouts.TunnelIdle)
	g.next(strings.Replace(own, "{name: web,", "{name: web, timeouts: {tunnel_idle: 5m},", 1))
	assert.Empty(t, g.diff.Routes.Changed, "a listener's change costs no route")
	assert.Equal(t, 5*time.Minute, g.now.Listeners["web"].TunnelIdle)
}

func TestDiffIsCutForTheLog(t *testing.T) {
	d := &Diff{Routes: Changes{Added: strings.Split(strings.Repeat("r ", 25)+"r", " ")}}
	text := d.LogValue().String()
	assert.Contains(t, text, "and 6 more")
	assert.NotContains(t, text, "services")
	assert.False(t, d.Empty())
}

func TestFilterSetsAreToldApart(t *testing.T) {
	two := strings.Replace(base, "  app: [{stamp: {header: X-Set}}]", "  app: [{stamp: {header: X-Set}}]\n  more: [{stamp: {header: X-M}}, {stamp: {header: X-N}}]", 1)
	two = strings.Replace(two, "use: [app]", "use: [app, more]", 1)
	g := newGenerations(t)
	require.Equal(t, []snapshot.FilterSet{{Name: "app", Filters: 1}}, g.route("one").Sets)
	require.Nil(t, g.route("two").Sets)
	g.next(two)
	require.Equal(t, []snapshot.FilterSet{{Name: "app", Filters: 1}, {Name: "more", Filters: 2}}, g.route("one").Sets)

	// The same filters in the same order, but one of them belongs to the other set.
	moved := strings.Replace(two, "[{stamp: {header: X-Set}}]", "[{stamp: {header: X-Set}}, {stamp: {header: X-M}}]", 1)
	moved = strings.Replace(moved, "[{stamp: {header: X-M}}, {stamp: {header: X-N}}]", "[{stamp: {header: X-N}}]", 1)
	g.next(moved)
	require.Equal(t, []snapshot.FilterSet{{Name: "app", Filters: 2}, {Name: "more", Filters: 1}}, g.route("one").Sets)
}
