package codec

// RequestLine is the control data of a request, as spans of the head's bytes.
type RequestLine struct {
	Method    Span
	Target    Span // as received
	Path      Span
	Query     Span // without '?'
	Authority Span
	Scheme    Span
	ID        Method
	HasQuery  bool
}

// Method returns the method's token as received or set.
func (h *Head) Method() []byte { return h.line.Method.In(h.buf) }

// MethodID returns the method's number.
func (h *Head) MethodID() Method { return h.line.ID }

// Target returns the request target as received, in whatever form. SetPath and
// SetAuthority do not change it.
func (h *Head) Target() []byte { return h.line.Target.In(h.buf) }

// Path returns the path as received or set, never empty in a decoded request;
// "*" for the asterisk form (RFC 9112 §3.2.4).
func (h *Head) Path() []byte { return h.line.Path.In(h.buf) }

// Query returns the query without '?'.
func (h *Head) Query() []byte { return h.line.Query.In(h.buf) }

// HasQuery tells "/a?" from "/a".
func (h *Head) HasQuery() bool { return h.line.HasQuery }

// Authority returns host and port as received or set: of the absolute form if
// that was used, otherwise of the Host field (RFC 9112 §3.2.2).
func (h *Head) Authority() []byte { return h.line.Authority.In(h.buf) }

// Scheme returns the scheme of the absolute form as received, otherwise an
// empty slice.
func (h *Head) Scheme() []byte { return h.line.Scheme.In(h.buf) }

// SetMethod changes the method. A value that is no token is ignored.
func (h *Head) SetMethod(m []byte) {
	if !IsToken(m) {
		return
	}
	h.line.ID = ParseMethod(m)
	h.line.Method = h.put(m)
	h.lineLength = 0
}

// SetPath changes the path that is sent. Bytes that cannot stand in a path are
// percent-encoded; an empty path becomes "/". The query stays.
func (h *Head) SetPath(p []byte) {
	if len(p) == 0 {
		p = []byte("/")
	}
	from := len(h.buf)
	h.buf = appendTarget(h.buf, p, false)
	h.line.Path = Span{uint32(from), uint32(len(h.buf))}
	h.lineLength = 0
}

// SetQuery changes the query that is sent; nil removes it together with '?'.
// Bytes that cannot stand in a query are percent-encoded.
func (h *Head) SetQuery(q []byte) {
	from := len(h.buf)
	h.buf = appendTarget(h.buf, q, true)
	h.line.Query = Span{uint32(from), uint32(len(h.buf))}
	h.line.HasQuery = q != nil
	h.lineLength = 0
}

// SetAuthority changes what is sent as Host. The Host field shows it too.
func (h *Head) SetAuthority(a []byte) {
	i := h.First(Host)
	if i < 0 {
		if i = h.Len(); i == maxFields {
			return
		}
		h.PushField(Span{}, Span{}, Host, true)
	}
	h.fields[i] = h.newLine(Host, []byte(Host.String()), a)
	h.line.Authority = h.fields[i].Value
}
