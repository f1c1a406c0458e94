package config

import (
	"slices"
	"strings"

	"github.com/corelane/corelane/config/tree"
)

// place is where an item stands in the sources.
type place struct {
	file int
	root string
	// node is the item, or nil if its text is still to be parsed.
	node *tree.Node
	// chunk is the text of an item that was parsed alone. Of a section and a
	// filter set it has the line of the key.
	chunk chunk
	// broken are the paths that could not be decoded. What is above or below
	// them, or only absent, is not reported a second time.
	broken []string
}

// bad tells that some of the item could not be decoded.
func (p place) bad() bool { return len(p.broken) > 0 }

// reported tells whether a problem at the path would repeat one.
func (p place) reported(path string) bool {
	return slices.ContainsFunc(p.broken, func(b string) bool { return within(path, b) || within(b, path) })
}

// within tells whether a path is another one or lies below it.
func within(path, above string) bool {
	rest, ok := strings.CutPrefix(path, above)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

func pathsOf(problems Problems) []string {
	var paths []string
	for _, p := range problems {
		paths = append(paths, p.Path)
	}
	return paths
}
