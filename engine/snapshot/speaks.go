package snapshot

import "github.com/corelane/corelane/codec"

// The names of what has no codec.Protocol: what the engine speaks by itself, and
// what it passes through.
const (
	HTTP = "http"
	TCP  = "tcp"
)

// Speaks names what the listener's clients speak; nil, a listener that the
// generation does not know, speaks HTTP.
func (l *Listener) Speaks() string {
	switch {
	case l == nil:
		return HTTP
	case l.Passage != nil:
		return TCP
	}
	return nameOf(l.Protocol)
}

// Speaks names what the service's endpoints speak.
func (s *Service) Speaks() string {
	if s.Opaque {
		return TCP
	}
	return nameOf(s.Protocol)
}

func nameOf(p codec.Protocol) string {
	if p == nil {
		return HTTP
	}
	return p.Name()
}
