package filters_test

import (
	"os"
	"strings"
	"testing"

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
