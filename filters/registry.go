// style: mutex allowed: the registry is written in init functions and read while compiling, never by a loop

package filters

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
)

// Kind describes one filter that is compiled into the program.
type Kind struct {
	// Name is the key used in configuration, such as "request_id".
	Name string
	// Doc is one sentence for whoever lists the filters.
	Doc string
	// New returns a pointer to a struct that holds the default options, a new one
	// for each place of use. The configuration is decoded into it by the `yaml`
	// tags of its exported fields; their `doc` tags are what `corelane filters`
	// says of them.
	New func() any
}

// Package returns the import path of the package that has the filter's options,
// which tells whose filter it is. It calls New. Any goroutine may call it.
func (k Kind) Package() string {
	t := reflect.TypeOf(k.New())
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil {
		return ""
	}
	return t.PkgPath()
}

var registry struct {
	sync.RWMutex
	kinds map[string]Kind
}

// Register makes a filter known under its name. It is called from init
// functions and panics on a name that is empty or taken, and on a phase with
// other parameters than its interface has, since the program is then built
// wrongly.
func Register(k Kind) {
	registry.Lock()
	defer registry.Unlock()
	if k.Name == "" || k.New == nil {
		panic("filters: a filter needs a name and a constructor")
	}
	if first, taken := registry.kinds[k.Name]; taken {
		panic(fmt.Errorf("filters: %q is registered twice, by %s and by %s", k.Name, first.Package(), k.Package()))
	}
	if err := misshapen(k.New()); err != nil {
		panic(fmt.Errorf("filters: %q: %w", k.Name, err))
	}
	if registry.kinds == nil {
		registry.kinds = make(map[string]Kind)
	}
	registry.kinds[k.Name] = k
}

// Lookup returns the filter of that name. Any goroutine may call it.
func Lookup(name string) (Kind, bool) {
	registry.RLock()
	defer registry.RUnlock()
	k, ok := registry.kinds[name]
	return k, ok
}

// Names returns the registered names in order. Any goroutine may call it.
func Names() []string {
	registry.RLock()
	defer registry.RUnlock()
	names := make([]string, 0, len(registry.kinds))
	for name := range registry.kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
