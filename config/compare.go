package config

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
)

// KeyChange is one key whose value differs. An empty text means that the key is
// absent. Secrets are masked.
type KeyChange struct {
	Key string `json:"key"`
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`
}

// ItemChange is an item that both configurations have, with what differs.
type ItemChange struct {
	Name string      `json:"name"`
	Keys []KeyChange `json:"keys"`
}

// SectionChange is what differs among the items of one section, in the order of
// their names.
type SectionChange struct {
	Added   []string     `json:"added"`
	Removed []string     `json:"removed"`
	Changed []ItemChange `json:"changed"`
}

func (s *SectionChange) empty() bool { return len(s.Added)+len(s.Removed)+len(s.Changed) == 0 }

// Comparison says what a change from one configuration to another means.
// Comments, order of items, and defaults that are written out mean nothing.
type Comparison struct {
	Routes     SectionChange `json:"routes"`
	Services   SectionChange `json:"services"`
	Listeners  SectionChange `json:"listeners"`
	FilterSets SectionChange `json:"filter_sets"`
	// Settings are the keys of all other sections.
	Settings []KeyChange `json:"settings"`
	// Restart names the keys that a running node refuses to change.
	Restart []string `json:"restart"`
}

// Same tells whether nothing differs.
func (c *Comparison) Same() bool {
	return c.Routes.empty() && c.Services.empty() && c.Listeners.empty() && c.FilterSets.empty() && len(c.Settings) == 0
}

// Compare reads two files or folders, each with what its config.file.path names
// besides, and says what changes from the first to the second. The error is that of the one which is missing or wrong.
func Compare(old, next string) (*Comparison, error) {
	a, err := loadDraft(old)
	if err != nil {
		return nil, err
	}
	b, err := loadDraft(next)
	if err != nil {
		return nil, err
	}
	c := comparer{old: a, next: b}
	return c.compare(), nil
}

func loadDraft(path string) (*draft, error) {
	files, err := readWhole(path)
	if err != nil {
		return nil, err
	}
	d := newDraft(files, nil)
	_, err = d.parse()
	return d, err
}

// comparer holds both sides.
type comparer struct{ old, next *draft }

func (c *comparer) compare() *Comparison {
	a, b := c.old.doc, c.next.doc
	out := &Comparison{
		Routes: compareItems(c, a.Routes, b.Routes, func(r *Route) string { return r.ID }, func(x, y *Route) bool {
			return sameRoute(x, y) && sameFilters(x.Filters, y.Filters)
		}),
		Services:  compareItems(c, a.Services, b.Services, func(s *Service) string { return s.Name }, sameValue),
		Listeners: compareItems(c, a.Listeners, b.Listeners, func(l *Listener) string { return l.Name }, never),
		Settings:  c.settings(),
		Restart:   needsRestart(a, b),
	}
	out.FilterSets = compareItems(c, namedSets(a), namedSets(b), func(s *namedSet) string { return s.name }, never)
	if out.Restart == nil {
		out.Restart = []string{}
	}
	return out
}

func sameValue[T any](a, b *T) bool { return reflect.DeepEqual(a, b) }

// never leaves the comparison to the walk.
func never[T any](_, _ *T) bool { return false }

// namedSet is a filter set as an item with a name.
type namedSet struct {
	name    string
	Filters []*Filter `yaml:"filters"`
}

func namedSets(doc *Document) []*namedSet {
	var all []*namedSet
	for _, name := range slices.Sorted(maps.Keys(doc.FilterSets)) {
		all = append(all, &namedSet{name: name, Filters: doc.FilterSets[name].Filters})
	}
	return all
}

// compareItems pairs items by name.
func compareItems[T any](c *comparer, a, b []*T, name func(*T) string, same func(x, y *T) bool) SectionChange {
	out := SectionChange{Added: []string{}, Removed: []string{}, Changed: []ItemChange{}}
	before := make(map[string]*T, len(a))
	for _, x := range a {
		before[name(x)] = x
	}
	for _, y := range b {
		x, known := before[name(y)]
		delete(before, name(y))
		switch {
		case !known:
			out.Added = append(out.Added, name(y))
		case !same(x, y):
			if keys := c.keys("", reflect.ValueOf(x).Elem(), reflect.ValueOf(y).Elem()); len(keys) > 0 {
				out.Changed = append(out.Changed, ItemChange{Name: name(y), Keys: keys})
			}
		}
	}
	out.Removed = slices.AppendSeq(out.Removed, maps.Keys(before))
	slices.Sort(out.Added)
	slices.Sort(out.Removed)
	slices.SortFunc(out.Changed, func(x, y ItemChange) int { return cmp.Compare(x.Name, y.Name) })
	return out
}

// settings compares the sections that have no items with names.
func (c *comparer) settings() []KeyChange {
	a, b := reflect.ValueOf(c.old.doc).Elem(), reflect.ValueOf(c.next.doc).Elem()
	all := []KeyChange{}
	for i := range a.NumField() {
		switch f := a.Type().Field(i); f.Name {
		case "Routes", "Services", "Listeners", "FilterSets":
		default:
			if f.IsExported() {
				all = append(all, c.field("", f, a.Field(i), b.Field(i))...)
			}
		}
	}
	return all
}

func (c *comparer) keys(path string, a, b reflect.Value) []KeyChange {
	w := walker{comparer: c}
	w.walk(path, a, b)
	return w.changes
}

func (c *comparer) field(path string, f reflect.StructField, a, b reflect.Value) []KeyChange {
	w := walker{comparer: c}
	w.field(path, f, a, b)
	return w.changes
}
