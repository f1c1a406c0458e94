package tree

import (
	"strconv"
	"strings"
)

// Path is the way from the root to a node, built backwards so that a tree
// without problems never pays for its text.
type Path struct {
	up    *Path
	key   string
	index int
}

// Root returns a path that starts with the text, such as "routes[3]".
func Root(text string) *Path { return &Path{key: text, index: -1} }

// Key returns the path of an entry of a mapping.
func (p *Path) Key(key string) *Path { return &Path{up: p, key: key, index: -1} }

// Index returns the path of an item of a list.
func (p *Path) Index(i int) *Path { return &Path{up: p, index: i} }

// String renders the path, such as "listeners[0].limits.body".
func (p *Path) String() string {
	var b strings.Builder
	p.write(&b)
	return b.String()
}

func (p *Path) write(b *strings.Builder) {
	if p == nil {
		return
	}
	p.up.write(b)
	switch {
	case p.index >= 0:
		b.WriteByte('[')
		b.WriteString(strconv.Itoa(p.index))
		b.WriteByte(']')
	case p.key != "":
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(quoteKey(p.key))
	}
}

// quoteKey keeps keys such as "*.example.com" apart from the dots of a path. A
// root may hold dots and brackets of its own.
func quoteKey(key string) string {
	if strings.ContainsAny(key, " \"\n") {
		return strconv.Quote(key)
	}
	return key
}

// Join appends a path to another, for messages.
func Join(a, b string) string {
	if a == "" || b == "" || b[0] == '[' {
		return a + b
	}
	return a + "." + b
}

type step struct {
	key   string
	index int
}

// split takes a path apart; it reads what Path writes. A key in quotes may hold dots
// and brackets.
func split(path string) []step {
	var steps []step
	for path != "" {
		switch path[0] {
		case '.':
			path = path[1:]
		case '[':
			number, rest, _ := strings.Cut(path[1:], "]")
			if n, err := strconv.Atoi(number); err == nil {
				steps = append(steps, step{index: n})
			}
			path = rest
		case '"':
			quoted, err := strconv.QuotedPrefix(path)
			if err != nil {
				return steps
			}
			key, _ := strconv.Unquote(quoted)
			steps = append(steps, step{key: key, index: -1})
			path = path[len(quoted):]
		default:
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			steps = append(steps, step{key: path[:end], index: -1})
			path = path[end:]
		}
	}
	return steps
}
