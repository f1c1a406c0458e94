package dubbo

import (
	"github.com/corelane/corelane/codec"
)

// Attachments are a map at the end of a body. Those that are strings are the
// fields of a head, in the same order and before any other field; so the field
// of an attachment is found by counting.

// entry is one attachment.
type entry struct {
	from, to   int        // its bytes
	key, value codec.Span // empty unless string
	isField    bool
}

// openMap enters the attachments, which come next. ok false: fault is set. With
// none, null stands for them and is taken.
func (s *scanner) openMap() (some, ok bool) {
	tag, ok := s.peek()
	if !ok {
		return false, false
	}
	s.at++
	switch tag {
	case tagNull:
		return false, true
	case tagMap:
		s.refs++
		return true, true
	case tagTypedMap:
		s.refs++
		return true, s.typeName()
	}
	s.at--
	return false, s.fail(faultAttachments)
}

// next reads an attachment; more is false behind the last one.
func (s *scanner) next(e *entry) (more, ok bool) {
	tag, ok := s.peek()
	if !ok {
		return false, false
	}
	if tag == tagEnd {
		s.at++
		return false, true
	}
	*e = entry{from: s.at}
	keyed, ok := s.textSpan(&e.key)
	if !ok {
		return false, false
	}
	valued, ok := s.textSpan(&e.value)
	if !ok {
		return false, false
	}
	e.to = s.at
	e.isField = keyed && valued && isFieldName(e.key.In(s.b))
	return true, true
}

// textSpan skips a value and says whether it is a string in one piece, which it
// then returns.
func (s *scanner) textSpan(span *codec.Span) (isText, ok bool) {
	tag, ok := s.peek()
	if !ok {
		return false, false
	}
	if tags[tag].kind != kindString || tag == tagStringPart {
		return false, s.value(1)
	}
	*span, ok = s.token()
	return true, ok
}

// plain says that the attachments can be read again without what stands in front
// of them: nothing in them is counted, and nothing refers to what is.
func plain(value byte) bool { return tags[value].kind != kindContainer }

// meant are attachments that say what is called and how. They are no fields: what
// matters of them has a field of its own, and no field becomes one, so that no
// client of another protocol can set them.
var meant = [...]string{
	keyPath, keyInterface, keyGroup, keyVersion, keyTimeout, keyDubbo, keyGeneric, keyToken, "async",
}

const (
	keyPath      = "path"
	keyInterface = "interface"
	keyGroup     = "group"
	keyVersion   = "version"
	keyTimeout   = "timeout"
	keyDubbo     = "dubbo"
	keyGeneric   = "generic"
	keyToken     = "token"
)

// notFields are the known names that an attachment does not set: the gateway's
// own, those of a connection, and those that describe a body that it has not.
var notFields = codec.SetOf(codec.Host, codec.ContentLength, codec.TransferEncoding, codec.Connection, codec.KeepAlive,
	codec.ProxyConnection, codec.TE, codec.Trailer, codec.Upgrade, codec.HTTP2Settings, codec.Expect,
	codec.XRPCGroup, codec.XRPCVersion, codec.XTimeoutMs, codec.ContentType, codec.ContentEncoding, codec.ContentRange)

// attached are the known names that become attachments where they were none: who
// asks, and for whom. The others belong to HTTP.
var attached = codec.SetOf(codec.Unknown, codec.XForwardedFor, codec.XRealIP, codec.Forwarded, codec.XRequestID,
	codec.Traceparent, codec.Tracestate, codec.XGrayTag, codec.Authorization)

func isFieldName(key []byte) bool {
	return codec.IsToken(key) && !notFields.Has(codec.Lookup(key)) && !isMeant(key)
}

func isMeant(key []byte) bool {
	for _, name := range meant {
		if codec.EqualFold(key, name) {
			return true
		}
	}
	return false
}

// isNew says whether field i of h becomes an attachment where it was none.
func isNew(h *codec.Head, i int) bool {
	return !h.Removed(i) && attached.Has(h.Known(i)) && !isMeant(h.Name(i))
}

// unchanged says whether a field still says what the attachment does. Bytes that
// no field may have were replaced by spaces.
func unchanged(field, value []byte) bool {
	if len(field) != len(value) {
		return false
	}
	for i, c := range value {
		if field[i] != c && (field[i] != ' ' || codec.IsValueByte(c)) {
			return false
		}
	}
	return true
}

// appendName appends the key of a new attachment. Names that the gateway knows
// are written in lower case, others as they are: keys of attachments have one.
func appendName(dst []byte, h *codec.Head, i int) []byte {
	from := len(dst)
	dst = appendText(dst, h.Name(i))
	if h.Known(i) != codec.Unknown {
		for k := from + 1; k < len(dst); k++ {
			if c := dst[k]; c >= 'A' && c <= 'Z' {
				dst[k] = c | 0x20
			}
		}
	}
	return dst
}
