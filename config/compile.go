package config

import (
	"errors"
	"fmt"
	"hash/maphash"

	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/pool"
	"github.com/corelane/corelane/route"
)

// Compiler makes snapshots. It keeps nothing between two calls: what it shares
// with the previous generation it finds there. One goroutine at a time.
type Compiler struct {
	registry *pool.Registry
	seed     uint64
	// series are the places in the counters of routes that are gone, by id, for
	// the day when they come back. There are no more than snapshot.MaxSeries.
	series map[string]*snapshot.Series
}

// NewCompiler returns a compiler whose endpoints live in the registry.
func NewCompiler(registry *pool.Registry) *Compiler {
	return &Compiler{
		registry: registry,
		seed:     maphash.String(maphash.MakeSeed(), "routes"),
		series:   make(map[string]*snapshot.Series),
	}
}

// retire remembers the place of a route that is going.
func (c *Compiler) retire(r *snapshot.Route) {
	if r.Series != nil && r.Series.Placed() {
		c.series[r.Series.ID()] = r.Series
	}
}

// seriesOf returns the series of a route that is new, or back.
func (c *Compiler) seriesOf(id string) *snapshot.Series {
	if s := c.series[id]; s != nil {
		return s
	}
	return snapshot.NewSeries(id)
}

// Compile makes the generation after prev, which is nil for the first. What
// has not changed is shared by pointer: services, routes, and filters whose
// route, place and options are the same. The document must be valid. On an
// error prev goes on as if nothing had happened.
func (c *Compiler) Compile(doc *Document, prev *snapshot.Snapshot) (*snapshot.Snapshot, *Diff, error) {
	b := c.begin(prev, doc)
	next, err := b.whole()
	return b.end(next, err)
}

// CompileDelta makes the generation after prev in which routes are changed,
// added and removed and all else is shared. doc is the document that the routes
// were read against; its services must be those of prev. The routes must come
// from ParseRoutes or a valid document. Its cost depends on the routes given and
// not on those that stay.
func (c *Compiler) CompileDelta(doc *Document, prev *snapshot.Snapshot, changed []*Route, removed []string) (*snapshot.Snapshot, *Diff, error) {
	if doc == nil || prev == nil {
		return nil, nil, errors.New("there is no generation to change")
	}
	b := c.begin(prev, doc)
	next, err := b.delta(changed, removed)
	return b.end(next, err)
}

// build is one compilation.
type build struct {
	compiler *Compiler
	prev     *snapshot.Snapshot
	doc      *Document
	services map[string]*snapshot.Service
	layouts  []madeLayout
	diff     Diff
}

func (c *Compiler) begin(prev *snapshot.Snapshot, doc *Document) *build {
	if prev == nil {
		prev = &snapshot.Snapshot{Routes: route.New[*snapshot.Route](c.seed)}
	}
	return &build{compiler: c, prev: prev, doc: doc}
}

// end sorts the diff, or undoes what an abandoned generation did to endpoints.
func (b *build) end(next *snapshot.Snapshot, err error) (*snapshot.Snapshot, *Diff, error) {
	if err != nil {
		reactivate(b.prev)
		return nil, nil, err
	}
	b.diff.Routes.sort()
	b.diff.Services.sort()
	b.diff.Listeners.sort()
	return next, &b.diff, nil
}

// reactivate gives endpoints the limits of a generation that stays although
// another was compiled.
func reactivate(s *snapshot.Snapshot) {
	if s == nil {
		return
	}
	for _, svc := range s.Services {
		svc.Pool.Activate()
	}
}

func (b *build) whole() (*snapshot.Snapshot, error) {
	next := &snapshot.Snapshot{Generation: b.prev.Generation + 1}
	var err error
	if b.services, err = b.allServices(); err != nil {
		return nil, err
	}
	if next.Listeners, err = b.allListeners(); err != nil {
		return nil, err
	}
	if next.Routes, err = b.allRoutes(); err != nil {
		return nil, err
	}
	next.Services = b.services
	return next, nil
}

