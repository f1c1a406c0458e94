package tree

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Decoder turns nodes into Go values and collects what is wrong.
type Decoder struct {
	// Later tells of keys of a struct that exist in other versions: it returns
	// the text of the key's default, which is accepted like absence.
	Later func(t reflect.Type, key string) (text string, ok bool)
	// Words returns the allowed words of a set that a field names beside its own,
	// and what to do about one that is missing, in a clause.
	Words func(set string) (words []string, missing string)
	// Findings are the problems so far.
	Findings []Finding
}

// Custom is implemented by types that decode themselves.
type Custom interface {
	DecodeNode(d *Decoder, n *Node, at *Path)
}

// Report adds a problem at a node.
func (d *Decoder) Report(pos Pos, at *Path, message string) {
	d.Findings = append(d.Findings, Finding{Pos: pos, Path: at.String(), Message: message})
}

// Decode fills the struct, slice or map that target points to. Fields without
// a key keep their value.
func (d *Decoder) Decode(n *Node, at *Path, target any) {
	d.value(n, at, reflect.ValueOf(target).Elem())
}

// IsScalar tells whether values of the type read themselves from one word.
func IsScalar(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

func (d *Decoder) value(n *Node, at *Path, v reflect.Value) {
	if n.Kind == Null {
		return
	}
	if v.CanAddr() {
		if c, ok := v.Addr().Interface().(Custom); ok {
			c.DecodeNode(d, n, at)
			return
		}
	}
	if v.Type() == durationType || IsScalar(v.Type()) {
		d.scalar(n, at, v)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		d.pointer(n, at, v)
	case reflect.Struct:
		d.structure(n, at, v)
	case reflect.Slice:
		d.slice(n, at, v)
	case reflect.Map:
		d.mapping(n, at, v)
	default:
		d.scalar(n, at, v)
	}
}

func (d *Decoder) pointer(n *Node, at *Path, v reflect.Value) {
	fresh := reflect.New(v.Type().Elem())
	if e := fresh.Elem(); e.Kind() == reflect.Struct && !IsScalar(e.Type()) {
		e.Set(infoOf(e.Type()).defaults)
	}
	v.Set(fresh)
	d.value(n, at, fresh.Elem())
}

func (d *Decoder) structure(n *Node, at *Path, v reflect.Value) {
	if n.Kind != Map {
		d.Report(n.Pos, at, "expected a mapping of keys, found "+n.Kind.String())
		return
	}
	info := infoOf(v.Type())
	for i := range n.Pairs {
		p := &n.Pairs[i]
		f := info.find(p.Key)
		if f == nil {
			d.unknown(p, at.Key(p.Key), v.Type(), info)
			continue
		}
		path := at.Key(p.Key)
		if f.isLater(p.Value) {
			d.Report(p.Value.Pos, path, "not supported by this version, which has "+strings.Join(slices.Concat(f.enum, d.words(f)), ", "))
			continue
		}
		before := len(d.Findings)
		d.value(p.Value, path, v.Field(f.index))
		if len(d.Findings) == before && p.Value.Kind != Null {
			d.bounds(f, p.Value, path, v.Field(f.index))
		}
	}
}

// words are those of the set that a field names.
func (d *Decoder) words(f *field) []string {
	if f.words == "" || d.Words == nil {
		return nil
	}
	words, _ := d.Words(f.words)
	return words
}

// isLater tells whether a value is a word of other versions, alone or as the key
// of its settings.
func (f *field) isLater(n *Node) bool {
	word := n.Text
	if n.Kind == Map && len(n.Pairs) == 1 {
		word = n.Pairs[0].Key
	}
	return slices.Contains(f.later, word)
}

func (d *Decoder) unknown(p *Pair, at *Path, t reflect.Type, info *structInfo) {
	if d.Later != nil {
		if text, ok := d.Later(t, p.Key); ok {
			if !p.Value.Empty() && !matchesDefault(p.Value, text) {
				d.Report(p.Pos, at, "not supported by this version")
			}
			return
		}
	}
	d.Report(p.Pos, at, "unknown key"+Suggest(p.Key, info.names))
}

// matchesDefault compares a value with a default written as YAML; "0", "0s" and
// other spellings of one duration are the same.
func matchesDefault(n *Node, text string) bool {
	parsed := Parse(Input{Bytes: []byte(text)})
	if len(parsed.Documents) != 1 {
		return false
	}
	want := parsed.Documents[0]
	if n.Equal(want) {
		return true
	}
	a, errA := ParseDuration(n.Text)
	b, errB := ParseDuration(want.Text)
	return n.Scalar() && want.Scalar() && errA == nil && errB == nil && a == b
}

func (d *Decoder) bounds(f *field, n *Node, at *Path, v reflect.Value) {
	if f.enum != nil && v.Kind() == reflect.String && !slices.Contains(f.enum, v.String()) {
		d.oneOf(f, n, at, v.String())
		return
	}
	size, ok := magnitude(v)
	if !ok {
		return
	}
	if f.min != nil && size < *f.min {
		d.Report(n.Pos, at, fmt.Sprintf("%s is below the least value %s", n.Show(), f.low))
	}
	if f.max != nil && size > *f.max {
		d.Report(n.Pos, at, fmt.Sprintf("%s is above the greatest value %s", n.Show(), f.top))
	}
}

// oneOf reports a word that is not allowed by the set that the field names either.
func (d *Decoder) oneOf(f *field, n *Node, at *Path, word string) {
	words := d.words(f)
	if slices.Contains(words, word) {
		return
	}
	message := fmt.Sprintf("%s is none of the allowed words%s", n.Show(), Suggest(word, slices.Concat(f.enum, words)))
	if f.words != "" && d.Words != nil {
		_, missing := d.Words(f.words)
		message += "; " + missing
	}
	d.Report(n.Pos, at, message)
}

func (d *Decoder) slice(n *Node, at *Path, v reflect.Value) {
	if n.Kind == Map && IsPairs(v.Type().Elem()) {
		d.pairs(n, at, v)
		return
	}
	if n.Kind != List {
		d.Report(n.Pos, at, "expected a list, found "+n.Kind.String())
		return
	}
	out := reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items))
	for i, item := range n.Items {
		if item.Kind == Null {
			d.Report(item.Pos, at.Index(i), "an item of a list must not be empty")
			if t := v.Type().Elem(); t.Kind() == reflect.Pointer {
				out.Index(i).Set(reflect.New(t.Elem())) // whoever looks on for mistakes meets no nil
			}
			continue
		}
		e := out.Index(i)
		if e.Kind() == reflect.Struct && !IsScalar(e.Type()) {
			e.Set(infoOf(e.Type()).defaults)
		}
		d.value(item, at.Index(i), e)
	}
	v.Set(out)
}

