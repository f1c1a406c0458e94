package config

import "bytes"

// chunk is one item of the routes of a file, parsed alone so that a document of
// many routes never stands in memory as one syntax tree, and so that an item
// that has not changed is not parsed again.
type chunk struct {
	text []byte
	line int
}

// splitRoutes cuts the items of top-level `routes:` lists out of a text. The
// rest keeps its line numbers: an empty line stands for each line cut out. Text
// that is written in another way is left in the rest.
func splitRoutes(text []byte) (rest []byte, items []chunk) {
	rest = make([]byte, 0, min(len(text), 64<<10))
	s := splitter{}
	for line := 1; len(text) > 0; line++ {
		end := bytes.IndexByte(text, '\n') + 1
		if end == 0 {
			end = len(text)
		}
		if s.take(text[:end], line) {
			rest = append(rest, '\n')
		} else {
			rest = append(rest, text[:end]...)
		}
		text = text[end:]
	}
	return rest, s.items
}

// splitter looks at one line after the other.
type splitter struct {
	items []chunk
	// inside tells that a `routes:` line was seen and its list has not ended;
	// indent is that of its dashes, -1 before the first.
	inside bool
	indent int
}

// take tells whether the line belongs to an item.
func (s *splitter) take(line []byte, number int) bool {
	trimmed := bytes.TrimLeft(line, " ")
	indent := len(line) - len(trimmed)
	content := bytes.TrimSpace(trimmed)
	switch {
	case !s.inside:
		s.inside, s.indent = isRoutesKey(line), -1
		return false
	case len(content) == 0 || content[0] == '#':
		return s.indent >= 0 && s.extend(line)
	case s.indent < 0 && isDash(content):
		s.indent = indent
		return s.open(line, number)
	case s.indent >= 0 && indent == s.indent && isDash(content):
		return s.open(line, number)
	case s.indent >= 0 && indent > s.indent:
		return s.extend(line)
	}
	s.inside, s.indent = isRoutesKey(line), -1
	return false
}

func (s *splitter) open(line []byte, number int) bool {
	s.items = append(s.items, chunk{text: line, line: number})
	return true
}

// extend relies on the lines of an item lying side by side in one text.
func (s *splitter) extend(line []byte) bool {
	last := &s.items[len(s.items)-1]
	last.text = last.text[:len(last.text)+len(line)]
	return true
}

func isDash(content []byte) bool {
	return content[0] == '-' && (len(content) == 1 || content[1] == ' ')
}

// isRoutesKey tells whether a line is the key `routes:` with nothing but a
// comment behind it.
func isRoutesKey(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("routes:"))
	if !ok || len(rest) == 0 {
		return ok
	}
	if rest[0] != ' ' && rest[0] != '\n' && rest[0] != '\r' {
		return false
	}
	rest = bytes.TrimSpace(rest)
	return len(rest) == 0 || rest[0] == '#'
}
