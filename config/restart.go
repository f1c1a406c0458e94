package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// needsRestart names the keys that differ and that a running process cannot
// change: sockets, loops, and what the program sets up once.
func needsRestart(old, next *Document) []string {
	keys := differing("engine", reflect.ValueOf(old.Engine), reflect.ValueOf(next.Engine))
	keys = append(keys, differing("node", reflect.ValueOf(old.Node), reflect.ValueOf(next.Node))...)
	keys = append(keys, differing("admin", reflect.ValueOf(old.Admin), reflect.ValueOf(next.Admin))...)
	keys = append(keys, differing("log", reflect.ValueOf(old.Log), reflect.ValueOf(next.Log))...)
	if old.Config.File.Path != next.Config.File.Path {
		keys = append(keys, "config.file.path")
	}
	return append(keys, movedListeners(old.Listeners, next.Listeners)...)
}

// differing names the keys of a section whose values differ.
func differing(section string, a, b reflect.Value) []string {
	var keys []string
	for i := range a.NumField() {
		if !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			key, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("yaml"), ",")
			keys = append(keys, section+"."+key)
		}
	}
	return keys
}

func movedListeners(old, next []*Listener) []string {
	var keys []string
	byName := make(map[string]*Listener, len(old))
	for _, l := range old {
		byName[l.Name] = l
	}
	for i, l := range next {
		was, known := byName[l.Name]
		delete(byName, l.Name)
		switch {
		case !known:
			keys = append(keys, fmt.Sprintf("listeners[%d] (%s is new)", i, l.Name))
		case was.Address != l.Address:
			keys = append(keys, fmt.Sprintf("listeners[%d].address (of %s)", i, l.Name))
		case was.Protocol != l.Protocol:
			keys = append(keys, fmt.Sprintf("listeners[%d].protocol (of %s)", i, l.Name))
		case !reflect.DeepEqual(was.Layout, l.Layout):
			keys = append(keys, fmt.Sprintf("listeners[%d].layout (of %s)", i, l.Name))
		}
	}
	for name := range byName {
		keys = append(keys, "listeners ("+name+" is gone)")
	}
	slices.Sort(keys)
	return keys
}
