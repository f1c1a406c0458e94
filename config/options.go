package config

import (
	"strings"

	"github.com/corelane/corelane/filters"
)

// Option is one option of a filter, for people.
type Option struct {
	// Name is the way of keys, such as request.set or rules[].by.
	Name string `json:"name"`
	// Type says what stands there, such as "duration" or "list of text".
	Type string `json:"type"`
	// Default is nil if the option has none.
	Default any    `json:"default"`
	Doc     string `json:"doc"`
}

// Options lists the options of a filter in the order of its fields. Any goroutine
// may call it.
func Options(kind filters.Kind, describe Describe) []Option {
	m := modeller{describe: describe}
	return optionsOf(m.filter(kind), "")
}

func optionsOf(s *Schema, prefix string) []Option {
	var all []Option
	for _, p := range s.Properties {
		name := prefix + p.Name
		inside, path := p.Schema, name+"."
		if p.Schema.Items != nil {
			inside, path = p.Schema.Items, name+"[]."
		}
		if len(inside.Properties) == 0 || inside != p.Schema {
			all = append(all, Option{Name: name, Type: kindOf(p.Schema), Default: p.Schema.Default, Doc: p.Schema.Description})
		}
		all = append(all, optionsOf(inside, path)...)
	}
	return all
}

// kindOf names in words what a schema takes.
func kindOf(s *Schema) string {
	switch {
	case s.Ref != "":
		return strings.TrimPrefix(s.Ref, "#/$defs/")
	case len(s.AnyOf) > 0 && len(s.AnyOf[0].Enum) > 0:
		return words(s.AnyOf[0].Enum)
	case len(s.AnyOf) > 0:
		return kindOf(s.AnyOf[len(s.AnyOf)-1])
	case len(s.Type) == 0:
		return "value"
	}
	switch s.Type[0] {
	case "array":
		if len(s.Items.Properties) > 0 {
			return "list"
		}
		return "list of " + kindOf(s.Items)
	case "boolean":
		return "true or false"
	case "integer":
		return "whole number"
	}
	if of, ok := s.Additional.(*Schema); ok {
		return "mapping of " + kindOf(of)
	}
	return map[string]string{"number": "number", "object": "mapping"}[s.Type[0]]
}

func words(enum []any) string {
	var all []string
	for _, one := range enum {
		if word, ok := one.(string); ok {
			all = append(all, word)
		}
	}
	return strings.Join(all, " or ")
}
