package route

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// world draws specs and requests from few words, so that they meet often.
type world struct {
	segments, hosts, names, methods []string
	ids                             int
}

var worlds = []world{
	{ // deep, narrow and full of empty segments
		segments: []string{"a", "b", "", "a"},
		hosts:    []string{"", "h", "x.h", "y.x.h", ".h", "z"},
		names:    []string{"h", "*.h", "*.x.h", "x.h"},
		methods:  []string{"GET", "POST", "PURGE"},
		ids:      12,
	},
	{ // wide, so that trie nodes keep their children in maps
		segments: strings.Split("abcdefghijklmnopqrstuvwxyz", ""),
		hosts:    []string{"h"},
		names:    []string{"*.h"},
		methods:  []string{"GET", "HEAD"},
		ids:      60,
	},
}

func (w *world) path(t *rapid.T) string {
	return "/" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(w.segments), 1, 4).Draw(t, "path"), "/")
}

func (w *world) template(t *rapid.T) string {
	segments := strings.Split(w.path(t), "/")
	for i := range segments[1:] {
		if rapid.Bool().Draw(t, "param") {
			segments[i+1] = "{" + string(rune('p'+i)) + rapid.SampledFrom([]string{"", "x"}).Draw(t, "name") + "}"
		}
	}
	return strings.Join(segments, "/")
}

func drawConditions(t *rapid.T, label string) []Condition {
	return rapid.SliceOfN(rapid.SampledFrom([]Condition{{Name: "k"}, {Name: "k", Values: []string{"1", "2"}}}), 0, 1).Draw(t, label)
}

func (w *world) spec(t *rapid.T) *Spec {
	s := &Spec{
		ID:       string(rune('A' + rapid.IntRange(0, w.ids).Draw(t, "id"))),
		Hosts:    rapid.SliceOfNDistinct(rapid.SampledFrom(w.names), 0, 2, rapid.ID).Draw(t, "hosts"),
		Kind:     Kind(rapid.IntRange(0, 2).Draw(t, "kind")),
		Methods:  rapid.SliceOfN(rapid.SampledFrom(w.methods), 0, 2).Draw(t, "methods"),
		Priority: rapid.IntRange(0, 1).Draw(t, "priority"),
		Disabled: rapid.IntRange(0, 9).Draw(t, "disabled") == 0,
		Regex:    rapid.SampledFrom([]string{"", "", "", "a", "b$"}).Draw(t, "regex"),
		Headers:  drawConditions(t, "headers"),
		Query:    drawConditions(t, "query"),
		Cookies:  drawConditions(t, "cookies"),
	}
	s.Pattern = w.path(t)
	if s.Kind == Template {
		s.Pattern = w.template(t)
	}
	if w.space(t, s) != Paths {
		s.Methods, s.Query, s.Cookies, s.Regex = nil, nil, nil, ""
	}
	return s
}

// space gives a spec one of the spaces and a pattern of it.
func (w *world) space(t *rapid.T, s *Spec) Space {
	s.Space = rapid.SampledFrom([]Space{Paths, Paths, Calls, Keys}).Draw(t, "space")
	switch s.Space {
	case Calls:
		s.Kind = rapid.SampledFrom([]Kind{Exact, Prefix}).Draw(t, "kind of call")
		s.Pattern = w.call(t)
		if s.Kind == Prefix {
			s.Pattern = s.Pattern[:strings.LastIndexByte(s.Pattern, '/')]
		}
	case Keys:
		s.Kind, s.Pattern = Exact, w.call(t)
	}
	return s.Space
}

// call draws a path that every space has.
func (w *world) call(t *rapid.T) string {
	word := rapid.SampledFrom(slices.DeleteFunc(slices.Clone(w.segments), func(s string) bool { return s == "" }))
	return "/" + word.Draw(t, "interface") + "/" + word.Draw(t, "method")
}

func (w *world) request(t *rapid.T) *Request {
	attribute := rapid.SampledFrom([]map[string]string{nil, {"k": "1"}, {"k": "3"}})
	path, space := w.path(t), rapid.SampledFrom([]Space{Paths, Paths, Calls, Keys}).Draw(t, "space")
	if space != Paths {
		path = w.call(t)
	}
	return &Request{
		Space:  space,
		Host:   []byte(rapid.SampledFrom(w.hosts).Draw(t, "host")),
		Method: []byte(rapid.SampledFrom(w.methods).Draw(t, "method")),
		Path:   []byte(path),
		Attributes: &attributes{
			headers: attribute.Draw(t, "headers"),
			query:   attribute.Draw(t, "query"),
			cookies: attribute.Draw(t, "cookies"),
		},
	}
}

