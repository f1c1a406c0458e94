package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBodies(t *testing.T) {
	g := newGenerations(t)
	assert.False(t, g.route("two").Buffer)
	assert.EqualValues(t, 10<<20, g.route("two").BodyMemory, "filters may want a body held")
	assert.Zero(t, g.now.Listeners["web"].MinBodyRate)

	text := changed("service: b}", "service: b, body: {mode: buffer, memory: 64KiB, max: 1MiB}}")
	g.next(strings.Replace(text, "8080, filters", "8080, timeouts: {min_body_rate: 2KiB}, filters", 1))
	assert.True(t, g.route("two").Buffer)
	assert.EqualValues(t, 64<<10, g.route("two").BodyMemory)
	assert.EqualValues(t, 1<<20, g.route("two").MaxBody)
	assert.EqualValues(t, 2<<10, g.now.Listeners["web"].MinBodyRate)
	assert.Equal(t, []string{"two"}, g.diff.Routes.Changed)
}

func TestBodyErrors(t *testing.T) {
	for text, want := range map[string]string{
		"body: {mode: buffered}":  "body.mode",
		"body: {memory: many}":    "body.memory",
		"body: {memory: -1}":      "body.memory",
		"body: {spill: /tmp}":     "spill",
		"body: {mode: [buffer]}":  "body.mode",
		"body: {memory: 1 MiB}":   "body.memory",
		"body: {max: 1MiB, x: 1}": "body.x",
	} {
		doc := changed("service: b}", "service: b, "+text+"}")
		_, err := parse([]File{{Name: "gateway.yaml", Text: []byte(doc)}}, nil)
		assert.ErrorContains(t, err, want, text)
	}
}
