// Package twice takes the name of a built-in filter.
package twice

import "github.com/corelane/corelane/filters"

// Filter does nothing.
type Filter struct{}

func init() {
	filters.Register(filters.Kind{Name: "respond", Doc: "Takes a name.", New: func() any { return new(Filter) }})
}
