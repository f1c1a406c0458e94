package route

import (
	"fmt"
	"slices"
	"strings"
)

// CheckExpansion reports what is wrong with a text for [ExpandTemplate] on a
// route: braces that are not pairs around a name, or a name that the route's
// pattern does not have.
func CheckExpansion(text string, spec *Spec) error {
	var names []string
	if spec.Kind == Template && checkPattern(spec.Kind, spec.Pattern) == nil {
		names = paramNames(spec.Pattern)
	}
	for rest := text; ; {
		open := strings.IndexAny(rest, "{}")
		if open < 0 {
			return nil
		}
		length := strings.IndexByte(rest[open:], '}')
		if length <= 0 {
			return fmt.Errorf("%q has a brace without its pair", text)
		}
		name, ok := paramName(rest[open : open+length+1])
		if !ok {
			return fmt.Errorf("%q: %q is not a {name}", text, rest[open:open+length+1])
		}
		if !slices.Contains(names, name) {
			return fmt.Errorf("%q: the route's pattern has no {%s}", text, name)
		}
		rest = rest[open+length+1:]
	}
}

// ExpandTemplate appends a text in which each {name} is replaced by the segment
// that stood for it in the path that m found. A name that the route does not
// have is replaced by nothing; a brace without its pair stands for itself. It
// allocates only if dst has too little room.
func ExpandTemplate[T any](dst []byte, text string, m *Match[T], path []byte) []byte {
	for {
		open := strings.IndexByte(text, '{')
		if open < 0 {
			return append(dst, text...)
		}
		length := strings.IndexByte(text[open:], '}')
		if length < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:open]...)
		dst = append(dst, m.Param(path, text[open+1:open+length])...)
		text = text[open+length+1:]
	}
}
