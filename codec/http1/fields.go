package http1

import "github.com/corelane/corelane/codec"

// fields reads field lines up to and with the empty line (RFC 9112 §5). limit
// is the offset where the last field line must have ended; the empty line may
// stand behind it. It returns true once the empty line is read.
func (d *Decoder) fields(h *codec.Head, b []byte, limit, count int) bool {
	w := b[:min(len(b), limit)]
	for {
		if d.stage == stageLine {
			if !d.beginLine(h, b, limit, count) {
				return false
			}
			if d.plainField(h, w) {
				continue
			}
			if d.failed {
				return false
			}
		}
		if d.stage == stageEnd {
			return d.endHead(b)
		}
		if d.stage == stageName && !d.scanName(w) {
			return d.overrun(b, limit)
		}
		if !d.scanValue(h, w) {
			return d.overrun(b, limit)
		}
	}
}

// endHead reads the LF of the empty line.
func (d *Decoder) endHead(b []byte) bool {
	if d.pos == len(b) {
		return false
	}
	if b[d.pos] != '\n' {
		return d.fail(errLineEnd)
	}
	d.pos++
	return true
}

// overrun fails if bytes beyond the limit are there.
func (d *Decoder) overrun(b []byte, limit int) bool {
	if !d.failed && len(b) > limit {
		d.fail(errFieldBytes)
	}
	return false
}

// beginLine judges the first byte of a line: it is a field or the empty line.
func (d *Decoder) beginLine(h *codec.Head, b []byte, limit, count int) bool {
	if d.pos == len(b) {
		return false
	}
	c := b[d.pos]
	switch {
	case c == '\r':
		d.pos++
		d.stage = stageEnd
		return true
	case c == '\n':
		return d.fail(errLineEnd)
	case d.pos >= limit:
		return d.fail(errFieldBytes)
	case h.Len() >= count:
		return d.fail(errFieldCount)
	case isOWS(c):
		return d.fail(errFold)
	}
	d.mark, d.stage = d.pos, stageName
	return true
}

// scanName reads a field name and its colon.
func (d *Decoder) scanName(w []byte) bool {
	i := d.pos
	for i < len(w) && codec.IsTokenByte(w[i]) {
		i++
	}
	d.pos = i
	if i == len(w) {
		return false
	}
	colon := i
	if d.response && i > d.mark {
		// A server that puts white space there is answered for by the gateway,
		// which must take it out (RFC 9112 §5.1). In a request it is refused.
		for colon < len(w) && isOWS(w[colon]) {
			colon++
		}
		if colon == len(w) {
			return false
		}
	}
	if w[colon] != ':' || i == d.mark {
		return d.fail(errFieldName)
	}
	d.nameTo, d.valueFrom, d.pos, d.stage = i, colon+1, colon+1, stageValue
	return true
}

// scanValue reads a field value with its line end, and adds the field.
func (d *Decoder) scanValue(h *codec.Head, w []byte) bool {
	end, ok := d.scanToLineEnd(w)
	if !ok {
		return false
	}
	from, to := d.valueFrom, end
	for from < to && isOWS(w[from]) {
		from++
	}
	for from < to && isOWS(w[to-1]) {
		to--
	}
	canonical := from == d.nameTo+len(": ") && w[d.nameTo+1] == ' ' && to == end
	return d.addField(h, w, span(d.mark, d.nameTo), span(from, to), canonical)
}

func span(from, to int) codec.Span { return codec.Span{From: uint32(from), To: uint32(to)} }

// addField adds a field after it has told the facts, which may refuse it.
func (d *Decoder) addField(h *codec.Head, w []byte, name, value codec.Span, canonical bool) bool {
	d.stage = stageLine
	known := codec.Lookup(name.In(w))
	if known != codec.Unknown && known <= lastFact && !d.trailing {
		if !d.facts.note(d, w, known, value, canonical) {
			return false
		}
	}
	h.PushField(name, value, known, canonical)
	return true
}

// plainField reads a field line as most are: all of it is there, and it is
// "Name: value" with nothing in it that needs a second look. It only saves the
// steps in between; a line that it does not take is judged by the stages.
func (d *Decoder) plainField(h *codec.Head, w []byte) bool {
	if d.stage != stageName {
		return false
	}
	i := d.mark
	for i < len(w) && codec.IsTokenByte(w[i]) {
		i++
	}
	from := i + len(": ")
	if i == d.mark || from >= len(w) || w[i] != ':' || w[i+1] != ' ' || isOWS(w[from]) {
		return false
	}
	to := skipVisible(w, from)
	if to+1 >= len(w) || w[to] != '\r' || w[to+1] != '\n' || isOWS(w[to-1]) {
		return false
	}
	d.pos = to + len(crlf)
	return d.addField(h, w, span(d.mark, i), span(from, to), true)
}

func isOWS(c byte) bool { return c == ' ' || c == '\t' }

// scanToLineEnd reads a value up to and with its CRLF and returns where it
// ends. ok is false if w ends before that or the value is wrong.
func (d *Decoder) scanToLineEnd(w []byte) (end int, ok bool) {
	i := d.pos
	for {
		if i = skipVisible(w, i); i == len(w) {
			break
		}
		c := w[i]
		if codec.IsValueByte(c) {
			i++
			continue
		}
		if c != '\r' {
			if c == '\n' {
				return 0, d.fail(errLineEnd)
			}
			return 0, d.fail(errFieldValue)
		}
		if i+1 == len(w) {
			break
		}
		if w[i+1] != '\n' {
			return 0, d.fail(errLineEnd)
		}
		d.pos = i + 2
		return i, true
	}
	d.pos = i
	return 0, false
}
