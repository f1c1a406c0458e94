package tree

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What Path writes is read as the same steps, also with keys that hold dots.
func TestPathsAreRead(t *testing.T) {
	for path, want := range map[string][]step{
		"":                            nil,
		"a.b":                         {{"a", -1}, {"b", -1}},
		"a[3].b[0][1]":                {{"a", -1}, {"", 3}, {"b", -1}, {"", 0}, {"", 1}},
		`sni."*.a.b[2]"`:              {{"sni", -1}, {"*.a.b[2]", -1}},
		Root("a").Key("b c").String(): {{"a", -1}, {"b c", -1}},
		`a."unfinished`:               {{"a", -1}},
	} {
		require.Equal(t, want, split(path), path)
	}
}
