package dubbo

import (
	"bytes"
	"encoding/binary"

	"github.com/corelane/corelane/codec"
)

// Methods of GenericService. Their first argument is the method that is meant.
var (
	invokeMethod      = []byte("$invoke")
	invokeAsyncMethod = []byte("$invokeAsync")
)

var (
	nameGroup   = []byte(codec.XRPCGroup.String())
	nameVersion = []byte(codec.XRPCVersion.String())
	nameTimeout = []byte(codec.XTimeoutMs.String())
	noVersion   = []byte("0.0.0")
)

// request is where the parts of a request's body stand.
type request struct {
	path, version, method codec.Span
	// real is the method that a generic call names; empty in other calls.
	real codec.Span
	// arguments is their number; they begin at first.
	arguments, first int
	// attachments is where the map begins.
	attachments int
}

// generic says that the arguments are method, types and arguments of another
// call.
func (r *request) generic() bool { return r.real.Len() > 0 }

// request reads everything of a body but the attachments.
func (s *scanner) request(r *request) bool {
	var types codec.Span
	*r = request{}
	if _, ok := s.token(); !ok { // the version of Dubbo
		return false
	}
	for _, span := range [...]*codec.Span{&r.path, &r.version, &r.method, &types} {
		var ok bool
		if *span, ok = s.token(); !ok {
			return false
		}
	}
	n, ok := countTypes(types.In(s.b))
	if !ok {
		return s.fail(faultTypes)
	}
	r.arguments, r.first = n, s.at
	method := r.method.In(s.b)
	invokes := n == 3 && (bytes.Equal(method, invokeMethod) || bytes.Equal(method, invokeAsyncMethod))
	for i := range n {
		if i == 0 && invokes {
			if r.real, ok = s.token(); !ok {
				return false
			}
			continue
		}
		if !s.value(1) {
			return false
		}
	}
	r.attachments = s.at
	return true
}

// countTypes counts the types of a descriptor such as "Ljava/lang/String;[I"
// (JVMS §4.3.2).
func countTypes(b []byte) (int, bool) {
	n := 0
	for len(b) > 0 {
		k := 0
		for k < len(b) && b[k] == '[' {
			k++
		}
		if k == len(b) {
			return 0, false
		}
		switch b[k] {
		case 'B', 'C', 'D', 'F', 'I', 'J', 'S', 'Z':
		case 'L':
			end := bytes.IndexByte(b[k:], ';')
			if end < 2 {
				return 0, false
			}
			k += end
		default:
			return 0, false
		}
		b = b[k+1:]
		if n++; n > maxArguments {
			return 0, false
		}
	}
	return n, true
}

// findRequest reads a body in the way of counting in which it makes sense, up to
// its attachments.
func (s *scanner) findRequest(body []byte, r *request) bool {
	for wide := 1; ; wide++ {
		s.reset(body, wide)
		if s.request(r) && s.certain() {
			return true
		}
		if !s.sawWide || wide == 2 {
			return false
		}
	}
}

// certain says whether the attachments, which come next, make sense in this way
// of counting. Where the way does not matter that is left for later.
func (s *scanner) certain() bool {
	return !s.sawWide && ascii(s.b[s.at:]) || s.readable()
}

// readable says whether the attachments, which come next, make sense.
func (s *scanner) readable() bool {
	at, refs, types, classes := s.at, s.refs, s.types, len(s.classes)
	var e entry
	some, ok := s.openMap()
	for some && ok {
		some, ok = s.next(&e)
	}
	if ok {
		s.at, s.refs, s.types, s.classes = at, refs, types, s.classes[:classes]
	}
	return ok
}

// told is what the attachments say of a call, apart from fields.
type told struct {
	iface, group, version codec.Span
	timeout               int64
	plain                 bool
}

// request fills the head of a request. Where it is refused the head names a call
// that no route has.
func (d *decoder) request(h *header, body []byte, head *codec.Head) *fault {
	f := h.serialization()
	if f == nil {
		f = d.call(body, head)
	}
	if f != nil {
		head.SetKeyCall(nil)
	}
	return f
}

