package tree

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Kind is what a node is in YAML.
type Kind uint8

const (
	// Null is an absent value: nothing after the colon, null or ~.
	Null Kind = iota
	// Bool is true or false.
	Bool
	// Number is an integer or a number with a fraction.
	Number
	// Text is a plain or quoted string or a block.
	Text
	// List is a sequence.
	List
	// Map is a mapping.
	Map
)

// String names the kind for messages.
func (k Kind) String() string {
	return [...]string{"nothing", "true or false", "a number", "text", "a list", "a mapping"}[k]
}

// Pos is a place in a text; lines and columns count from 1, columns in runes.
type Pos struct{ Line, Col int }

// Node is one value with its place.
type Node struct {
	Kind Kind
	Pos  Pos
	// Text is a scalar as written, without quotes, with references expanded.
	Text string
	// Raw is the text before expansion; empty if nothing was expanded.
	Raw string
	// Items are the values of a list.
	Items []*Node
	// Pairs are the entries of a mapping in written order.
	Pairs []Pair
}

// Pair is one entry of a mapping.
type Pair struct {
	Key   string
	Pos   Pos
	Value *Node
}

// Scalar tells whether the node is a single value.
func (n *Node) Scalar() bool { return n.Kind == Bool || n.Kind == Number || n.Kind == Text }

// Empty tells whether the node holds nothing: null, "" or a list or mapping
// without entries.
func (n *Node) Empty() bool {
	switch n.Kind {
	case Null:
		return true
	case Text:
		return n.Text == ""
	case List:
		return len(n.Items) == 0
	case Map:
		return len(n.Pairs) == 0
	}
	return false
}

// Get returns the value of a key of a mapping; nil if there is none.
func (n *Node) Get(key string) *Node {
	if p := n.pair(key); p != nil {
		return p.Value
	}
	return nil
}

func (n *Node) pair(key string) *Pair {
	if n == nil || n.Kind != Map {
		return nil
	}
	for i := range n.Pairs {
		if n.Pairs[i].Key == key {
			return &n.Pairs[i]
		}
	}
	return nil
}

// Show returns a scalar for a message: quoted, and as written before expansion.
func (n *Node) Show() string {
	if n.Raw != "" {
		return strconv.Quote(n.Raw)
	}
	return strconv.Quote(n.Text)
}

// Value returns the tree as plain Go values: nil, bool, int64, float64, string,
// []any and map[string]any. A number that fits neither is its text.
func (n *Node) Value() any {
	switch n.Kind {
	case Bool:
		return strings.EqualFold(n.Text, "true")
	case Number:
		if i, err := strconv.ParseInt(n.Text, 10, 64); err == nil {
			return i
		}
		if x, err := strconv.ParseFloat(n.Text, 64); err == nil && !math.IsNaN(x) && !math.IsInf(x, 0) {
			return x
		}
		return n.Text
	case Text:
		return n.Text
	case List:
		items := make([]any, 0, len(n.Items))
		for _, item := range n.Items {
			items = append(items, item.Value())
		}
		return items
	case Map:
		pairs := make(map[string]any, len(n.Pairs))
		for _, p := range n.Pairs {
			pairs[p.Key] = p.Value.Value()
		}
		return pairs
	}
	return nil
}

// Equal tells whether two trees mean the same, wherever they stand.
func (n *Node) Equal(o *Node) bool {
	if n == nil || o == nil {
		return n == o
	}
	return n.Kind == o.Kind && n.Text == o.Text &&
		slices.EqualFunc(n.Items, o.Items, (*Node).Equal) &&
		slices.EqualFunc(n.Pairs, o.Pairs, func(a, b Pair) bool { return a.Key == b.Key && a.Value.Equal(b.Value) })
}

// Find returns the place that a path such as `match.hosts[1]` leads to. Where
// the path goes on but the tree does not, it is the last place reached.
func (n *Node) Find(path string) Pos {
	at := n.Pos
	for _, step := range split(path) {
		if step.index >= 0 {
			if n.Kind != List || step.index >= len(n.Items) {
				return at
			}
			n = n.Items[step.index]
			at = n.Pos
			continue
		}
		p := n.pair(step.key)
		if p == nil {
			return at
		}
		n = p.Value
		at = p.Pos
		if n.Scalar() || n.Kind == List && n.Pos.Line == p.Pos.Line {
			at = n.Pos
		}
	}
	return at
}
