package frame

import "github.com/corelane/corelane/codec"

var (
	zstdToken = []byte("zstd")
	postToken = []byte("POST")
)

// spans are where the values of the pseudo names stand in a head.
type spans [pseudoCount]codec.Span

// fillHead turns the metadata, the last bytes of h, into a head.
func (d *decoder) fillHead(h *codec.Head) *fault {
	if d.role == codec.Responses {
		pairs := FieldPairs(h.Bytes()[d.base:])
		if f := d.fillFields(h, &pairs, nil); f != nil {
			return f
		}
		h.SetStatus(int(d.header.Status))
	} else {
		var at spans
		pairs := RequestPairs(h.Bytes()[d.base:])
		if f := d.fillFields(h, &pairs, &at); f != nil {
			return f
		}
		if f := fillCall(h, &pairs, &at); f != nil {
			return f
		}
	}
	if d.header.Has(Zstd) {
		if h.First(codec.ContentEncoding) >= 0 {
			return errZstdEncoding
		}
		h.AddKnown(codec.ContentEncoding, zstdToken)
	}
	framing, length := d.framing()
	h.SetReceived(framing, length, false, true, false, codec.Span{})
	return nil
}

// fillFields pushes the fields and notes the pseudo names.
func (d *decoder) fillFields(h *codec.Head, pairs *Pairs, at *spans) *fault {
	end := len(h.Bytes())
	for n := 1; pairs.Next(); n++ {
		if limit := d.limits.HeadFields; limit > 0 && n > limit {
			return errPairCount
		}
		name, value := pairs.spans(end)
		if pairs.Pseudo == NoPseudo {
			h.PushField(name, trim(h.Bytes(), value), pairs.Known, false)
		} else {
			at[pairs.Pseudo] = value
		}
	}
	return pairs.fault
}

// spans tells where the current pair stands in bytes that end with the metadata.
func (p *Pairs) spans(end int) (name, value codec.Span) {
	to := uint32(end - p.Left())
	from := to - uint32(len(p.Value))
	return codec.Span{From: from - uint32(len(p.Name)), To: from}, codec.Span{From: from, To: to}
}

// trim takes white space from both ends of a value: a head holds it without.
func trim(b []byte, s codec.Span) codec.Span {
	for s.From < s.To && (b[s.From] == ' ' || b[s.From] == '\t') {
		s.From++
	}
	for s.From < s.To && (b[s.To-1] == ' ' || b[s.To-1] == '\t') {
		s.To--
	}
	return s
}

// fillCall sets what the request wants.
func fillCall(h *codec.Head, pairs *Pairs, at *spans) *fault {
	value := func(p Pseudo) []byte { return at[p].In(h.Bytes()) }
	var line codec.RequestLine
	if pairs.Has(PseudoPath) {
		line.Target = at[PseudoPath]
		splitPath(&line, value(PseudoPath))
		line.Method, line.ID = at[PseudoVerb], codec.POST
		if pairs.Has(PseudoVerb) {
			line.ID = codec.ParseMethod(value(PseudoVerb))
		} else {
			line.Method.From = uint32(len(h.Bytes()))
			h.AppendBytes(postToken)
			line.Method.To = uint32(len(h.Bytes()))
		}
	}
	h.SetRequestLine(&line, 1, 0)
	if pairs.Has(PseudoAuthority) {
		h.SetAuthority(value(PseudoAuthority))
	}
	if pairs.Has(PseudoInterface) && !h.SetMethodCall(value(PseudoInterface), value(PseudoMethod)) {
		return errMethod
	}
	if pairs.Has(PseudoKey) {
		h.SetKeyCall(value(PseudoKey))
	}
	if group := value(PseudoGroup); len(group) > 0 {
		h.AddKnown(codec.XRPCGroup, group)
	}
	if version := value(PseudoVersion); len(version) > 0 {
		h.AddKnown(codec.XRPCVersion, version)
	}
	if pairs.Has(PseudoTimeout) {
		h.AddKnown(codec.XTimeoutMs, value(PseudoTimeout))
	}
	return nil
}

// framing is what the first frame says of the body of its message.
func (d *decoder) framing() (codec.Framing, int64) {
	h := &d.header
	switch {
	case h.Has(More):
		return codec.FramingChunked, -1
	case h.Body > 0 || d.role == codec.Responses && !Bodiless(int(h.Status)):
		return codec.FramingLength, int64(h.Body)
	}
	return codec.FramingNone, -1
}

// fillTrailers turns the trailers that were held into fields of h, unless h is nil
// because nobody wants them. Fields that may not stand in trailers are left out.
func (d *decoder) fillTrailers(h *codec.Head) {
	held := d.held
	if d.held = d.held[:0]; cap(held) > keepHeld {
		d.held = nil
	}
	if h == nil {
		return
	}
	h.AppendBytes(held)
	end := len(h.Bytes())
	pairs := FieldPairs(h.Bytes()[end-len(held):])
	for n := 1; pairs.Next(); n++ {
		if limit := d.limits.HeadFields; limit > 0 && n > limit {
			d.fail(errPairCount)
			return
		}
		if name, value := pairs.spans(end); pairs.Known.Trailing() {
			h.PushField(name, trim(h.Bytes(), value), pairs.Known, false)
		}
	}
	d.fault = pairs.fault
}
