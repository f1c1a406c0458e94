package layout

import (
	"strconv"
	"strings"

	"github.com/corelane/corelane/codec"
)

// part is a piece of the body of an error reply: text as it is, or a value.
type part struct {
	text  string
	value value
}

// value is what a piece of a body stands for.
type value uint8

const (
	plainText value = iota
	theStatus
	theReason
	theMessage
	theTraceID
)

var values = map[string]value{"status": theStatus, "reason": theReason, "message": theMessage, "trace_id": theTraceID}

// parseTemplate splits the body of an error reply. Braces that hold no name are
// text, so that a body may be JSON. problem is what is wrong, or empty.
func parseTemplate(text string) (parts []part, problem string) {
	from := 0
	for at := 0; at < len(text); at++ {
		end := strings.IndexByte(text[at:], '}')
		if text[at] != '{' || end < 0 || !isName(text[at+1:at+end]) {
			continue
		}
		name := text[at+1 : at+end]
		v, ok := values[name]
		if !ok {
			return nil, "unknown value {" + name + "}: there are {status}, {reason}, {message} and {trace_id}"
		}
		parts = append(parts, part{text: text[from:at]}, part{value: v})
		at += end
		from = at + 1
	}
	return append(parts, part{text: text[from:]}), ""
}

// isName tells names from what JSON has between braces.
func isName(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && c != '_' {
			return false
		}
	}
	return s != ""
}

// AppendFailure implements codec.Protocol. A layout that does not say how an
// error reply is built has none: bytes that a client takes for a good response
// would be worse than a closed connection.
func (p *Protocol) AppendFailure(dst []byte, f *codec.Failure) []byte {
	how := p.layout.Failure
	if how == nil {
		return dst
	}
	from := len(dst)
	header := p.template
	if how.Echo && f.Request != nil && len(f.Request.Raw()) == len(p.template) {
		header = f.Request.Raw()
	}
	dst = append(dst, header...)
	if p.admit(dst[from:], f.Status) != nil {
		return dst[:from]
	}
	body := len(dst)
	for _, one := range p.body {
		dst = one.append(dst, f)
	}
	if most := p.maxFrame - len(p.template); len(dst)-body > most {
		dst = dst[:body+most]
	}
	if p.finish(dst[from:body], f.ID, len(dst)-body) != nil {
		return dst[:from]
	}
	return dst
}

// append appends what the piece stands for.
func (p *part) append(dst []byte, f *codec.Failure) []byte {
	switch p.value {
	case theStatus:
		return strconv.AppendInt(dst, int64(f.Status), 10)
	case theReason:
		return append(dst, f.Reason.String()...)
	case theMessage:
		return append(dst, f.Message...)
	case theTraceID:
		return append(dst, f.TraceID...)
	}
	return append(dst, p.text...)
}
