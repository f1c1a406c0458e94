package filters_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/filters"
)

func init() {
	for _, name := range []string{"test_b", "test_a"} {
		filters.Register(filters.Kind{Name: name, Doc: "For tests.", New: func() any { return new(scripted) }})
	}
}

func TestRegistry(t *testing.T) {
	kind, ok := filters.Lookup("test_a")
	require.True(t, ok)
	assert.Equal(t, "test_a", kind.Name)
	assert.Equal(t, "For tests.", kind.Doc)
	assert.NotSame(t, kind.New(), kind.New(), "one for each place of use")

	_, ok = filters.Lookup("absent")
	assert.False(t, ok)

	names := filters.Names()
	assert.True(t, slices.IsSorted(names))
	assert.Subset(t, names, []string{"test_a", "test_b"})
}

func TestRegisterRefuses(t *testing.T) {
	build := func() any { return new(scripted) }
	for name, kind := range map[string]filters.Kind{
		"no name":        {New: build},
		"no constructor": {Name: "test_c"},
		"name taken":     {Name: "test_a", New: build},
	} {
		assert.Panics(t, func() { filters.Register(kind) }, name)
	}
	_, ok := filters.Lookup("test_c")
	assert.False(t, ok)
	kind, ok := filters.Lookup("test_a")
	assert.True(t, ok)
	assert.Equal(t, "For tests.", kind.Doc, "the first stays")
	const here = "github.com/corelane/corelane/filters_test"
	assert.PanicsWithError(t, `filters: "test_a" is registered twice, by `+here+" and by "+here,
		func() { filters.Register(filters.Kind{Name: "test_a", New: build}) })
}

func TestPackage(t *testing.T) {
	kind, _ := filters.Lookup("test_a")
	assert.Equal(t, "github.com/corelane/corelane/filters_test", kind.Package())
	assert.Empty(t, filters.Kind{New: func() any { return nil }}.Package())
}

func TestRegistryIsReadFromManyGoroutines(t *testing.T) {
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			filters.Names()
			_, ok := filters.Lookup("test_a")
			assert.True(t, ok)
		})
	}
	all.Wait()
}
