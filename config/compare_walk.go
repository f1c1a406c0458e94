package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/corelane/corelane/config/tree"
	"github.com/corelane/corelane/filters"
)

// walker goes through two values of one type and notes the keys that differ.
type walker struct {
	*comparer
	changes []KeyChange
}

// note adds a change; an invalid value is an absent one.
func (w *walker) note(path string, a, b reflect.Value) {
	w.changes = append(w.changes, KeyChange{Key: path, Old: shownIn(w.old, path, a), New: shownIn(w.next, path, b)})
}

func shownIn(d *draft, path string, v reflect.Value) string {
	if !v.IsValid() {
		return ""
	}
	return d.secrets.Clean(shownValue(path, v))
}

func (w *walker) field(path string, f reflect.StructField, a, b reflect.Value) {
	if name, ok := tree.KeyOf(f); ok {
		w.walk(tree.Join(path, name), a, b)
	}
}

func (w *walker) walk(path string, a, b reflect.Value) {
	t := a.Type()
	switch {
	case t == reflect.TypeFor[[]*Filter]():
		w.filters(path, a.Interface().([]*Filter), b.Interface().([]*Filter))
	case t.Kind() == reflect.Pointer && !a.IsNil() && !b.IsNil():
		w.walk(path, a.Elem(), b.Elem())
	case t.Kind() == reflect.Pointer:
		if a.IsNil() != b.IsNil() {
			w.note(path, inside(a), inside(b))
		}
	case t.Kind() == reflect.Struct && !tree.IsScalar(t):
		for i := range t.NumField() {
			w.field(path, t.Field(i), a.Field(i), b.Field(i))
		}
		if r, ok := a.Interface().(RouteRetries); ok {
			w.inherited(path, r, b.Interface().(RouteRetries))
		}
	case t.Kind() == reflect.Map:
		w.mapping(path, a, b)
	case t.Kind() == reflect.Slice && a.Len()+b.Len() == 0:
	case t.Kind() == reflect.Slice && identified(a) && identified(b):
		w.items(path, a, b)
	case !reflect.DeepEqual(a.Interface(), b.Interface()):
		w.note(path, a, b)
	}
}

// inherited notes a list that is absent on one side and empty on the other, where
// the two differ: an absent one is the service's.
func (w *walker) inherited(path string, a, b RouteRetries) {
	if len(a.On)+len(b.On) > 0 || (a.On == nil) == (b.On == nil) {
		return
	}
	change := KeyChange{Key: tree.Join(path, "on"), Old: "[]"}
	if a.On == nil {
		change.Old, change.New = change.New, change.Old
	}
	w.changes = append(w.changes, change)
}

// inside is what a pointer points to, or nothing.
func inside(p reflect.Value) reflect.Value {
	if p.IsNil() {
		return reflect.Value{}
	}
	return p.Elem()
}

func (w *walker) mapping(path string, a, b reflect.Value) {
	names := make(map[string]bool)
	for _, m := range []reflect.Value{a, b} {
		for name := range m.Seq() {
			names[name.String()] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		key := reflect.ValueOf(name).Convert(a.Type().Key())
		w.pair(tree.Join(path, name), a.MapIndex(key), b.MapIndex(key))
	}
}

// pair walks through what both have, or notes what only one has.
func (w *walker) pair(path string, a, b reflect.Value) {
	if a.IsValid() && b.IsValid() {
		w.walk(path, a, b)
		return
	}
	w.note(path, a, b)
}

// identified tells whether the items of a list are structs whose first field
// names them, such as the address of an endpoint.
func identified(list reflect.Value) bool {
	t := list.Type().Elem()
	if t.Kind() != reflect.Struct || tree.IsScalar(t) || t.NumField() == 0 || t.Field(0).Type.Kind() != reflect.String {
		return false
	}
	seen := make(map[string]bool, list.Len())
	for i := range list.Len() {
		name := list.Index(i).Field(0).String()
		if name == "" || seen[name] {
			return false
		}
		seen[name] = true
	}
	return true
}

// items pairs the items of two lists by what names them.
func (w *walker) items(path string, a, b reflect.Value) {
	before := make(map[string]reflect.Value, a.Len())
	for i := range a.Len() {
		before[a.Index(i).Field(0).String()] = a.Index(i)
	}
	for i := range b.Len() {
		name := b.Index(i).Field(0).String()
		w.pair(path+"["+name+"]", before[name], b.Index(i))
		delete(before, name)
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		w.note(path+"["+name+"]", before[name], reflect.Value{})
	}
}

// filters pairs the uses of filters by name, the second of a name with the
// second. A change of the order is a change of the list.
func (w *walker) filters(path string, a, b []*Filter) {
	before, order := numbered(a)
	after, next := numbered(b)
	kept := func(in map[string]*Filter) func(string) bool {
		return func(name string) bool { return in[name] == nil }
	}
	if !slices.Equal(slices.DeleteFunc(slices.Clone(order), kept(after)), slices.DeleteFunc(slices.Clone(next), kept(before))) {
		w.changes = append(w.changes, KeyChange{Key: path, Old: listed(order), New: listed(next)})
	}
	for _, name := range next {
		x, y := before[name], after[name]
		switch {
		case x == nil:
			w.note(path+"."+name, reflect.Value{}, y.instance())
		case !x.same(y):
			w.walk(path+"."+name, x.instance(), y.instance())
		}
	}
	for _, name := range order {
		if after[name] == nil {
			w.note(path+"."+name, before[name].instance(), reflect.Value{})
		}
	}
}

func listed(names []string) string { return "[" + strings.Join(names, ", ") + "]" }

// numbered names uses of filters: headers, headers#2.
func numbered(uses []*Filter) (map[string]*Filter, []string) {
	all := make(map[string]*Filter, len(uses))
	var order []string
	for _, f := range uses {
		name := f.Name
		for n := 2; all[name] != nil; n++ {
			name = f.Name + "#" + strconv.Itoa(n)
		}
		all[name] = f
		order = append(order, name)
	}
	return all, order
}

// instance is the filter's struct with its options, not provisioned.
func (f *Filter) instance() reflect.Value {
	kind, ok := filters.Lookup(f.Name)
	if !ok {
		return reflect.ValueOf(fmt.Sprint(f.Name))
	}
	fresh := kind.New()
	if f.options != nil {
		(&tree.Decoder{}).Decode(f.options, tree.Root(f.Name), fresh)
	}
	return reflect.ValueOf(fresh).Elem()
}
