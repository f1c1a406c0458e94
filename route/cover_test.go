package route

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPlace(t *testing.T) {
	template := func(pattern string) string { return (&Spec{Kind: Template, Pattern: pattern}).Place() }
	assert.Equal(t, template("/users/{id}/x"), template("/users/{name}/x"))
	assert.NotEqual(t, template("/users/{id}"), template("/users/{id}/"))
	exact, prefix := &Spec{Kind: Exact, Pattern: "/a"}, &Spec{Kind: Prefix, Pattern: "/a"}
	assert.NotEqual(t, exact.Place(), prefix.Place())
	assert.NotEqual(t, prefix.Place(), (&Spec{Kind: Prefix, Pattern: "/a/"}).Place())
}

func TestOutranks(t *testing.T) {
	plain := &Spec{ID: "b"}
	for _, first := range []*Spec{{ID: "z", Priority: 1}, {ID: "z", Methods: []string{"GET"}}, {ID: "a"}} {
		assert.True(t, first.Outranks(plain), first.ID)
		assert.False(t, plain.Outranks(first), first.ID)
	}
}

func TestCovers(t *testing.T) {
	env := func(values ...string) []Condition { return []Condition{{Name: "X-Env", Values: values}} }
	tests := []struct {
		name string
		a, b Spec
		want bool
	}{
		{"no predicates", Spec{}, Spec{Methods: []string{"GET"}, Regex: "x", Headers: env("a")}, true},
		{"the same", Spec{Methods: []string{"GET"}, Regex: "x", Headers: env("a")}, Spec{Methods: []string{"GET"}, Regex: "x", Headers: env("a")}, true},
		{"more methods", Spec{Methods: []string{"GET", "POST"}}, Spec{Methods: []string{"POST"}}, true},
		{"fewer methods", Spec{Methods: []string{"GET"}}, Spec{Methods: []string{"GET", "POST"}}, false},
		{"one method of all", Spec{Methods: []string{"GET"}}, Spec{}, false},
		{"another expression", Spec{Regex: "x"}, Spec{Regex: "y"}, false},
		{"an expression of none", Spec{Regex: "x"}, Spec{}, false},
		{"more values", Spec{Headers: env("a", "b")}, Spec{Headers: env("a")}, true},
		{"any value", Spec{Headers: env()}, Spec{Headers: env("a")}, true},
		{"one value of any", Spec{Headers: env("a")}, Spec{Headers: env()}, false},
		{"fewer values", Spec{Headers: env("a")}, Spec{Headers: env("a", "b")}, false},
		{"header names have no case", Spec{Headers: []Condition{{Name: "x-env"}}}, Spec{Headers: env("a")}, true},
		{"cookie names have", Spec{Cookies: []Condition{{Name: "x-env"}}}, Spec{Cookies: env("a")}, false},
		{"a condition of none", Spec{Query: env()}, Spec{}, false},
		{"headers are not parameters", Spec{Query: env()}, Spec{Headers: env("a")}, false},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, tt.a.Covers(&tt.b), tt.name)
	}
}
