package codec

import "unsafe"

// CallKind says how a request names what it wants.
type CallKind uint8

const (
	// ByPath: by method and path, as HTTP does.
	ByPath CallKind = iota
	// ByMethod: by interface and method of a remote procedure call.
	ByMethod
	// ByKey: by the route key of a private protocol.
	ByKey
)

// Call says how the request names what it wants. Calls are matched by rpc
// conditions of routes and never by paths, and requests by path never by those.
func (h *Head) Call() CallKind { return h.call }

// SetMethodCall makes the head a call of a method: POST, and the path
// /interface/method for protocols that know paths. Interface and method are
// names: ASCII letters, digits and . _ $ - : only, not "." or "..", not empty.
// False: they are not, and the head is as it was.
func (h *Head) SetMethodCall(iface, method []byte) bool {
	if !isCallName(iface) || !isCallName(method) {
		return false
	}
	from := uint32(len(h.buf))
	h.buf = append(append(append(append(h.buf, '/'), iface...), '/'), method...)
	h.setCall(ByMethod, Span{from, uint32(len(h.buf))})
	h.line.Path = h.line.Target
	return true
}

// SetKeyCall makes the head a call by a route key: POST, and the key as a path
// for protocols that know paths, with percent-encoding where it is needed. The
// key may be any bytes; Key returns them.
func (h *Head) SetKeyCall(key []byte) {
	h.setCall(ByKey, h.put(key))
	from := len(h.buf)
	h.buf = appendTarget(append(h.buf, '/'), key, false)
	h.line.Path = Span{uint32(from), uint32(len(h.buf))}
}

func (h *Head) setCall(kind CallKind, target Span) {
	h.call = kind
	h.line = RequestLine{Method: h.put(postToken), ID: POST, Target: target, Authority: h.line.Authority}
	h.minor, h.lineLength = 1, 0
}

var postToken = []byte("POST")

// Key returns the route key of a call by key.
func (h *Head) Key() []byte { return h.line.Target.In(h.buf) }

// Interface and ProcedureName return the parts of a call of a method.
func (h *Head) Interface() []byte {
	t := h.line.Target.In(h.buf)
	return t[1 : 1+cutSlash(t[1:])]
}

// ProcedureName: see Interface.
func (h *Head) ProcedureName() []byte {
	t := h.line.Target.In(h.buf)
	return t[2+cutSlash(t[1:]):]
}

func cutSlash(b []byte) int {
	for i, c := range b {
		if c == '/' {
			return i
		}
	}
	return len(b)
}

// isCallName says whether b can stand in a path as it is.
func isCallName(b []byte) bool {
	for _, c := range b {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '.' && c != '_' && c != '$' && c != '-' && c != ':' {
			return false
		}
	}
	s := unsafe.String(unsafe.SliceData(b), len(b))
	return s != "" && s != "." && s != ".."
}
