package route

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestExpandTemplate(t *testing.T) {
	table := build(t, Spec{ID: "r", Kind: Template, Pattern: "/users/{id}/{file}"})
	path := []byte("/users/7/a.txt")
	_, m := get(table, "GET h"+string(path), nil)
	cases := map[string]string{
		"":                      "",
		"/plain":                "/plain",
		"/u/{id}":               "/u/7",
		"/{file}/of-{id}.x":     "/a.txt/of-7.x",
		"/{id}{id}":             "/77",
		"/{none}/x":             "//x",
		"/open{id":              "/open{id",
		"/close}":               "/close}",
		"https://h/{id}?q={id}": "https://h/7?q=7",
	}
	for text, want := range cases {
		assert.Equal(t, "> "+want, string(ExpandTemplate([]byte("> "), text, m, path)), text)
	}
	dst := make([]byte, 0, 64)
	assert.Zero(t, testing.AllocsPerRun(100, func() { dst = ExpandTemplate(dst[:0], "/u/{id}/{file}", m, path) }))
}

func TestCheckExpansion(t *testing.T) {
	template := &Spec{Kind: Template, Pattern: "/users/{id}"}
	assert.NoError(t, CheckExpansion("/u/{id}/{id}", template))
	assert.NoError(t, CheckExpansion("/u", &Spec{Kind: Exact, Pattern: "/u"}))
	cases := []struct {
		text string
		spec *Spec
		want string
	}{
		{"/{no}", template, "the route's pattern has no {no}"},
		{"/{id}", &Spec{Kind: Prefix, Pattern: "/"}, "the route's pattern has no {id}"},
		{"/{id}", &Spec{Kind: Template, Pattern: "broken {id}"}, "the route's pattern has no {id}"},
		{"/{id", template, "a brace without its pair"},
		{"/id}", template, "a brace without its pair"},
		{"/{}", template, `"{}" is not a {name}`},
		{"/{{id}}", template, `"{{id}" is not a {name}`},
	}
	for _, c := range cases {
		assert.ErrorContains(t, CheckExpansion(c.text, c.spec), c.want)
	}
}
