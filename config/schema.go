package config

import (
	"bytes"
	"encoding/json"
)

// Schema is a JSON Schema (draft 2020-12) as far as configurations need it. Null
// is allowed wherever the program allows it: it means "not given". What one value
// must be is in the schema; how values depend on one another, such as a route on
// its service, is for `corelane check`.
type Schema struct {
	Dialect     string     `json:"$schema,omitempty"`
	Title       string     `json:"title,omitempty"`
	Ref         string     `json:"$ref,omitempty"`
	Description string     `json:"description,omitempty"`
	Type        Types      `json:"type,omitempty"`
	Enum        []any      `json:"enum,omitempty"`
	Pattern     string     `json:"pattern,omitempty"`
	Minimum     *float64   `json:"minimum,omitempty"`
	Maximum     *float64   `json:"maximum,omitempty"`
	Default     any        `json:"default,omitempty"`
	Properties  Properties `json:"properties,omitempty"`
	Required    []string   `json:"required,omitempty"`
	// Additional is false, or the *Schema of the values of a mapping.
	Additional any        `json:"additionalProperties,omitempty"`
	Items      *Schema    `json:"items,omitempty"`
	OneOf      []*Schema  `json:"oneOf,omitempty"`
	AnyOf      []*Schema  `json:"anyOf,omitempty"`
	Defs       Properties `json:"$defs,omitempty"`
}

// Types are the JSON types that a value may have.
type Types []string

// MarshalJSON writes one type alone as a word.
func (t Types) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// Property is a named schema.
type Property struct {
	Name   string
	Schema *Schema
}

// Properties keep the order of the struct fields that they were made of.
type Properties []Property

// MarshalJSON writes an object in that order.
func (p Properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, one := range p {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(one.Name)
		if err != nil {
			return nil, err
		}
		schema, err := json.Marshal(one.Schema)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(schema)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Get returns the schema of a name; nil if there is none.
func (p Properties) Get(name string) *Schema {
	for _, one := range p {
		if one.Name == name {
			return one.Schema
		}
	}
	return nil
}
