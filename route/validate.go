package route

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// check reports what is wrong with the spec, its regular expression apart.
func (s *Spec) check() error {
	return errors.Join(
		s.checkID(), s.checkSpace(), checkHosts(s.Hosts), checkMethods(s.Methods),
		s.checkCount(), checkTokens("header", s.Headers), checkQuery(s.Query), checkTokens("cookie", s.Cookies),
	)
}

func (s *Spec) checkID() error {
	if s.ID == "" {
		return errors.New("id is empty")
	}
	return nil
}

// checkPattern reports what is wrong with a pattern of that kind.
func checkPattern(kind Kind, pattern string) error {
	switch {
	case kind > Prefix:
		return fmt.Errorf("unknown kind of pattern %d", kind)
	case pattern == "":
		return errors.New("pattern is empty")
	case pattern[0] != '/':
		return fmt.Errorf("pattern %q does not start with /", pattern)
	case len(pattern) > MaxPattern:
		return fmt.Errorf("pattern of %d bytes is longer than %d", len(pattern), MaxPattern)
	}
	for i := range len(pattern) {
		if c := pattern[i]; c <= ' ' || c == 0x7f || c == '?' || c == '#' {
			return fmt.Errorf("pattern %q: %q cannot stand in a path", pattern, c)
		}
	}
	if err := checkNormal(pattern); err != nil {
		return err
	}
	if kind != Exact && strings.Count(pattern, "/") > MaxSegments {
		return fmt.Errorf("pattern %q has more than %d segments", pattern, MaxSegments)
	}
	if kind == Template {
		return checkTemplate(pattern)
	}
	if strings.ContainsAny(pattern, "{}") {
		return fmt.Errorf("pattern %q: {name} belongs in a template, not in %s", pattern, kind)
	}
	return nil
}

// checkNormal refuses a pattern that no normalised path can equal.
func checkNormal(pattern string) error {
	normal, ambiguous := Normalize(nil, []byte(pattern), PathOptions{})
	if ambiguous {
		return fmt.Errorf("pattern %q is not an unambiguous path", pattern)
	}
	if string(normal) != pattern {
		return fmt.Errorf("pattern %q is not normalised: write %q", pattern, normal)
	}
	return nil
}

// checkTemplate reports braces that are not whole segments and bad names.
func checkTemplate(pattern string) error {
	var names []string
	for segment := range strings.SplitSeq(pattern[1:], "/") {
		if !strings.ContainsAny(segment, "{}") {
			continue
		}
		name, ok := paramName(segment)
		if !ok {
			return fmt.Errorf("pattern %q: segment %q is not a whole {name}", pattern, segment)
		}
		if slices.Contains(names, name) {
			return fmt.Errorf("pattern %q: {%s} stands twice", pattern, name)
		}
		names = append(names, name)
	}
	if len(names) > MaxParams {
		return fmt.Errorf("pattern %q has more than %d names", pattern, MaxParams)
	}
	return nil
}

func checkHosts(hosts []string) error {
	if len(hosts) > MaxHosts {
		return fmt.Errorf("%d hosts are more than %d", len(hosts), MaxHosts)
	}
	seen := make(map[string]struct{}, len(hosts))
	for _, host := range hosts {
		if err := checkHost(host); err != nil {
			return fmt.Errorf("host %q: %w", host, err)
		}
		if _, twice := seen[host]; twice {
			return fmt.Errorf("host %q stands twice", host)
		}
		seen[host] = struct{}{}
	}
	return nil
}

// checkHost accepts what a Host field can name (RFC 3986 §3.2.2) in lower case
// and without port, and the same behind "*.".
func checkHost(host string) error {
	if strings.HasPrefix(host, "[") {
		return checkIPv6(host)
	}
	name := strings.TrimPrefix(host, "*.")
	if name == "*" {
		return errors.New("leave hosts out for any host")
	}
	if name == "" || len(host) > MaxHost {
		return fmt.Errorf("must have 1 to %d bytes", MaxHost)
	}
	for label := range strings.SplitSeq(name, ".") {
		if err := checkLabel(label); err != nil {
			return err
		}
	}
	return nil
}

// checkIPv6 compares no spellings: the pattern must be written as clients write it.
func checkIPv6(host string) error {
	inner := strings.TrimSuffix(host[1:], "]")
	address, err := netip.ParseAddr(inner)
	if err != nil || !address.Is6() || address.Zone() != "" || len(inner)+2 != len(host) {
		return errors.New("is not an IPv6 address in brackets")
	}
	if strings.ToLower(host) != host {
		return errors.New("must be in lower case")
	}
	return nil
}

func checkLabel(label string) error {
	if label == "" || len(label) > 63 {
		return errors.New("labels must have 1 to 63 bytes")
	}
	for i := range len(label) {
		switch c := label[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
		case c >= 'A' && c <= 'Z':
			return errors.New("must be in lower case")
		case c == '*':
			return errors.New("* may only stand first, as in *.example.com")
		case c == ':':
			return errors.New("must not have a port")
		default:
			return fmt.Errorf("%q cannot stand in a host name", c)
		}
	}
	return nil
}

func checkMethods(methods []string) error {
	if len(methods) > MaxMethods {
		return fmt.Errorf("%d methods are more than %d", len(methods), MaxMethods)
	}
	for _, method := range methods {
		if !isToken(method) {
			return fmt.Errorf("method %q is not a token", method)
		}
		upper := strings.ToUpper(method)
		if upper != method && methodBit([]byte(upper)) != 0 {
			return fmt.Errorf("method %q: methods have case, write %s", method, upper)
		}
	}
	return nil
}

func (s *Spec) checkCount() error {
	if n := len(s.Headers) + len(s.Query) + len(s.Cookies); n > MaxConditions {
		return fmt.Errorf("%d conditions are more than %d", n, MaxConditions)
	}
	return nil
}

// checkTokens reports names of fields or cookies that are none.
func checkTokens(what string, conditions []Condition) error {
	for _, c := range conditions {
		if !isToken(c.Name) {
			return fmt.Errorf("%s condition: name %q is not a token", what, c.Name)
		}
	}
	return nil
}

func checkQuery(conditions []Condition) error {
	for _, c := range conditions {
		if c.Name == "" {
			return errors.New("query condition: name is empty")
		}
	}
	return nil
}

// isToken follows RFC 9110 §5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		digit := c >= '0' && c <= '9'
		if !letter && !digit && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}

// compileRegex returns nil for no expression.
func compileRegex(text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	if len(text) > MaxRegex {
		return nil, fmt.Errorf("regex of %d bytes is longer than %d", len(text), MaxRegex)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("regex %q: %w", text, err)
	}
	return re, nil
}
