package config

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/filters"
)

// routeSource is what a compiled route was made of, kept with it so that the
// next generation can tell what has changed.
type routeSource struct {
	route *Route
	// uses are the filters of the sets and the route's own, in order.
	uses []*Filter
}

// unchanged tells whether the compiled route is what compiling would give.
func (b *build) unchanged(r *Route, old *snapshot.Route) bool {
	src, ok := old.From.(*routeSource)
	if !ok || old.Service != b.services[r.Service] {
		return false
	}
	return sameRoute(r, src.route) && sameFilters(b.uses(r), src.uses) && slices.Equal(b.sets(r), old.Sets)
}

// sameRoute tells whether two routes say the same. Their filters are compared
// apart, since options hold places in a text.
func sameRoute(a, b *Route) bool {
	if a == b || a.digest != (digest{}) && a.digest == b.digest {
		return true
	}
	x, y := *a, *b
	x.digest, x.spec, x.Filters = digest{}, nil, nil
	y.digest, y.spec, y.Filters = digest{}, nil, nil
	return reflect.DeepEqual(&x, &y)
}

// uses lists the filters of a route in the order in which they run.
func (b *build) uses(r *Route) []*Filter {
	if len(r.Use) == 0 {
		return r.Filters
	}
	var all []*Filter
	for _, name := range r.Use {
		if set := b.doc.FilterSets[name]; set != nil {
			all = append(all, set.Filters...)
		}
	}
	return append(all, r.Filters...)
}

// sets tells which filters of uses come from which set.
func (b *build) sets(r *Route) []snapshot.FilterSet {
	var sets []snapshot.FilterSet
	for _, name := range r.Use {
		if set := b.doc.FilterSets[name]; set != nil {
			sets = append(sets, snapshot.FilterSet{Name: name, Filters: len(set.Filters)})
		}
	}
	return sets
}

func (b *build) route(r *Route, old *snapshot.Route) (*snapshot.Route, error) {
	for _, name := range r.Use {
		if b.doc.FilterSets[name] == nil {
			return nil, fmt.Errorf("no filter set %q", name) // rather than a route without its filters
		}
	}
	src := &routeSource{route: r, uses: b.uses(r)}
	var oldUses []*Filter
	var oldChain *filters.Chain
	var series *snapshot.Series
	if old == nil {
		series = b.compiler.seriesOf(r.ID)
	} else {
		series, oldChain = old.Series, old.Chain
		if s, ok := old.From.(*routeSource); ok {
			oldUses = s.uses
		}
	}
	built, err := chain(src.uses, oldUses, oldChain)
	if err != nil {
		return nil, err
	}
	out := &snapshot.Route{
		Info:        filters.RouteInfo{ID: r.ID, Metadata: r.Metadata},
		Service:     b.services[r.Service],
		Chain:       built,
		Sets:        b.sets(r),
		Strip:       r.Strip,
		RewritePath: r.Rewrite.Path,
		RewriteHost: r.Rewrite.Host,
		MaxBody:     int64(r.Body.Max),
		Buffer:      r.Body.Mode == "buffer",
		BodyMemory:  int64(r.Body.Memory),
		Series:      series,
		From:        src,
	}
	if out.Service != nil {
		out.Timeouts, out.Retries = out.Service.Timeouts, out.Service.Retries
	}
	out.Timeouts.TunnelIdle = snapshot.Inherit
	routeRetries(r.Retries, &out.Retries)
	routeTimeouts(r.Timeouts, out)
	return out, nil
}

func routeRetries(r *RouteRetries, out *snapshot.Retries) {
	if r == nil {
		return
	}
	override(&out.Attempts, r.Attempts)
	override(&out.PerTry, r.PerTry)
	override(&out.Hedge, r.Hedge)
	if r.Budget != nil {
		out.Budget = float64(*r.Budget)
	}
	if r.On != nil {
		setOn(r.On, out)
	}
}

func routeTimeouts(t *RouteTimeouts, out *snapshot.Route) {
	if t == nil {
		return
	}
	override(&out.Timeouts.FirstByte, t.FirstByte)
	override(&out.Timeouts.Idle, t.Idle)
	override(&out.Timeouts.Total, t.Total)
	override(&out.Retries.PerTry, t.PerTry)
	override(&out.Timeouts.TunnelIdle, t.TunnelIdle)
}

func override[T any](value, by *T) {
	if by != nil {
		*value = *by
	}
}
