package route

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

func TestPathsOfAnyLength(t *testing.T) {
	var specs []Spec
	lengths := []int{2, inlinePath - 1, inlinePath, inlinePath + 1, MaxPattern}
	for _, n := range lengths {
		for _, last := range []string{"a", "b"} {
			path := "/" + strings.Repeat("x", n-2) + last
			specs = append(specs,
				Spec{ID: path, Pattern: path},
				Spec{ID: "h" + path, Pattern: path, Hosts: []string{"h"}})
		}
	}
	table := build(t, specs...)
	for _, spec := range specs {
		host := "any"
		if len(spec.Hosts) > 0 {
			host = "h"
		}
		got, m := get(table, "GET "+host+spec.Pattern, nil)
		assert.Equal(t, spec.ID, got)
		assert.Equal(t, spec.ID, m.Spec.ID)
		got, _ = get(table, "GET "+host+spec.Pattern+"c", nil)
		assert.Equal(t, "route_not_found", got)
	}
}

// The slot of an exact path is what lookups wait for: it must not grow unseen.
func TestSizeOfAnExactSlot(t *testing.T) {
	assert.Equal(t, uintptr(96), unsafe.Sizeof(slot[place[*int], exactHead[*int]]{}))
	assert.Equal(t, uintptr(16), unsafe.Sizeof(slot[entry[*int], noHead]{}))
}
