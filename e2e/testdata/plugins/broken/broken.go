// Package broken does not compile.
package broken

import "github.com/corelane/corelane/filters"

func init() { filters.Register(filters.Sort{Name: "broken"}) }
