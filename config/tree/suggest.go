package tree

import (
	"slices"
	"strconv"
	"strings"
)

// maxListed bounds the names that a message lists.
const maxListed = 12

// Suggest renders the help after an unknown name: the nearest known one, or the
// list if it is short.
func Suggest(name string, known []string) string {
	best, distance := "", len(name)/3+1
	for _, k := range known {
		if d := edits(name, k); d < distance || d == distance && best == "" {
			best, distance = k, d
		}
	}
	if best != "" {
		return " (did you mean " + strconv.Quote(best) + "?)"
	}
	if len(known) == 0 {
		return " (none is known)"
	}
	known = slices.Sorted(slices.Values(known))
	if len(known) > maxListed {
		return " (known: " + strings.Join(known[:maxListed], ", ") + " and " + strconv.Itoa(len(known)-maxListed) + " more)"
	}
	return " (known: " + strings.Join(known, ", ") + ")"
}

// edits is the Levenshtein distance of two short names.
func edits(a, b string) int {
	if max(len(a), len(b)) > 64 {
		return max(len(a), len(b))
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
