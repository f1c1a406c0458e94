// style: mutex allowed: the registry is written in init functions and read while compiling, never by a loop

package codec

import (
	"fmt"
	"slices"
	"sync"
)

// protocols are those compiled into the program, by name.
var protocols struct {
	sync.RWMutex
	byName map[string]Protocol
}

// builtIn are names that configuration gives a meaning of its own.
var builtIn = []string{"", "http", "h2", "tcp"}

// Register makes a protocol known under its name, which listeners and services
// then use as their protocol. It is called from init functions and panics on a
// name that is taken, since the program is then built wrongly.
func Register(p Protocol) {
	protocols.Lock()
	defer protocols.Unlock()
	name := p.Name()
	if _, taken := protocols.byName[name]; taken || slices.Contains(builtIn, name) {
		panic(fmt.Errorf("codec: the protocol %q is registered twice, or its name is not free", name))
	}
	if protocols.byName == nil {
		protocols.byName = make(map[string]Protocol)
	}
	protocols.byName[name] = p
}

// Registered returns the protocol of that name. Any goroutine may call it.
func Registered(name string) (Protocol, bool) {
	protocols.RLock()
	defer protocols.RUnlock()
	p, ok := protocols.byName[name]
	return p, ok
}

// Names returns the names of the registered protocols in order. Any goroutine
// may call it.
func Names() []string {
	protocols.RLock()
	defer protocols.RUnlock()
	names := make([]string, 0, len(protocols.byName))
	for name := range protocols.byName {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
