package filters_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

// between returns the text from the first mark on and before the second one.
func between(t testing.TB, text, from, to string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, from)
	require.True(t, found, from)
	part, _, found := strings.Cut(rest, to)
	require.True(t, found, to)
	return from + part
}

// TestPluginIsInTheDocumentation keeps docs/filters.md the same as the example of
// a module with a filter, whose test has ten lines.
func TestPluginIsInTheDocumentation(t *testing.T) {
	page := read(t, "../docs/filters.md")
	_, test, found := strings.Cut(read(t, "../examples/plugin/hello_test.go"), "func TestHello(")
	require.True(t, found)
	test = strings.TrimSpace("func TestHello(" + test)
	assert.LessOrEqual(t, strings.Count(test, "\n")+1, 10)
	for _, text := range []string{test, strings.TrimSpace(read(t, "../examples/plugin/go.mod"))} {
		assert.True(t, strings.Contains(page, text), "copy it from the example to docs/filters.md:\n%s", text)
	}
}