// allRoutes changes the table of the previous generation where routes differ.
func (b *build) allRoutes() (*route.Table[*snapshot.Route], error) {
	var changes []route.Change[*snapshot.Route]
	kept := 0
	for _, r := range b.doc.Routes {
		_, old, known := b.prev.Routes.Get(r.ID)
		if known {
			kept++
			if b.unchanged(r, old) {
				continue
			}
		}
		change, err := b.change(r, old)
		if err != nil {
			return nil, err
		}
		changes = append(changes, change)
	}
	if kept < b.prev.Routes.Len() {
		changes = append(changes, b.removals()...)
	}
	return b.apply(changes)
}

// removals are the routes of the previous generation that the document lacks.
func (b *build) removals() []route.Change[*snapshot.Route] {
	here := make(map[string]bool, len(b.doc.Routes))
	for _, r := range b.doc.Routes {
		here[r.ID] = true
	}
	var changes []route.Change[*snapshot.Route]
	for spec, gone := range b.prev.Routes.All() {
		if !here[spec.ID] {
			b.compiler.retire(gone)
			b.diff.Routes.Removed = append(b.diff.Routes.Removed, spec.ID)
			changes = append(changes, route.Change[*snapshot.Route]{ID: spec.ID})
		}
	}
	return changes
}

func (b *build) delta(changed []*Route, removed []string) (*snapshot.Snapshot, error) {
	next := *b.prev
	next.Generation++
	b.services = b.prev.Services
	var changes []route.Change[*snapshot.Route]
	for _, r := range changed {
		_, old, _ := b.prev.Routes.Get(r.ID)
		if old != nil && b.unchanged(r, old) {
			continue
		}
		change, err := b.change(r, old)
		if err != nil {
			return nil, err
		}
		changes = append(changes, change)
	}
	for _, id := range removed {
		_, gone, known := b.prev.Routes.Get(id)
		if !known {
			return nil, fmt.Errorf("there is no route %q to remove", id)
		}
		b.compiler.retire(gone)
		b.diff.Routes.Removed = append(b.diff.Routes.Removed, id)
		changes = append(changes, route.Change[*snapshot.Route]{ID: id})
	}
	var err error
	if next.Routes, err = b.apply(changes); err != nil {
		return nil, err
	}
	return &next, nil
}

func (b *build) apply(changes []route.Change[*snapshot.Route]) (*route.Table[*snapshot.Route], error) {
	if len(changes) == 0 {
		return b.prev.Routes, nil
	}
	table, err := b.prev.Routes.Apply(changes)
	if err != nil {
		return nil, fmt.Errorf("routes: %w", err)
	}
	return table, nil
}

// change compiles one route; old is what it replaces, or nil.
func (b *build) change(r *Route, old *snapshot.Route) (route.Change[*snapshot.Route], error) {
	b.diff.Routes.note(r.ID, old != nil)
	compiled, err := b.route(r, old)
	if err != nil {
		return route.Change[*snapshot.Route]{}, fmt.Errorf("route %q: %w", r.ID, err)
	}
	spec := r.spec
	if spec == nil {
		spec = newSpec(r)
	}
	return route.Change[*snapshot.Route]{Spec: spec, ID: r.ID, Payload: compiled}, nil
}

// chain builds filters in order. A filter that stood at the same place with
// the same options is kept, with whatever it has stored.
func chain(uses, oldUses []*Filter, old *filters.Chain) (*filters.Chain, error) {
	if len(uses) == 0 {
		return nil, nil
	}
	entries := make([]*filters.Entry, len(uses))
	for i, f := range uses {
		if i < len(oldUses) && i < old.Len() && f.same(oldUses[i]) {
			entries[i] = old.Entries()[i]
			continue
		}
		var err error
		if entries[i], err = f.build(); err != nil {
			return nil, err
		}
	}
	return filters.NewChain(entries), nil
}
