package dubbo

import (
	"slices"
	"strconv"

	"github.com/corelane/corelane/codec"
)

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

// Encode implements codec.Protocol.
func (protocol) Encode(dst []byte, p *codec.Piece) ([]byte, error) {
	at := len(dst)
	if p.Role == codec.Requests {
		flags := byte(flagRequest | flagTwoWay)
		if p.OneWay {
			flags = flagRequest
		}
		dst = appendHeader(dst, flags, 0, p.ID, 0)
		if f := editRequest(p); f != nil {
			return dst[:at], f.of(p.Role)
		}
	} else {
		dst = appendHeader(dst, 0, encodeResponse(p), p.ID, 0)
	}
	setLength(dst, at, len(p.Body)+len(p.Tail))
	return dst, nil
}

// encodeResponse makes body and tail and returns the status byte.
func encodeResponse(p *codec.Piece) byte {
	if !p.Native {
		return statusByte(p.Head.Status(), false)
	}
	n := p.Head.Note()
	status := byte(n >> noteStatus)
	if n == 0 || httpStatus(status, p.Body) != p.Head.Status() {
		// Somebody has changed the status: what the body says is another thing.
		status = statusByte(p.Head.Status(), false)
		if status != statusOK {
			p.Body = nil
			p.Tail = appendText(p.Tail, p.Head.ReasonPhrase())
		}
		return status
	}
	s := noted(n, p.Body)
	if s.at == 0 {
		s.findAttachments(p.Body)
	}
	if s.at > 0 && status == statusOK && s.fault == nil {
		editAttachments(p, &s, 0)
	}
	return status
}

// editRequest brings the attachments to what the head says.
func editRequest(p *codec.Piece) *fault {
	if n := p.Head.Note(); p.Native && n != 0 {
		if s := noted(n, p.Body); s.at < len(p.Body) && editAttachments(p, &s, p.Timeout) == nil {
			return nil
		}
	}
	var r request
	var s scanner
	if !s.findRequest(p.Body, &r) {
		return s.fault
	}
	return editAttachments(p, &s, p.Timeout)
}

// editAttachments cuts the body where the first edit stands and puts what follows
// into the tail. s stands where the attachments begin. timeout in milliseconds
// is what the request may still take; 0 leaves what it says itself. After a fault
// the piece is as it was.
func editAttachments(p *codec.Piece, s *scanner, timeout int64) *fault {
	m := mapEdit{p: p, body: p.Body, tail: len(p.Tail), timeout: timeout}
	from := s.at
	some, ok := s.openMap()
	if !ok {
		return s.fault
	}
	if !some {
		m.makeMap(from, s.at)
		return nil
	}
	var e entry
	for {
		more, ok := s.next(&e)
		if !ok {
			p.Body, p.Tail = m.body, p.Tail[:m.tail]
			return s.fault
		}
		if !more {
			break
		}
		m.entry(&e)
	}
	m.add(s.at - 1)
	if m.edited {
		p.Tail = append(p.Tail, m.body[s.at-1:]...)
	}
	return nil
}

// mapEdit is the walk over the attachments of one message.
type mapEdit struct {
	p       *codec.Piece
	body    []byte // as it came
	tail    int    // of p.Tail before
	edited  bool
	field   int // of the next attachment that is one
	timeout int64
}

// cut ends what is sent as it came at at.
func (m *mapEdit) cut(at int) {
	if !m.edited {
		m.edited, m.p.Body = true, m.body[:at]
	}
}

// entry keeps, changes or drops an attachment.
func (m *mapEdit) entry(e *entry) {
	if m.timeout > 0 && string(e.key.In(m.body)) == keyTimeout && m.setTimeout(e) {
		return
	}
	if e.isField {
		// What does not come from a decoder has only what is no field: all fields
		// are added behind.
		i := m.field
		if m.p.Native {
			m.field++
		}
		h := m.p.Head
		switch {
		case !m.p.Native, i >= h.Len(), h.Removed(i):
			m.cut(e.from)
			return
		case !unchanged(h.Value(i), e.value.In(m.body)):
			m.cut(e.from)
			m.p.Tail = append(m.p.Tail, m.body[e.from:e.key.To]...)
			m.p.Tail = appendText(m.p.Tail, h.Value(i))
			return
		}
	}
	if m.edited {
		m.p.Tail = append(m.p.Tail, m.body[e.from:e.to]...)
	}
}

// setTimeout lowers a timeout, in the type it has. False: it may stay.
func (m *mapEdit) setTimeout(e *entry) bool {
	value := m.body[e.valueAt():e.to]
	ms, isText := milliseconds(value, e.value.In(m.body))
	left := m.timeout
	m.timeout = 0
	if ms > 0 && ms <= left {
		return false
	}
	m.cut(e.from)
	m.p.Tail = append(m.p.Tail, m.body[e.from:e.key.To]...)
	if isText {
		m.p.Tail = appendDigits(m.p.Tail, left)
	} else {
		m.p.Tail = appendLong(m.p.Tail, left, value[0])
	}
	return true
}

func appendDigits(dst []byte, n int64) []byte {
	var digits [20]byte
	return appendText(dst, appendInt(digits[:0], n))
}

// add appends what the gateway or a filter has added. at is where the map ends.
func (m *mapEdit) add(at int) {
	h := m.p.Head
	for i := m.field; i < h.Len(); i++ {
		if !isNew(h, i) || repeats(h, m.field, i) {
			continue
		}
		m.cut(at)
		m.p.Tail = appendName(m.p.Tail, h, i)
		m.p.Tail = appendJoined(m.p.Tail, h, i)
	}
	if m.timeout > 0 && m.p.Role == codec.Requests {
		m.cut(at)
		m.p.Tail = appendText(m.p.Tail, keyTimeout)
		m.p.Tail = appendDigits(m.p.Tail, m.timeout)
	}
}

// makeMap adds attachments where none are: body[from:to] stood for them.
func (m *mapEdit) makeMap(from, to int) {
	m.add(from)
	if !m.edited {
		return
	}
	m.p.Tail = append(slices.Insert(m.p.Tail, m.tail, tagMap), tagEnd)
	m.p.Tail = append(m.p.Tail, m.body[to:]...)
}

// repeats says whether field i has the name of one that was added before it.
func repeats(h *codec.Head, from, i int) bool {
	for k := from; k < i; k++ {
		if isNew(h, k) && sameName(h, k, i) {
			return true
		}
	}
	return false
}

func sameName(h *codec.Head, a, b int) bool {
	if h.Known(a) != h.Known(b) || len(h.Name(a)) != len(h.Name(b)) {
		return false
	}
	return h.Known(a) != codec.Unknown || equalFold(h.Name(a), h.Name(b))
}

// appendJoined appends the value of field i with those of the same name behind
// it, as one list (RFC 9110 §5.3).
func appendJoined(dst []byte, h *codec.Head, i int) []byte {
	var list []byte
	for k := i + 1; k < h.Len(); k++ {
		if isNew(h, k) && sameName(h, i, k) {
			if list == nil {
				list = append(list, h.Value(i)...)
			}
			list = append(append(list, ", "...), h.Value(k)...)
		}
	}
	if list != nil {
		return appendText(dst, list)
	}
	return appendText(dst, h.Value(i))
}