func (d *decoder) call(body []byte, head *codec.Head) *fault {
	var r request
	s := &d.scan
	if !s.findRequest(body, &r) {
		return s.fault
	}
	t := told{plain: true}
	if f := d.fields(head, &t); f != nil {
		return f
	}
	method := r.method
	if r.generic() {
		method = r.real
	}
	name := cutSignature(method.In(body))
	if !head.SetMethodCall(r.path.In(body), name) && !head.SetMethodCall(t.iface.In(body), name) {
		return faultName
	}
	if t.group.Len() > 0 {
		head.Add(nameGroup, t.group.In(body))
	}
	version := r.version.In(body)
	if len(version) == 0 {
		version = t.version.In(body)
	}
	if len(version) > 0 && !bytes.Equal(version, noVersion) {
		head.Add(nameVersion, version)
	}
	if t.timeout > 0 {
		var digits [20]byte
		head.Add(nameTimeout, appendInt(digits[:0], t.timeout))
	}
	if t.plain {
		head.SetNote(s.note(r.attachments, 0))
	}
	return nil
}

// cutSignature takes the method from "find(java.lang.String)".
func cutSignature(method []byte) []byte {
	if i := bytes.IndexByte(method, '('); i >= 0 {
		return method[:i]
	}
	return method
}

// fields makes the attachments that are strings fields of the head.
func (d *decoder) fields(head *codec.Head, t *told) *fault {
	s := &d.scan
	var e entry
	if s.left() > 0 && s.b[s.at] == tagTypedMap {
		t.plain = false
	}
	some, ok := s.openMap()
	size, count := 0, 0
	most := d.lim.HeadFields
	if most <= 0 || most > maxAttachments {
		most = maxAttachments
	}
	for ; ok && some; count++ {
		if some, ok = s.next(&e); !ok || !some {
			break
		}
		if size += e.to - e.from; count >= most || d.lim.Head > 0 && size > d.lim.Head {
			return faultHead
		}
		if e.isField {
			head.Add(e.key.In(s.b), e.value.In(s.b))
			continue
		}
		t.read(s, &e)
	}
	if !ok {
		return s.fault
	}
	return nil
}

// read takes an attachment that is no field.
func (t *told) read(s *scanner, e *entry) {
	value := e.valueAt()
	t.plain = t.plain && e.key.Len() > 0 && plain(s.b[value])
	switch string(e.key.In(s.b)) {
	case keyInterface:
		t.iface = e.value
	case keyGroup:
		t.group = e.value
	case keyVersion:
		t.version = e.value
	case keyTimeout:
		t.timeout, _ = milliseconds(s.b[value:e.to], e.value.In(s.b))
	}
}

// valueAt returns where the value of an attachment with a key in one piece
// begins.
func (e *entry) valueAt() int {
	return int(max(e.key.To, uint32(e.from)))
}

// milliseconds reads a timeout: digits, an int or a long. 0: none, or none that
// can be understood.
func milliseconds(value, text []byte) (ms int64, isText bool) {
	tag := value[0]
	switch {
	case tags[tag].kind == kindString:
		return digits(text), true
	case tags[tag].kind == kindScalar:
		if n, ok := wholeNumber(value); ok {
			return max(n, 0), false
		}
	}
	return 0, false
}

// digits reads a number of at most ten digits; 0: it is none.
func digits(text []byte) (n int64) {
	if len(text) > 10 {
		return 0
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0
		}
		n = n*10 + int64(c-'0')
	}
	return n
}

// wholeNumber reads an int or a long that is whole in b.
func wholeNumber(b []byte) (int64, bool) {
	tag, rest := b[0], b[1:]
	switch {
	case tag >= 0x80 && tag <= 0xbf:
		return int64(tag) - 0x90, true
	case tag >= 0xc0 && tag <= 0xcf:
		return (int64(tag)-0xc8)<<8 | int64(rest[0]), true
	case tag >= 0xd0 && tag <= 0xd7:
		return (int64(tag)-0xd4)<<16 | int64(binary.BigEndian.Uint16(rest)), true
	case tag >= 0xd8 && tag <= 0xef:
		return int64(tag) - 0xe0, true
	case tag >= 0xf0:
		return (int64(tag)-0xf8)<<8 | int64(rest[0]), true
	case tag >= 0x38 && tag <= 0x3f:
		return (int64(tag)-0x3c)<<16 | int64(binary.BigEndian.Uint16(rest)), true
	case tag == tagInt || tag == tagLongInt:
		return int64(int32(binary.BigEndian.Uint32(rest))), true
	case tag == tagLong:
		return int64(binary.BigEndian.Uint64(rest)), true
	}
	return 0, false
}
