package codec

// This file is what decoders and serialisers use. A decoder of a textual
// protocol appends the received bytes and describes them by spans; one that
// makes up its bytes (HPACK) uses the Set and Add methods instead.

// Bytes returns all bytes of the head, those of changes included. Spans of the
// head refer to them.
func (h *Head) Bytes() []byte { return h.buf }

// AppendBytes appends received bytes.
func (h *Head) AppendBytes(b []byte) { h.buf = append(h.buf, b...) }

// Truncate forgets the bytes from n on. No span may refer to them.
func (h *Head) Truncate(n int) { h.buf = h.buf[:n] }

// Fields returns the fields, removed ones included. The caller may read them.
func (h *Head) Fields() []Field { return h.fields }

// PushField appends a field whose bytes are, or will be, in the head. canonical
// is Field.Canonical.
func (h *Head) PushField(name, value Span, k Known, canonical bool) {
	n := len(h.fields)
	if n == cap(h.fields) {
		h.fields = append(h.fields, Field{})
	}
	h.fields = h.fields[:n+1]
	// Member by member: a Field copied as a whole would be read back from its
	// narrow stores, which stalls.
	f := &h.fields[n]
	f.Name, f.Value = name, value
	f.Known, f.Canonical, f.removed = k, canonical, false
	if h.first[k] == 0 && k != Unknown {
		h.first[k] = uint16(n + 1)
	}
}

// SetRequestLine sets the control data of a received request. length is the
// number of bytes of the first line, if a serialiser may copy it as it is,
// otherwise 0. minor is that of HTTP/1.x.
func (h *Head) SetRequestLine(l *RequestLine, minor, length int) {
	h.line, h.minor, h.lineLength = *l, minor, uint32(length)
}

// SetStatusLine is SetRequestLine for a response.
func (h *Head) SetStatusLine(status int, reason Span, minor, length int) {
	h.status, h.reason, h.minor, h.lineLength = status, reason, minor, uint32(length)
}

// SetReceived sets what a received message says about its body and its
// connection. lengthKept says that the first Content-Length line reads as the
// gateway would write it. An empty upgrade means none.
func (h *Head) SetReceived(f Framing, length int64, lengthKept, keepAlive, expect100 bool, upgrade Span) {
	h.framing, h.contentLength, h.lengthKept = f, length, lengthKept
	h.keepAlive, h.expect100, h.upgrade = keepAlive, expect100, upgrade
}

// LineLength returns the length of the first line as received if it can be
// sent on as it is, otherwise 0.
func (h *Head) LineLength() int { return int(h.lineLength) }

// LengthKept says that the first Content-Length line, if it is not removed,
// can be sent on as it is.
func (h *Head) LengthKept() bool { return h.lengthKept && h.first[ContentLength] != 0 }

// AuthoritySpan returns where the authority stands.
func (h *Head) AuthoritySpan() Span { return h.line.Authority }

// Note returns what SetNote left; 0: nothing.
func (h *Head) Note() uint64 { return h.note }

// SetNote keeps a number of a decoder's for the Encode of the same protocol, so
// that it need not find again what was found once. Nobody else reads it.
func (h *Head) SetNote(n uint64) { h.note = n }

func (h *Head) put(b []byte) Span {
	from := len(h.buf)
	h.buf = append(h.buf, b...)
	return Span{uint32(from), uint32(len(h.buf))}
}
