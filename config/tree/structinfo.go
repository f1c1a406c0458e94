package tree

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"
)

// field is what the decoder knows of one struct field.
type field struct {
	index    int
	name     string
	enum     []string
	later    []string
	words    string // a set of more words
	min, max *float64
	low, top string
}

// structInfo is what the decoder knows of one struct type.
type structInfo struct {
	fields   []field
	names    []string
	defaults reflect.Value
}

var infos sync.Map // reflect.Type → *structInfo

// infoOf returns the plan of a struct type. It panics on a tag that cannot be
// read, since the program is then built wrongly.
func infoOf(t reflect.Type) *structInfo {
	if got, ok := infos.Load(t); ok {
		return got.(*structInfo)
	}
	info := &structInfo{defaults: reflect.New(t).Elem()}
	for i := range t.NumField() {
		f := t.Field(i)
		name, ok := KeyOf(f)
		if !ok {
			continue
		}
		info.add(i, name, f)
	}
	got, _ := infos.LoadOrStore(t, info)
	return got.(*structInfo)
}

// KeyOf returns the key of a struct field; false for a field that has none.
func KeyOf(f reflect.StructField) (string, bool) {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	if name == "-" || !f.IsExported() {
		return "", false
	}
	if name == "" {
		name = strings.ToLower(f.Name)
	}
	return name, true
}

func (s *structInfo) add(index int, name string, f reflect.StructField) {
	fd := field{index: index, name: name, words: f.Tag.Get("words"), low: f.Tag.Get("min"), top: f.Tag.Get("max")}
	if words := f.Tag.Get("enum"); words != "" {
		fd.enum = strings.Split(words, "|")
	}
	if words := f.Tag.Get("later"); words != "" {
		fd.later = strings.Split(words, "|")
	}
	fd.min, fd.max = bound(f, fd.low), bound(f, fd.top)
	s.names = append(s.names, name)
	s.fields = append(s.fields, fd)
	value := s.defaults.Field(index)
	if text, ok := f.Tag.Lookup("default"); ok {
		mustDecode(f, text, value)
		return
	}
	if value.Kind() == reflect.Struct && !IsScalar(value.Type()) {
		value.Set(infoOf(value.Type()).defaults)
	}
}

func (s *structInfo) find(name string) *field {
	for i := range s.fields {
		if s.fields[i].name == name {
			return &s.fields[i]
		}
	}
	return nil
}

func bound(f reflect.StructField, text string) *float64 {
	if text == "" {
		return nil
	}
	v := reflect.New(f.Type).Elem()
	mustDecode(f, text, v)
	n, ok := magnitude(v)
	if !ok {
		panic(fmt.Errorf("tree: field %s has a range but no number", f.Name))
	}
	return &n
}

func mustDecode(f reflect.StructField, text string, into reflect.Value) {
	parsed := Parse(Input{Bytes: []byte(text)})
	d := Decoder{}
	if len(parsed.Documents) == 1 {
		d.value(parsed.Documents[0], Root(f.Name), into)
	}
	if len(parsed.Findings)+len(d.Findings) > 0 {
		panic(fmt.Errorf("tree: field %s has a tag that cannot be read: %q", f.Name, text))
	}
}

// magnitude returns a number to hold against min and max.
func magnitude(v reflect.Value) (float64, bool) {
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil():
		return magnitude(v.Elem())
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	case v.CanFloat():
		return v.Float(), true
	}
	return 0, false
}

// Keys returns the keys of a struct type in the order of its fields.
func Keys(t reflect.Type) []string { return infoOf(t).names }

// Defaults returns a new value of a struct type with its default values.
func Defaults(t reflect.Type) reflect.Value {
	v := reflect.New(t)
	v.Elem().Set(infoOf(t).defaults)
	return v
}

var durationType = reflect.TypeFor[time.Duration]()
