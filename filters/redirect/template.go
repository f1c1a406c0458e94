package redirect

import (
	"errors"
	"fmt"
	"strings"

	"github.com/corelane/corelane/filters"
)

// template is a location ready to be filled in.
type template []piece

// piece is fixed text or one part of the request.
type piece struct {
	part part
	// text of a literal.
	text string
	// zone of the location where the piece stands; it decides the encoding.
	zone zone
}

// part is what a piece stands for.
type part uint8

const (
	literal part = iota
	host
	path
	query
	scheme
)

var parts = map[string]part{"host": host, "path": path, "query": query, "scheme": scheme}

// zone is a region of a URL (RFC 3986 §3). Zones follow one another in this
// order and some may be missing.
type zone uint8

const (
	inScheme zone = iota
	inAuthority
	inPath
	inQuery
	inFragment
)

var (
	errEmpty     = errors.New("it is empty")
	errBrace     = errors.New("a brace has no partner")
	errStart     = errors.New("it must begin with http://, https://, {scheme}://, {path} or one slash")
	errAuthority = errors.New("a host must follow ://, of letters, digits, '.', '-', '_' and {host}, with or without a port")
	errQuery     = errors.New("{query} must come last and follow '?' or '&'")
	errEscape    = errors.New("two hexadecimal digits must follow '%'")
	errBracket   = errors.New("brackets are for an address of IPv6, write %5B and %5D")
	errFragment  = errors.New("a fragment must be fixed text")
)

// parse checks the text of a location and takes it apart.
func parse(location string) (template, error) {
	if location == "" {
		return nil, errEmpty
	}
	if len(location) > filters.MaxFieldValue {
		return nil, fmt.Errorf("%d bytes are too many, %d are allowed", len(location), filters.MaxFieldValue)
	}
	pieces, err := split(location)
	if err != nil {
		return nil, err
	}
	t, rest, err := splitOrigin(pieces)
	if err != nil {
		return nil, err
	}
	for _, p := range rest {
		t = appendZones(t, p)
	}
	return t, t.check()
}

// split separates literals and placeholders.
func split(s string) (pieces []piece, err error) {
	for s != "" {
		text, rest, found := strings.Cut(s, "{")
		if strings.Contains(text, "}") {
			return nil, errBrace
		}
		if err := checkLiteral(text); err != nil {
			return nil, err
		}
		if text != "" {
			pieces = append(pieces, piece{text: text})
		}
		if s = rest; !found {
			break
		}
		name, rest, closed := strings.Cut(s, "}")
		if !closed {
			return nil, errBrace
		}
		p, known := parts[name]
		if !known {
			return nil, fmt.Errorf("{%s} is not one of {host}, {path}, {query} and {scheme}", name)
		}
		pieces, s = append(pieces, piece{part: p}), rest
	}
	return pieces, nil
}

// checkLiteral refuses what cannot stand in a URL (RFC 3986 §2), line breaks
// among it.
func checkLiteral(text string) error {
	for i := range len(text) {
		c := text[i]
		if !queryBytes[c] && c != '#' && c != '[' && c != ']' {
			return fmt.Errorf("the byte %q cannot stand in a URL, write it percent-encoded", c)
		}
		if c == '%' && !isEscape(text[i:]) {
			return errEscape
		}
	}
	return nil
}

// isEscape tells whether text begins with a complete percent-encoded byte.
func isEscape(text string) bool {
	return len(text) > 2 && hexDigits[text[1]] && hexDigits[text[2]]
}

// splitOrigin takes scheme and authority off the front. A location without them
// stays on the host that the client is talking to.
func splitOrigin(pieces []piece) (origin template, rest []piece, err error) {
	first := pieces[0]
	switch {
	case first.part == path, isRooted(first.text):
		return nil, pieces, nil
	case first.part == scheme && len(pieces) > 1 && strings.HasPrefix(pieces[1].text, "://"):
		origin = template{{part: scheme, zone: inScheme}}
		pieces = pieces[1:]
	}
	name, after, found := strings.Cut(pieces[0].text, "://")
	switch {
	case !found:
		return nil, nil, errStart
	case origin == nil && name != "http" && name != "https":
		return nil, nil, errStart
	}
	origin = append(origin, piece{text: name + "://", zone: inScheme})
	pieces = append([]piece{{text: after}}, pieces[1:]...)
	return splitAuthority(origin, pieces)
}

// isRooted tells whether text is a path and not "//", which would name a host.
func isRooted(text string) bool {
	return strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//")
}

// splitAuthority takes the pieces up to the path, the query or the fragment.
func splitAuthority(origin template, pieces []piece) (template, []piece, error) {
	from := len(origin)
	for i, p := range pieces {
		if p.part == literal {
			end := strings.IndexAny(p.text, "/?#")
			if end >= 0 {
				origin = appendText(origin, p.text[:end], inAuthority)
				rest := append([]piece{{text: p.text[end:]}}, pieces[i+1:]...)
				return origin, rest, checkAuthority(origin[from:])
			}
			origin = appendText(origin, p.text, inAuthority)
			continue
		}
		if p.part != host {
			return origin, pieces[i:], checkAuthority(origin[from:])
		}
		origin = append(origin, piece{part: host, zone: inAuthority})
	}
	return origin, nil, checkAuthority(origin[from:])
}

// checkAuthority tries the authority with a name in place of {host}.
func checkAuthority(pieces template) error {
	var sample []byte
	for _, p := range pieces {
		if p.part == host {
			sample = append(sample, "host"...)
		}
		sample = append(sample, p.text...)
	}
	name, port := splitPort(sample)
	if !isHost(name) || !isPort(port) {
		return errAuthority
	}
	return nil
}

// appendZones adds a piece behind the authority, cut where '?' begins the query
// and '#' the fragment. The mark belongs to the zone that it begins.
func appendZones(t template, p piece) template {
	z := inPath
	if len(t) > 0 {
		z = max(t[len(t)-1].zone, inPath)
	}
	if p.part != literal {
		p.zone = z
		return append(t, p)
	}
	text := p.text
	for end := z.end(text); end >= 0; end = z.end(text) {
		t = appendText(t, text[:end], z)
		if z = inQuery; text[end] == '#' {
			z = inFragment
		}
		text = text[end:]
	}
	return appendText(t, text, z)
}

// end returns where the next zone begins in the text, or -1.
func (z zone) end(text string) int {
	switch z {
	case inPath:
		return strings.IndexAny(text, "?#")
	case inQuery:
		return strings.IndexByte(text, '#')
	}
	return -1
}

func appendText(t template, text string, z zone) template {
	if text == "" {
		return t
	}
	return append(t, piece{text: text, zone: z})
}

// check holds the placeholders to the zones where they make sense.
func (t template) check() error {
	for i, p := range t {
		switch {
		case p.part == literal && p.zone >= inPath && strings.ContainsAny(p.text, "[]"):
			return errBracket
		case p.part == literal:
		case p.zone == inFragment:
			return errFragment
		case p.part == query && !t.queryFits(i):
			return errQuery
		}
	}
	return nil
}

// queryFits tells whether the {query} at i ends the query and begins a pair.
func (t template) queryFits(i int) bool {
	if t[i].zone != inQuery {
		return false
	}
	if i+1 < len(t) && t[i+1].zone == inQuery {
		return false
	}
	before := t[i-1].text
	return strings.HasSuffix(before, "?") || strings.HasSuffix(before, "&")
}

func (t template) isFixed() bool {
	for _, p := range t {
		if p.part != literal {
			return false
		}
	}
	return true
}
