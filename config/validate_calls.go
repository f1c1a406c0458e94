package config

import (
	"slices"
	"strconv"

	"github.com/corelane/corelane/config/tree"
)

// validateCalls checks that the services that filters of listeners and sets call
// are there; those of a route are checked with it.
func (d *draft) validateCalls(services []string) {
	d.validatePassages(services)
	for i, l := range d.doc.Listeners {
		d.validateCallers(d.listeners[i], "filters", l.Filters, services)
	}
	for name, at := range d.sets {
		d.validateCallers(at, "", d.doc.FilterSets[name].Filters, services)
	}
}

// validateCallers checks the services that a list of filters calls.
func (d *draft) validateCallers(at place, path string, uses []*Filter, services []string) {
	for i, f := range uses {
		for _, name := range f.calls {
			key := path + "[" + strconv.Itoa(i) + "]." + f.Name + f.optionOf(name)
			if _, known := slices.BinarySearch(services, name); !known {
				d.complain(at, key, unknownName("service", name, services))
				continue
			}
			if slices.ContainsFunc(d.doc.Services, func(s *Service) bool { return s.Name == name && s.Protocol == protocolTCP }) {
				d.complain(at, key, noRequests(name))
			}
		}
	}
}

// optionOf finds the option that has the value, as the end of a path; empty if
// none has, and the filter itself is the place.
func (f *Filter) optionOf(value string) string {
	if f.options == nil || f.options.Kind != tree.Map {
		return ""
	}
	for _, p := range f.options.Pairs {
		if p.Value.Scalar() && p.Value.Text == value {
			return "." + p.Key
		}
	}
	return ""
}
