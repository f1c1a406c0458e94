package route

import "strings"

// step is one segment of a template or prefix: a literal, which may be empty,
// or a {name}.
type step struct {
	literal string
	param   bool
}

// appendSteps appends the segments of a valid pattern. A prefix gives up its
// final "/", which says where at the last node the route belongs, not which node.
func appendSteps(dst []step, kind Kind, pattern string) []step {
	if kind == Prefix {
		pattern = strings.TrimSuffix(pattern, "/")
		if pattern == "" {
			return dst
		}
	}
	for segment := range strings.SplitSeq(pattern[1:], "/") {
		if kind == Template && strings.HasPrefix(segment, "{") {
			dst = append(dst, step{param: true})
			continue
		}
		dst = append(dst, step{literal: segment})
	}
	return dst
}

// paramNames returns the names of a valid template in the order written.
func paramNames(pattern string) []string {
	count := strings.Count(pattern, "{")
	if count == 0 {
		return nil
	}
	names := make([]string, 0, count)
	for segment := range strings.SplitSeq(pattern[1:], "/") {
		if name, ok := paramName(segment); ok {
			names = append(names, name)
		}
	}
	return names
}

// paramName returns the name in a segment that is a whole {name}. Names are
// words of letters, digits, "_" and "-" that do not begin with a digit or "-".
func paramName(segment string) (string, bool) {
	if len(segment) < 3 || segment[0] != '{' || segment[len(segment)-1] != '}' {
		return "", false
	}
	name := segment[1 : len(segment)-1]
	for i := range len(name) {
		c := name[i]
		first := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
		later := c >= '0' && c <= '9' || c == '-'
		if !first && (i == 0 || !later) {
			return "", false
		}
	}
	return name, true
}
