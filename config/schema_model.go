package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/corelane/corelane/config/tree"
	"github.com/corelane/corelane/filters"
)

// Describe returns the comment of a struct field, which programs do not hold by
// themselves; empty if it is not known. The tag `doc` of a field goes before it.
type Describe func(owner reflect.Type, f reflect.StructField) string

// NewSchema describes whole configurations: the keys of this version, the filters
// compiled into the program, and the keys of other versions with the values that
// are accepted. Any goroutine may call it.
func NewSchema(describe Describe) *Schema {
	m := modeller{describe: describe}
	s := m.object(tree.Defaults(reflect.TypeFor[Document]()).Elem())
	s.Dialect = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "Corelane configuration"
	s.Defs = append(valueSchemas(), Property{"filter", m.oneFilter()})
	for _, name := range filters.Names() {
		kind, _ := filters.Lookup(name)
		s.Defs = append(s.Defs, Property{filterDef + name, m.filter(kind)})
	}
	return s
}

// filterDef begins the names of definitions of single filters.
const filterDef = "filter."

// modeller makes schemas of the structs that configurations are read into.
type modeller struct{ describe Describe }

// oneFilter is one use of a filter: one key, which is its name.
func (m *modeller) oneFilter() *Schema {
	one := &Schema{}
	for _, name := range filters.Names() {
		one.OneOf = append(one.OneOf, &Schema{
			Type: Types{"object"}, Required: []string{name}, Additional: false,
			Properties: Properties{{name, &Schema{Ref: "#/$defs/" + filterDef + name}}},
		})
	}
	return one
}

// filter describes the options of a filter; their defaults are those that it
// sets by itself.
func (m *modeller) filter(kind filters.Kind) *Schema {
	v := reflect.ValueOf(kind.New())
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	s := &Schema{}
	if v.Kind() == reflect.Struct {
		s = m.object(v)
	}
	s.Description = kind.Doc
	return s
}

// object describes a struct that holds its defaults.
func (m *modeller) object(v reflect.Value) *Schema {
	t := v.Type()
	s := &Schema{Type: Types{"object", "null"}, Additional: false}
	for i := range t.NumField() {
		f := t.Field(i)
		name, ok := tree.KeyOf(f)
		if !ok {
			continue
		}
		s.Properties = append(s.Properties, Property{name, m.field(t, f, v.Field(i))})
	}
	for _, name := range slices.Sorted(maps.Keys(later[t])) {
		s.Properties = append(s.Properties, Property{name, laterSchema(later[t][name])})
	}
	return s
}

func (m *modeller) field(owner reflect.Type, f reflect.StructField, v reflect.Value) *Schema {
	s := m.value(v)
	text := f.Tag.Get("doc")
	if text == "" && m.describe != nil {
		text = m.describe(owner, f)
	}
	s.Description = strings.TrimSpace(unnamed(f.Name, meaning(f.Name, text)) + rangeOf(f))
	s.Default = defaultOf(f, v)
	if words := f.Tag.Get("enum"); words != "" {
		more, _ := wordsOf(f.Tag.Get("words"))
		s.Ref, s.AnyOf = "", wordsSchema(append(strings.Split(words, "|"), more...))
	}
	if len(s.Type) > 0 && (s.Type[0] == "integer" || s.Type[0] == "number") {
		s.Minimum, s.Maximum = bound(f, "min"), bound(f, "max")
	}
	return s
}

// value describes whatever a value may be replaced by; the value itself holds
// defaults of what is inside.
func (m *modeller) value(v reflect.Value) *Schema {
	t := v.Type()
	if ref := valueRef(t); ref != "" {
		return &Schema{Ref: "#/$defs/" + ref}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return m.value(fresh(t.Elem()))
	case reflect.Struct:
		return m.object(v)
	case reflect.Slice:
		return m.list(t)
	case reflect.Map:
		return &Schema{Type: Types{"object", "null"}, Additional: m.value(fresh(t.Elem()))}
	case reflect.Bool:
		return &Schema{Type: Types{"boolean", "null"}}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return &Schema{Type: Types{"integer", "null"}}
	case reflect.Float32, reflect.Float64:
		return &Schema{Type: Types{"number", "null"}}
	}
	return &Schema{}
}

