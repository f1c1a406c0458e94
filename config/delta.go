package config

import (
	"fmt"
	"maps"
	"slices"
)

// ParseRoutes reads documents that hold `routes` alone, as changes to a whole
// document whose services and filter sets they name. The error is Problems.
func ParseRoutes(base *Document, files ...File) ([]*Route, error) {
	if len(files) == 0 {
		return nil, Problems{{Message: "there is no document"}}
	}
	d := newDraft(files, nil)
	for i := range files {
		d.read(i)
	}
	for _, key := range slices.Sorted(maps.Keys(d.sections)) {
		d.complain(d.sections[key], "", "a change of routes holds routes only")
	}
	for _, other := range slices.Concat(d.listeners, d.services, slices.Collect(maps.Values(d.sets))) {
		d.complain(other, "", "a change of routes holds routes only")
	}
	d.doc.Services, d.doc.FilterSets = base.Services, base.FilterSets
	d.merge()
	if !d.broken {
		d.validateRoutes(serviceNames(base))
	}
	if len(d.problems) > 0 {
		return nil, d.report()
	}
	return d.doc.Routes, nil
}

func serviceNames(doc *Document) []string {
	names := make([]string, 0, len(doc.Services))
	for _, s := range doc.Services {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return names
}

// withRoutes returns the document as it is after a change of routes. The
// checksum stays that of the sources.
func (d *Document) withRoutes(changed []*Route, removed []string) (*Document, error) {
	at := d.routePlaces()
	next := *d
	next.Routes = slices.Clone(d.Routes)
	for _, r := range changed {
		if i, known := at[r.ID]; known {
			next.Routes[i] = r
			continue
		}
		next.Routes = append(next.Routes, r)
		next.places = nil
	}
	gone := make(map[string]bool, len(removed))
	for _, id := range removed {
		if _, known := at[id]; !known {
			return nil, fmt.Errorf("there is no route %q to remove", id)
		}
		gone[id] = true
	}
	if len(gone) > 0 {
		next.Routes = slices.DeleteFunc(next.Routes, func(r *Route) bool { return gone[r.ID] })
		next.places = nil
	}
	return &next, nil
}

// routePlaces finds routes by id. It is made once, since with 50,000 routes it
// costs more than a change of one of them, and documents share it while routes
// are changed in place only.
func (d *Document) routePlaces() map[string]int {
	if d.places == nil {
		d.places = make(map[string]int, len(d.Routes))
		for i, r := range d.Routes {
			d.places[r.ID] = i
		}
	}
	return d.places
}
