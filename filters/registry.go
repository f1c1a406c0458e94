// style: mutex allowed: the registry is written in init functions and read while compiling, never by a loop

package filters

import (
	"fmt"
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
	// tags of its exported fields.
	New func() any
}

var registry struct {
	sync.RWMutex
	kinds map[string]Kind
}

// Register makes a filter known under its name. It is called from init
// functions and panics on a name that is empty or taken, since the program is
// then built wrongly.
func Register(k Kind) {
	registry.Lock()
	defer registry.Unlock()
	if k.Name == "" || k.New == nil {
		panic("filters: a filter needs a name and a constructor")
	}
	if _, taken := registry.kinds[k.Name]; taken {
		panic(fmt.Errorf("filters: %q is registered twice", k.Name))
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
