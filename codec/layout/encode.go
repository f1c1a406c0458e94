package layout

import "github.com/corelane/corelane/codec"

// What a layout cannot say. The faults of a request come from another protocol's
// client, those of a response from another protocol's service.
var (
	errHeadless   = newFault(codec.InternalError, "a frame needs a head")
	errTooLong    = newFault(codec.BodyTooLarge, "the body is longer than the layout allows")
	errWideID     = newFault(codec.InternalError, "the id is wider than the layout's")
	errNoOneWay   = newFault(codec.BadRequest, "the layout has no requests without a response")
	errNoFailure  = newFault(codec.InternalError, "the layout has no words for a failed response")
	errKeyNumber  = newFault(codec.BadRequest, "the layout's route key is an integer, and the path is none that fits")
	errKeyWidth   = newFault(codec.BadRequest, "the path is longer than the layout's route key")
	errPathEscape = newFault(codec.BadRequest, "the path has an invalid percent escape")
)

// Encode implements codec.Protocol. A message that came in this layout keeps its
// header but for the id. Of others only the route key can be said, which is the
// path behind its first slash, and only where it stands in the header.
func (p *Protocol) Encode(dst []byte, m *codec.Piece) ([]byte, error) {
	if m.Head == nil {
		return dst, &errHeadless[m.Role]
	}
	from := len(dst)
	if raw := m.Head.Raw(); m.Native && len(raw) == len(p.template) {
		dst = append(dst, raw...)
	} else {
		dst = append(dst, p.template...)
		if err := p.introduce(dst[from:], m); err != nil {
			return dst[:from], &err[m.Role]
		}
	}
	if err := p.finish(dst[from:], m.ID, len(m.Body)); err != nil {
		return dst[:from], &err[m.Role]
	}
	return dst, nil
}

// finish writes id and length into a header.
func (p *Protocol) finish(header []byte, id uint64, body int) *fault {
	if i := p.layout.ID; i != nil {
		if id > i.most() {
			return errWideID
		}
		i.write(header, id)
	}
	if body > p.maxFrame-len(header) {
		return errTooLong
	}
	l := &p.layout.Length
	l.write(header, l.value(len(header)+body))
	return nil
}

// introduce writes into an empty header what a message of another protocol is.
func (p *Protocol) introduce(header []byte, m *codec.Piece) *fault {
	k := p.layout.Kind
	if m.Role == codec.Responses {
		if m.Head.Status() >= firstFailure {
			return p.admit(header, m.Head.Status())
		}
		if k != nil {
			k.set(header, k.Response[0])
		}
		return nil
	}
	switch {
	case m.OneWay && (k == nil || len(k.OneWay) == 0):
		return errNoOneWay
	case m.OneWay:
		k.set(header, k.OneWay[0])
	case k != nil:
		k.set(header, k.Request[0])
	}
	return p.setKey(header, m.Head.Path())
}

// firstFailure is the first status that tells of a failure.
const firstFailure = 400

// admit makes a header that of a response with a failing status, which would be
// taken for a good one otherwise.
func (p *Protocol) admit(header []byte, status int) *fault {
	f := p.layout.Failure
	if f == nil {
		return errNoFailure
	}
	for _, field := range f.Fields {
		if len(field.Bytes) > 0 {
			copy(header[field.At:], field.Bytes)
		} else {
			field.write(header, uint64(status))
		}
	}
	if k := p.layout.Kind; k != nil {
		kind := k.Response[0]
		if f.Kind != nil {
			kind = *f.Kind
		}
		k.set(header, kind)
	}
	return nil
}

// set writes a kind and leaves the bits that do not count.
func (k *Kind) set(header []byte, v uint64) {
	k.write(header, k.read(header)&^k.bits()|v)
}

// setKey writes the route key, if its place is in the header.
func (p *Protocol) setKey(header, path []byte) *fault {
	k := p.layout.Key
	if k == nil || k.Kind != KeyBytes && k.Kind != KeyInteger || k.end() > len(header) {
		return nil
	}
	if len(path) > 0 && path[0] == '/' {
		path = path[1:]
	}
	if k.Kind == KeyInteger {
		return k.setInteger(header, path)
	}
	at := k.At
	for len(path) > 0 {
		c, size := unescaped(path)
		switch {
		case size == 0:
			return errPathEscape
		case at == k.end():
			return errKeyWidth
		}
		header[at] = c
		at++
		path = path[size:]
	}
	return nil
}

// setInteger writes a key of decimal digits.
func (k *Key) setInteger(header, digits []byte) *fault {
	var v uint64
	for _, c := range digits {
		digit := uint64(c - '0')
		if c < '0' || c > '9' || v > (k.most()-digit)/10 {
			return errKeyNumber
		}
		v = v*10 + digit
	}
	if len(digits) == 0 {
		return errKeyNumber
	}
	k.write(header, v)
	return nil
}

// unescaped returns the first byte of a path and the number of bytes that it is
// written with; 0: it is an escape that is none.
func unescaped(path []byte) (byte, int) {
	if path[0] != '%' {
		return path[0], 1
	}
	if len(path) < 3 {
		return 0, 0
	}
	high, ok1 := hexDigit(path[1])
	low, ok2 := hexDigit(path[2])
	if !ok1 || !ok2 {
		return 0, 0
	}
	return high<<4 | low, 3
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// AppendControl implements codec.Protocol: heartbeats, where the layout has
// them, are headers without a body.
func (p *Protocol) AppendControl(dst []byte, c *codec.Control) []byte {
	k := p.layout.Kind
	if k == nil {
		return dst
	}
	var kind uint64
	switch {
	case c.Kind == codec.Heartbeat && len(k.Heartbeat) > 0:
		kind = k.Heartbeat[0]
	case c.Kind == codec.HeartbeatReply && k.HeartbeatReply != nil:
		kind = *k.HeartbeatReply
	default:
		return dst
	}
	from := len(dst)
	dst = append(dst, p.template...)
	k.set(dst[from:], kind)
	if p.finish(dst[from:], c.ID, 0) != nil {
		return dst[:from]
	}
	return dst
}
