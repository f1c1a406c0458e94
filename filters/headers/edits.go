package headers

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
)

// Edits is what becomes of one head: first remove, then set, then add. Within
// set and add the order is that of the names, so that every node writes the
// same head. Names are compared without regard to case.
type Edits struct {
	// Remove takes away every field of these names.
	Remove []string `yaml:"remove"`
	// Set gives each of these fields one value, in place of all it had.
	Set map[string]string `yaml:"set"`
	// Add appends a field and leaves those of the same name.
	Add map[string]string `yaml:"add"`
}

// script is Edits ready to run.
type script []edit

type edit struct {
	op          op
	name, value []byte
	// known and text are the name again, as the head wants it for op remove.
	known codec.Known
	text  string
}

type op uint8

const (
	remove op = iota
	set
	add
)

// run changes the head. It allocates nothing once the head has grown to its
// working size.
func (s script) run(h *codec.Head) {
	for i := range s {
		e := &s[i]
		switch {
		case e.op == set:
			h.Set(e.name, e.value)
		case e.op == add:
			h.Add(e.name, e.value)
		case e.known != codec.Unknown:
			h.DelKnown(e.known)
		default:
			h.Del(e.text)
		}
	}
}

// compile checks every name and value and reports all that is wrong; side is
// the option's name for messages.
func (e *Edits) compile(side string) (script, error) {
	var s script
	var errs []error
	for i, name := range e.Remove {
		if err := filters.CheckFieldName(name); err != nil {
			errs = append(errs, fmt.Errorf("%s.remove[%d]: %w", side, i, err))
		}
		s = append(s, edit{op: remove, known: codec.Lookup([]byte(name)), text: name})
	}
	for _, part := range []struct {
		op     op
		option string
		fields map[string]string
	}{{set, "set", e.Set}, {add, "add", e.Add}} {
		edits, wrong := compileFields(part.op, part.fields)
		for _, err := range wrong {
			errs = append(errs, fmt.Errorf("%s.%s: %w", side, part.option, err))
		}
		s = append(s, edits...)
	}
	return s, errors.Join(errs...)
}

func compileFields(o op, fields map[string]string) (script, []error) {
	var s script
	var errs []error
	seen := make(map[string]string, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value := fields[name]
		if err := filters.CheckField(name, value); err != nil {
			errs = append(errs, err)
		}
		folded := strings.ToLower(name)
		if first, twice := seen[folded]; twice {
			errs = append(errs, fmt.Errorf("%s and %s are one field", first, name))
		}
		seen[folded] = name
		s = append(s, edit{op: o, name: []byte(name), value: []byte(value)})
	}
	return s, errs
}
