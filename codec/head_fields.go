package codec

// Field is one field of a head.
type Field struct {
	Name, Value Span
	Known       Known
	// Canonical says that the bytes around the spans read "Name: Value\r\n", so
	// that a serialiser can copy the line as it stands.
	Canonical bool
	removed   bool
}

// Removed says that the field is no longer part of the message.
func (f *Field) Removed() bool { return f.removed }

// Len returns the number of fields, removed ones included: indexes are stable.
func (h *Head) Len() int { return len(h.fields) }

// Name returns the name of field i as received or set.
func (h *Head) Name(i int) []byte { return h.fields[i].Name.In(h.buf) }

// Value returns the value of field i without white space around it.
func (h *Head) Value(i int) []byte { return h.fields[i].Value.In(h.buf) }

// Known returns the number of the name of field i.
func (h *Head) Known(i int) Known { return h.fields[i].Known }

// Removed says that field i was deleted.
func (h *Head) Removed(i int) bool { return h.fields[i].removed }

// First returns the index of the first field of a known name that is not
// removed, or -1. It does not scan.
func (h *Head) First(k Known) int {
	if k >= knownCount {
		return -1
	}
	return int(h.first[k]) - 1
}

// Get returns the value of the first field of a known name, nil if there is
// none. A field with an empty value gives an empty slice that is not nil.
func (h *Head) Get(k Known) []byte {
	if i := h.First(k); i >= 0 {
		return h.Value(i)
	}
	return nil
}

// GetName returns the value of the first field with the name, without regard
// to case, nil if there is none. It scans unless the name is a known one.
func (h *Head) GetName(name string) []byte {
	if i := h.find(Lookup([]byte(name)), []byte(name), 0); i >= 0 {
		return h.Value(i)
	}
	return nil
}

// find returns the index of the first field of that name at or after from that
// is not removed, or -1.
func (h *Head) find(k Known, name []byte, from int) int {
	if k != Unknown && from == 0 {
		return h.First(k)
	}
	for i := from; i < len(h.fields); i++ {
		f := &h.fields[i]
		if f.removed || f.Known != k {
			continue
		}
		if k != Unknown || equalFold(f.Name.In(h.buf), name) {
			return i
		}
	}
	return -1
}

// framed fields follow from SetFraming and cannot be set as fields.
func framed(k Known) bool { return k == ContentLength || k == TransferEncoding }

// Add appends a field. Bytes that must not stand in a value become SP. It is
// ignored if the name is no token, and for Content-Length and
// Transfer-Encoding, which follow from SetFraming. There is one Host: adding it
// is SetAuthority.
func (h *Head) Add(name, value []byte) { h.add(Lookup(name), name, value) }

// AddString is Add for strings.
func (h *Head) AddString(name, value string) { h.Add([]byte(name), []byte(value)) }

// AddKnown is Add for the gateway's own fields: k must be a known name other
// than Host and the framing fields, and the value one that may stand in a field,
// since neither is checked.
func (h *Head) AddKnown(k Known, value []byte) {
	if len(h.fields) == maxFields {
		return
	}
	from := len(h.buf)
	h.buf = append(h.buf, lineStarts[k]...)
	at := len(h.buf)
	h.buf = append(h.buf, value...)
	to := len(h.buf)
	h.buf = append(h.buf, "\r\n"...)
	h.PushField(Span{uint32(from), uint32(at - len(": "))}, Span{uint32(at), uint32(to)}, k, true)
}

// SetKnown replaces all fields of the name by one. The rules of AddKnown hold.
func (h *Head) SetKnown(k Known, value []byte) {
	h.DelKnown(k)
	h.AddKnown(k, value)
}

// lineStarts are the known names as lines begin with them.
var lineStarts = func() (starts [knownCount]string) {
	for k := range starts {
		starts[k] = Known(k).String() + ": "
	}
	return starts
}()

// Set replaces the first field of the name and removes its others; if there is
// none it is Add. The rules of Add for name and value hold.
func (h *Head) Set(name, value []byte) {
	k := Lookup(name)
	i := h.find(k, name, 0)
	if i < 0 || k == Host || framed(k) {
		h.add(k, name, value)
		return
	}
	h.fields[i] = h.newLine(k, name, value)
	for {
		if i = h.find(k, name, i+1); i < 0 {
			return
		}
		h.fields[i].removed = true
	}
}

// SetString is Set for strings.
func (h *Head) SetString(name, value string) { h.Set([]byte(name), []byte(value)) }

// add appends a field whose name has the number k. Known names are tokens.
func (h *Head) add(k Known, name, value []byte) {
	switch {
	case k == Host:
		h.SetAuthority(value)
	case framed(k), k == Unknown && !IsToken(name), len(h.fields) == maxFields:
	default:
		f := h.newLine(k, name, value)
		h.PushField(f.Name, f.Value, k, true)
	}
}

// newLine appends a canonical field line to the buffer.
func (h *Head) newLine(k Known, name, value []byte) Field {
	var f Field
	f.Known, f.Canonical = k, true
	f.Name.From = uint32(len(h.buf))
	h.buf = append(h.buf, name...)
	f.Name.To = uint32(len(h.buf))
	h.buf = append(h.buf, ": "...)
	f.Value.From = uint32(len(h.buf))
	h.buf = appendValue(h.buf, value)
	f.Value.To = uint32(len(h.buf))
	h.buf = append(h.buf, "\r\n"...)
	return f
}

// Del removes all fields of the name, without regard to case. Removing Host
// does not change the authority that is sent.
func (h *Head) Del(name string) {
	k := Lookup([]byte(name))
	if k != Unknown {
		h.DelKnown(k)
		return
	}
	h.delUnknown([]byte(name))
}

func (h *Head) delUnknown(name []byte) {
	for i := h.find(Unknown, name, 0); i >= 0; i = h.find(Unknown, name, i+1) {
		h.fields[i].removed = true
	}
}

// DelKnown removes all fields of a known name; Unknown removes nothing.
func (h *Head) DelKnown(k Known) {
	if k >= knownCount || h.first[k] == 0 {
		return
	}
	for i := h.First(k); i >= 0; i = h.find(k, nil, i+1) {
		h.fields[i].removed = true
	}
	h.first[k] = 0
}

// DelAt removes field i.
func (h *Head) DelAt(i int) {
	f := &h.fields[i]
	f.removed = true
	if h.First(f.Known) == i {
		h.first[f.Known] = uint16(h.find(f.Known, nil, i+1) + 1)
	}
}