func (m *modeller) list(t reflect.Type) *Schema {
	s := &Schema{Type: Types{"array", "null"}, Items: m.value(fresh(t.Elem()))}
	if tree.IsPairs(t.Elem()) {
		return &Schema{AnyOf: []*Schema{s, {Type: Types{"object"}, Additional: &Schema{Ref: "#/$defs/text"}}}}
	}
	return s
}

// fresh is a value of a type with its defaults.
func fresh(t reflect.Type) reflect.Value {
	if t.Kind() == reflect.Struct && !tree.IsScalar(t) {
		return tree.Defaults(t).Elem()
	}
	return reflect.New(t).Elem()
}

// meaning is a comment as a sentence of a manual: it does not begin with the
// field's name again.
func meaning(field, comment string) string {
	text := strings.Join(strings.Fields(comment), " ")
	for _, verb := range []string{" is ", " are ", " says ", " holds ", " bounds "} {
		rest, ok := strings.CutPrefix(text, field+verb)
		switch {
		case !ok:
			continue
		case verb == " is " || verb == " are ":
			return strings.ToUpper(rest[:1]) + rest[1:]
		}
		return strings.ToUpper(verb[1:2]) + verb[2:] + rest
	}
	return text
}

// unnamed drops the field's name before any other verb: it stands beside the
// key, where it only repeats it.
func unnamed(field, text string) string {
	rest, ok := strings.CutPrefix(text, field+" ")
	verb, _, _ := strings.Cut(rest, " ")
	if !ok || !strings.HasSuffix(verb, "s") || verb == "is" {
		return text
	}
	return strings.ToUpper(rest[:1]) + rest[1:]
}

// rangeOf is what the tags of a field say of its range.
func rangeOf(f reflect.StructField) string {
	low, top := f.Tag.Get("min"), f.Tag.Get("max")
	switch {
	case low != "" && top != "":
		return " From " + low + " to " + top + "."
	case top != "":
		return " At most " + top + "."
	case low != "" && low != "0":
		return " At least " + low + "."
	}
	return ""
}

// bound is a limit of a number.
func bound(f reflect.StructField, tag string) *float64 {
	n := plain(f.Tag.Get(tag))
	switch n := n.(type) {
	case int64:
		x := float64(n)
		return &x
	case float64:
		return &n
	}
	return nil
}

// plain reads a tag that holds YAML.
func plain(text string) any {
	parsed := tree.Parse(tree.Input{Bytes: []byte(text)})
	if len(parsed.Documents) != 1 {
		return nil
	}
	return parsed.Documents[0].Value()
}

// defaultOf is the default of a field: its tag, or what its struct was made with.
func defaultOf(f reflect.StructField, v reflect.Value) any {
	if text, ok := f.Tag.Lookup("default"); ok {
		return plain(text)
	}
	return plainDefault(v)
}

func plainDefault(v reflect.Value) any {
	if d, ok := v.Interface().(time.Duration); ok {
		return shortDuration(d)
	}
	if tree.IsScalar(v.Type()) {
		return nil // it has no text that it could be read from again
	}
	switch v.Kind() {
	case reflect.Bool, reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Float32, reflect.Float64:
		return v.Interface()
	case reflect.Slice:
		items := make([]any, 0, v.Len())
		for i := range v.Len() {
			items = append(items, plainDefault(v.Index(i)))
		}
		return items
	case reflect.Map:
		pairs := make(map[string]any, v.Len())
		for name, value := range v.Seq2() {
			pairs[name.String()] = plainDefault(value)
		}
		return pairs
	}
	return nil
}

// shortDuration writes 1m and not 1m0s.
func shortDuration(d time.Duration) string {
	text := d.String()
	if d == 0 {
		return "0s"
	}
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
