package route

import (
	"errors"
	"fmt"
	"strings"
)

// Space says how requests name what they want. Each has hosts and patterns of its
// own: a request is matched by routes of its space alone.
type Space uint8

const (
	// Paths: by path, as HTTP does.
	Paths Space = iota
	// Calls: by interface and method of a remote procedure call. A pattern is
	// "/interface/method", or "/interface" as a Prefix for all its methods.
	Calls
	// Keys: by the key of a private protocol, which may be any bytes. A pattern is
	// the key, and always Exact.
	Keys

	spaceCount = 3
)

// String returns what the requests name, in lower case.
func (s Space) String() string {
	switch s {
	case Paths:
		return "path"
	case Calls:
		return "call"
	case Keys:
		return "key"
	}
	return "unknown"
}

// checkSpace reports what is wrong with the pattern, and conditions that hold for
// no request of the space.
func (s *Spec) checkSpace() error {
	switch s.Space {
	case Paths:
		return checkPattern(s.Kind, s.Pattern)
	case Calls:
		return errors.Join(checkCall(s.Kind, s.Pattern), s.checkFieldsOnly())
	case Keys:
		return errors.Join(checkKey(s.Kind, s.Pattern), s.checkFieldsOnly())
	}
	return fmt.Errorf("unknown space %d", s.Space)
}

func checkCall(kind Kind, pattern string) error {
	iface, method, whole := strings.Cut(strings.TrimPrefix(pattern, "/"), "/")
	sound := strings.HasPrefix(pattern, "/") && IsCallName(iface) && (!whole || IsCallName(method))
	switch {
	case len(pattern) > MaxPattern:
		return fmt.Errorf("pattern of %d bytes is longer than %d", len(pattern), MaxPattern)
	case !sound, whole && kind != Exact, !whole && kind != Prefix:
		return fmt.Errorf("pattern %q is neither /interface/method nor the prefix /interface", pattern)
	}
	return nil
}

func checkKey(kind Kind, key string) error {
	switch {
	case key == "":
		return errors.New("pattern is empty")
	case len(key) > MaxPattern:
		return fmt.Errorf("pattern of %d bytes is longer than %d", len(key), MaxPattern)
	case kind != Exact:
		return errors.New("pattern of a key is always exact")
	}
	return nil
}

// checkFieldsOnly refuses conditions on what only requests by path have.
func (s *Spec) checkFieldsOnly() error {
	var wrong []error
	for _, c := range []struct {
		what  string
		given bool
	}{
		{"method", len(s.Methods) > 0}, {"query", len(s.Query) > 0}, {"cookie", len(s.Cookies) > 0}, {"regex", s.Regex != ""},
	} {
		if c.given {
			wrong = append(wrong, fmt.Errorf("%s conditions are for requests by path: a %s has fields only", c.what, s.Space))
		}
	}
	return errors.Join(wrong...)
}

// IsCallName tells whether a text can name an interface or a method: ASCII
// letters, digits and . _ $ - : only, and neither "." nor "..". Any goroutine may
// call it.
func IsCallName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && !strings.ContainsRune("._$-:", rune(c)) {
			return false
		}
	}
	return name != "" && name != "." && name != ".."
}
