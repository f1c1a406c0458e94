package config

import (
	"reflect"
	"time"

	"github.com/corelane/corelane/config/tree"
)

// reference matches values from outside the document, ${env:…} and ${file:…},
// which may stand wherever text may.
const reference = `\$\{`

// valueRef names the definition for values of a type that are written as one
// word, or as filters, or that a type reads in a way of its own, which is not
// described; empty for all others.
func valueRef(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Duration]():
		return "duration"
	case reflect.TypeFor[Size]():
		return "size"
	case reflect.TypeFor[Percent]():
		return "percent"
	case reflect.TypeFor[Share]():
		return "share"
	case reflect.TypeFor[Loops]():
		return "loops"
	case reflect.TypeFor[Pin]():
		return "pin"
	case reflect.TypeFor[Instant]():
		return "instant"
	case reflect.TypeFor[Statuses]():
		return "statuses"
	case reflect.TypeFor[Balance]():
		return "balance"
	case reflect.TypeFor[Filter]():
		return "filter"
	case reflect.TypeFor[FilterSet]():
		return "filters"
	}
	switch readsItself := reflect.PointerTo(t).Implements(reflect.TypeFor[tree.Custom]()); {
	case readsItself:
		return "any"
	case tree.IsScalar(t) || t.Kind() == reflect.String:
		return "text"
	}
	return ""
}

// valueSchemas are the definitions of values that are written as one word.
// Numbers and truth values may stand where text is wanted.
func valueSchemas() Properties {
	const bytes = `[0-9]+(?:B|KiB|MiB|GiB|TiB)?`
	const codes = ` *[1-5][0-9]{2}(?: *- *[1-5][0-9]{2})? *`
	status := &Schema{AnyOf: []*Schema{number("integer", 100, 599), text("^" + codes + "(?:," + codes + ")*$")}}
	return Properties{
		{"text", &Schema{Type: Types{"string", "number", "boolean", "null"}}},
		{"duration", &Schema{
			Description: "A number and a unit, such as 500ms, 3s or 1h30m; 0 needs none.",
			AnyOf: []*Schema{
				{Enum: []any{0, nil}},
				text(`^\+?(?:0|(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)$`),
			},
		}},
		{"size", &Schema{
			Description: "Bytes, such as 512, 64KiB, 10MiB or 1GiB.",
			AnyOf:       []*Schema{number("integer", 0, 0), text("^" + bytes + "$"), null()},
		}},
		{"percent", &Schema{
			Description: "A percentage from 0 to 100 that may have a fraction.",
			AnyOf:       []*Schema{number("number", 0, 100), text(`^(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)%?$`), null()},
		}},
		{"share", &Schema{
			Description: "A percentage of the memory, or bytes.",
			AnyOf:       []*Schema{number("integer", 0, 0), text(`^(?:[0-9]+(?:\.[0-9]*)?%|` + bytes + `)$`), null()},
		}},
		{"loops", &Schema{AnyOf: []*Schema{number("integer", 1, maxLoops), text(`^(?:auto|[0-9]+)$`), null()}}},
		{"pin", &Schema{AnyOf: []*Schema{number("integer", 0, maxCPU), text(`^(?:auto|none|[0-9]+(?:-[0-9]+)?(?: *, *[0-9]+(?:-[0-9]+)?)*)$`), null()}}},
		{"instant", &Schema{
			Description: "A time as in RFC 3339, or a date.",
			AnyOf:       []*Schema{text(`^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt].+)?$`), null()},
		}},
		{"statuses", &Schema{
			Description: "Status codes and ranges of them, with commas between or as a list.",
			AnyOf:       []*Schema{status, {Type: Types{"array"}, Items: status}, null()},
		}},
		{"balance", balanceSchema()},
		{"any", &Schema{}},
		{"filters", &Schema{Type: Types{"array", "null"}, Items: &Schema{Ref: "#/$defs/filter"}}},
	}
}

func text(pattern string) *Schema {
	return &Schema{Type: Types{"string"}, Pattern: pattern + "|" + reference}
}

// number is a number from low to top; a top of 0 is none.
func number(kind string, low, top float64) *Schema {
	s := &Schema{Type: Types{kind}, Minimum: &low}
	if top > 0 {
		s.Maximum = &top
	}
	return s
}

func null() *Schema { return &Schema{Type: Types{"null"}} }

// wordsSchema is one of some words.
func wordsSchema(words []string) []*Schema {
	enum := make([]any, 0, len(words)+1)
	for _, word := range words {
		enum = append(enum, word)
	}
	return []*Schema{{Enum: append(enum, nil)}, {Type: Types{"string"}, Pattern: reference}}
}

// laterSchema is a key of other versions: it may be absent, empty, or hold its
// default.
func laterSchema(text string) *Schema {
	enum := []any{nil, "", []any{}, map[string]any{}}
	value := plain(text)
	switch value {
	case nil, "":
	case "0s", int64(0):
		enum = append(enum, 0, "0", "0s")
	default:
		if kind := reflect.ValueOf(value).Kind(); kind != reflect.Slice && kind != reflect.Map || reflect.ValueOf(value).Len() > 0 {
			enum = append(enum, value)
		}
	}
	return &Schema{Description: "Not supported by this version.", Enum: enum}
}
