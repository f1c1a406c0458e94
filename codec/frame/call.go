package frame

import (
	"bytes"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/codec/http1"
)

// checkPseudo judges the value of a pseudo name by itself.
func checkPseudo(p Pseudo, value []byte) *fault {
	switch p {
	case PseudoPath:
		return checkPath(value)
	case PseudoVerb:
		if len(value) > maxVerb || !codec.IsToken(value) {
			return errVerb
		}
		if codec.ParseMethod(value) == codec.CONNECT {
			return errConnect
		}
	case PseudoAuthority:
		if !http1.ValidAuthority(value) {
			return errAuthority
		}
	case PseudoTimeout:
		if _, ok := parseTimeout(value); !ok {
			return errTimeout
		}
	}
	return nil
}

// checkPath: visible ASCII without '#', as in a request target of HTTP. Broken
// escapes are left to whoever normalises the path.
func checkPath(b []byte) *fault {
	if string(b) == "*" {
		return nil
	}
	if len(b) == 0 || b[0] != '/' {
		return errPath
	}
	for _, c := range b {
		if !codec.IsTargetByte(c) {
			return errPath
		}
	}
	return nil
}

// parseTimeout reads milliseconds: decimal digits without leading zeros, from 1 to
// MaxTimeout.
func parseTimeout(b []byte) (ms int64, ok bool) {
	const digits = len("2147483647")
	if len(b) == 0 || len(b) > digits || b[0] == '0' {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		ms = ms*10 + int64(c-'0')
	}
	return ms, ms <= MaxTimeout
}

// Sets of pseudo names.
const (
	byPath   = 1<<PseudoPath | 1<<PseudoVerb
	byMethod = 1<<PseudoInterface | 1<<PseudoMethod | 1<<PseudoGroup | 1<<PseudoVersion
	byKey    = 1 << PseudoKey
)

// checkCall judges the pseudo names of a request together: it wants something,
// and names it in one way.
func (p *Pairs) checkCall() *fault {
	if !p.request {
		return nil
	}
	path, method, key := p.seen&byPath != 0, p.seen&byMethod != 0, p.seen&byKey != 0
	switch {
	case path && method, path && key, method && key:
		return errCallTwice
	case p.asterisk && !p.options:
		return errPath
	case path && p.Has(PseudoPath), key:
		return nil
	case method && p.Has(PseudoInterface) && p.Has(PseudoMethod):
		return nil
	}
	return errCallMissing
}

// splitPath divides a path from its query; from is where it begins.
func splitPath(l *codec.RequestLine, path []byte) {
	l.Path = l.Target
	if i := bytes.IndexByte(path, '?'); i >= 0 {
		l.Path.To = l.Target.From + uint32(i)
		l.Query = codec.Span{From: l.Path.To + 1, To: l.Target.To}
		l.HasQuery = true
	}
}
