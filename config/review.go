package config

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/corelane/corelane/config/tree"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/route"
)

// advice is something that is valid but hardly meant.
type advice struct {
	at      place
	path    string // below the item
	message string
}

// reviewer looks at a valid document for what its author hardly meant. Its time
// grows with the document, not with the square of it.
type reviewer struct {
	draft *draft
	table *route.Table[*snapshot.Route]
	found []advice
}

// review returns what deserves a look, in the order of the sources. The document
// must be valid and the table be compiled from it.
func (d *draft) review(table *route.Table[*snapshot.Route]) []advice {
	r := &reviewer{draft: d, table: table, found: slices.Clone(d.superseded)}
	r.reviewPlaces()
	r.reviewWildcards()
	r.reviewServices()
	r.reviewRetries()
	r.reviewFilters()
	r.reviewProtocols()
	r.reviewPassages()
	slices.SortStableFunc(r.found, func(a, b advice) int {
		return cmp.Or(cmp.Compare(a.at.file, b.at.file), cmp.Compare(a.at.line(), b.at.line()))
	})
	return r.found
}

// line is the first line of an item.
func (p place) line() int {
	if p.node != nil {
		return p.node.Pos.Line
	}
	return p.chunk.line
}

func (r *reviewer) advise(at place, path, format string, args ...any) {
	r.found = append(r.found, advice{at, path, fmt.Sprintf(format, args...)})
}

// located gives the first pieces of advice their lines and columns, as many as
// one report prints.
func (d *draft) located(all []advice) Problems {
	var out Problems
	for _, a := range all[:min(len(all), maxProblems)] {
		pos := tree.Pos{Line: max(1, a.at.chunk.line), Col: 1}
		if node := d.nodeOf(a.at); node != nil {
			pos = node.Find(a.path)
		}
		out = append(out, Problem{
			File: d.files[a.at.file].Name, Line: pos.Line, Column: pos.Col,
			Path: tree.Join(a.at.root, a.path), Message: d.secrets.Clean(a.message),
		})
	}
	return out
}

// others is how a message says that there are more.
func others(n int, what string) string {
	if n == 0 {
		return ""
	}
	return " and " + count(n, "other "+what)
}
