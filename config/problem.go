package config

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Problem is one thing that is wrong in a document.
type Problem struct {
	// File is the source's name; empty for a problem of the whole.
	File string
	// Line and Column count from 1, columns in runes; 0: no place.
	Line, Column int
	// Path is the way of keys, such as routes[3].match.path.
	Path string
	// Message says what is wrong and, where possible, what would be right. It
	// never holds the value of a ${env:…} or ${file:…}.
	Message string
	// Excerpt is the place in the source with a caret below it.
	Excerpt string
}

// String returns the problem in one line.
func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File)
		b.WriteByte(':')
		if p.Line > 0 {
			fmt.Fprintf(&b, "%d:%d:", p.Line, p.Column)
		}
		b.WriteByte(' ')
	}
	if p.Path != "" {
		b.WriteString(p.Path)
		b.WriteString(": ")
	}
	b.WriteString(p.Message)
	return b.String()
}

// Problems is everything that is wrong, in the order of the sources. As an
// error its text is the whole report with excerpts.
type Problems []Problem

// Error returns the whole report.
func (p Problems) Error() string {
	var b strings.Builder
	p.write(&b)
	return strings.TrimRight(b.String(), "\n")
}

func (p Problems) write(w io.Writer) {
	for i, one := range p {
		if i == maxProblems {
			fmt.Fprintf(w, "and %d more\n", len(p)-i)
			return
		}
		fmt.Fprintf(w, "%s\n%s", one, one.Excerpt)
	}
}

// Brief returns the first problem in one line and the number of the others.
func (p Problems) Brief() string {
	switch len(p) {
	case 0:
		return ""
	case 1:
		return p[0].String()
	}
	return fmt.Sprintf("%s (and %d more)", p[0], len(p)-1)
}

func (p Problems) sort(files []File) {
	order := make(map[string]int, len(files))
	for i, f := range files {
		order[f.Name] = i
	}
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(order[a.File], order[b.File]), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// secretKey finds values in an excerpt that must not reach a log.
var secretKey = regexp.MustCompile(`(?i)((?:token|secret|password)\w*["']?\s*:\s*)("[^"]*"|'[^']*'|[^\s,}\]]+)`)

// excerpt shows the lines around a place: of a long one what is near it. Values
// of keys that sound like a secret are masked.
func excerpt(lines [][]byte, line, column int) string {
	if line <= 0 || line > len(lines) {
		return ""
	}
	caret := max(0, column-1)
	if runes := []rune(string(lines[line-1])); caret < len(runes) {
		caret = utf8.RuneCountInString(withoutSecrets([]byte(string(runes[:caret]))))
	}
	from := max(0, min(caret-maxExcerptLine*3/4, utf8.RuneCountInString(withoutSecrets(lines[line-1]))-maxExcerptLine))
	if from > 0 {
		caret -= from - 1 // for the mark of what is left out
	}
	var b strings.Builder
	for n := max(1, line-1); n <= line; n++ {
		fmt.Fprintf(&b, "  %5d | %s\n", n, shownLine(lines[n-1], from))
	}
	fmt.Fprintf(&b, "        | %s^\n", strings.Repeat(" ", min(caret, maxExcerptLine)))
	return b.String()
}

// shownLine is a line from a rune on, as far as an excerpt goes.
func shownLine(line []byte, from int) string {
	runes := []rune(withoutSecrets(line))
	mark := ""
	if from > 0 {
		mark = "…"
	}
	runes = runes[min(from, len(runes)):]
	if len(runes) > maxExcerptLine {
		return mark + string(runes[:maxExcerptLine]) + "…"
	}
	return mark + string(runes)
}

func withoutSecrets(line []byte) string {
	text := strings.ReplaceAll(strings.TrimRight(string(line), "\r"), "\t", " ")
	text = strings.ToValidUTF8(text, "?")
	return secretKey.ReplaceAllStringFunc(text, func(found string) string {
		m := secretKey.FindStringSubmatch(found)
		if strings.Contains(m[2], "${") {
			return found
		}
		return m[1] + "***"
	})
}
