package snapshot

import "bytes"

// Passage says where the connections of a tcp listener go, which are passed
// through unread. It does not change.
type Passage struct {
	rest  *Route
	exact map[string]*Route
	wild  map[string]*Route // by suffix, from the dot on
}

// NewPassage returns a passage. rest gets the connections that no name sends
// elsewhere; nil: they are refused. names are host names and patterns such as
// *.example.com, in lower case, that clients of TLS ask for.
func NewPassage(rest *Route, names map[string]*Route) *Passage {
	p := &Passage{rest: rest, exact: make(map[string]*Route), wild: make(map[string]*Route)}
	for name, to := range names {
		if name[0] == '*' {
			p.wild[name[1:]] = to
			continue
		}
		p.exact[name] = to
	}
	return p
}

// Each calls fn with every place that connections go to.
func (p *Passage) Each(fn func(*Route)) {
	if p.rest != nil {
		fn(p.rest)
	}
	for _, to := range p.exact {
		fn(to)
	}
	for _, to := range p.wild {
		fn(to)
	}
}

// Peeks tells whether the server name decides, so that it has to be looked for.
func (p *Passage) Peeks() bool { return len(p.exact)+len(p.wild) > 0 }

// Route returns where a connection for the name goes; nil: nowhere. The name is in
// lower case, empty if the client gave none. The most specific pattern decides, as
// it does for the hosts of routes.
func (p *Passage) Route(name []byte) *Route {
	if to := p.exact[string(name)]; to != nil {
		return to
	}
	for at := 1; at < len(name) && len(p.wild) > 0; at++ {
		dot := bytes.IndexByte(name[at:], '.')
		if dot < 0 {
			break
		}
		at += dot
		if to := p.wild[string(name[at:])]; to != nil {
			return to
		}
	}
	return p.rest
}
