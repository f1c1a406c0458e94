package snapshot

import "github.com/corelane/corelane/codec"

// HTTP is the name of the protocol that the engine speaks by itself.
const HTTP = "http"

// Speaks names what the listener's clients speak; nil, a listener that the
// generation does not know, speaks HTTP.
func (l *Listener) Speaks() string {
	if l == nil {
		return HTTP
	}
	return nameOf(l.Protocol)
}

// Speaks names what the service's endpoints speak.
func (s *Service) Speaks() string { return nameOf(s.Protocol) }

func nameOf(p codec.Protocol) string {
	if p == nil {
		return HTTP
	}
	return p.Name()
}