// change draws a batch and makes the same changes to table and reference.
func (w *world) change(t *rapid.T, table *Table[string], ref reference) (*Table[string], reference) {
	ref = maps.Clone(ref)
	var changes []Change[string]
	for range rapid.IntRange(0, w.ids).Draw(t, "batch") {
		spec := w.spec(t)
		if rapid.IntRange(0, 3).Draw(t, "drop") == 0 {
			changes = append(changes, Change[string]{ID: spec.ID})
			delete(ref, spec.ID)
			continue
		}
		changes = append(changes, Change[string]{Spec: spec, Payload: spec.ID})
		ref[spec.ID] = spec
	}
	next, err := table.Apply(changes)
	require.NoError(t, err)
	return next, ref
}

func lookup(table *Table[string], r *Request, m *Match[string]) answer {
	table.Lookup(r, m, nil)
	a := answer{outcome: m.Outcome, id: m.Payload, allow: string(m.Allow(nil))}
	for i := range m.ParamCount() {
		name, value := m.ParamAt(r.Path, i)
		a.params += name + "=" + string(value) + ","
	}
	return a
}

// explained returns the candidate that a recorder sees win, or "".
func explained(table *Table[string], r *Request) string {
	var said transcript
	table.Lookup(r, &Match[string]{}, &said)
	for _, line := range said {
		if id, matched := strings.CutSuffix(line, " matched "); matched {
			return id
		}
	}
	return ""
}

// The table answers as the plain matcher does, after any sequence of changes;
// tables from before still answer as they did; and nothing is left in a table
// that one built at once from the same routes does not have.
func TestTheTableAgreesWithAPlainMatcher(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &worlds[rapid.IntRange(0, len(worlds)-1).Draw(t, "world")]
		tables, refs := []*Table[string]{New[string](rapid.Uint64().Draw(t, "seed"))}, []reference{{}}
		for step := range rapid.IntRange(1, 4).Draw(t, "steps") {
			from := rapid.IntRange(0, step).Draw(t, "from") // any earlier table may be changed again
			table, ref := w.change(t, tables[from], refs[from])
			tables, refs = append(tables, table), append(refs, ref)
			assert.Equal(t, censusOf(rebuilt(t, ref)), censusOf(table))
		}
		var m Match[string]
		for range 20 {
			r := w.request(t)
			for i, table := range tables {
				want := refs[i].lookup(r)
				assert.Equal(t, want, lookup(table, r, &m), "table %d: %q %q", i, r.Host, r.Path)
				assert.Equal(t, want.id, explained(table, r))
			}
		}
	})
}

func rebuilt(t *rapid.T, ref reference) *Table[string] {
	var changes []Change[string]
	for id, spec := range ref {
		changes = append(changes, Change[string]{Spec: spec, Payload: id})
	}
	table, err := New[string](9).Apply(changes)
	require.NoError(t, err)
	return table
}

// census counts everything that a table is made of.
type census struct{ routes, hosts, exactPlaces, nodes, triePlaces, standing int }

func censusOf(table *Table[string]) census {
	c := census{routes: table.ids.size, exactPlaces: table.exact.size}
	for p := range table.exact.all {
		c.standing += len(p.routes)
	}
	count := func(h *host[string]) bool {
		c.hosts++
		c.countNode(h.root)
		return true
	}
	for i := range table.hosts {
		hosts := &table.hosts[i]
		hosts.exact.all(count)
		hosts.wild.all(count)
		if hosts.any != nil {
			count(hosts.any)
		}
	}
	return c
}

func (c *census) countNode(n *node[string]) {
	if n == nil {
		return
	}
	c.nodes++
	for _, p := range []*place[string]{n.template, n.prefix, n.under} {
		if p != nil {
			c.triePlaces++
			c.standing += len(p.routes)
		}
	}
	c.countNode(n.param)
	for child := range n.children.all {
		c.countNode(child)
	}
}

func TestNothingIsLeftOfRemovedRoutes(t *testing.T) {
	specs := []Spec{
		{ID: "a", Pattern: "/a"},
		{ID: "b", Kind: Template, Pattern: "/b/{x}/c", Hosts: []string{"h", "*.h"}},
		{ID: "c", Kind: Prefix, Pattern: "/b/", Hosts: []string{"h"}},
	}
	for c := 'a'; c <= 'z'; c++ {
		specs = append(specs, Spec{ID: "wide-" + string(c), Kind: Prefix, Pattern: "/w/" + string(c)})
	}
	table := build(t, specs...)
	for _, spec := range specs {
		next, err := table.Apply([]Change[string]{{ID: spec.ID}})
		require.NoError(t, err)
		table = next
	}
	assert.Equal(t, census{}, censusOf(table))
	assert.Zero(t, table.hosts)
	assert.Equal(t, shards[place[string], exactHead[string]]{}, table.exact)
	assert.Equal(t, shards[entry[string], noHead]{}, table.ids)
}