// IsPairs tells whether a mapping may be read into a list of this type so that
// its order is kept: a struct of two strings, a name and a value.
func IsPairs(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() == 2 &&
		t.Field(0).Type.Kind() == reflect.String && t.Field(1).Type.Kind() == reflect.String
}

func (d *Decoder) pairs(n *Node, at *Path, v reflect.Value) {
	out := reflect.MakeSlice(v.Type(), len(n.Pairs), len(n.Pairs))
	for i := range n.Pairs {
		p := &n.Pairs[i]
		out.Index(i).Field(0).SetString(p.Key)
		d.value(p.Value, at.Key(p.Key), out.Index(i).Field(1))
	}
	v.Set(out)
}

func (d *Decoder) mapping(n *Node, at *Path, v reflect.Value) {
	if n.Kind != Map {
		d.Report(n.Pos, at, "expected a mapping of names, found "+n.Kind.String())
		return
	}
	out := reflect.MakeMapWithSize(v.Type(), len(n.Pairs))
	for i := range n.Pairs {
		p := &n.Pairs[i]
		e := reflect.New(v.Type().Elem()).Elem()
		d.value(p.Value, at.Key(p.Key), e)
		key := reflect.ValueOf(p.Key).Convert(v.Type().Key())
		out.SetMapIndex(key, e)
	}
	v.Set(out)
}
