package frame

import (
	"encoding/binary"
	"strconv"

	"github.com/corelane/corelane/codec"
)

// notSent are fields that make no sense in frames, or that pseudo names stand for.
var notSent = codec.SetOf(codec.Host, codec.ContentLength, codec.TransferEncoding, codec.Connection,
	codec.KeepAlive, codec.ProxyConnection, codec.TE, codec.Upgrade, codec.HTTP2Settings, codec.Expect,
	codec.XTimeoutMs, codec.XRPCGroup, codec.XRPCVersion)

// notTrailing are the fields that may not stand in trailers.
var notTrailing = codec.NotTrailing()

// Encode implements codec.Protocol. What does not fit into one frame (more than
// MaxSentBody bytes, trailers of a message that is otherwise one frame) goes into
// p.Tail as frames of their own.
func (Protocol) Encode(dst []byte, p *codec.Piece) ([]byte, error) {
	h := Header{Kind: kindOf(p), ID: p.ID}
	trailers := p.Trailers
	if !p.Last {
		trailers = nil
	}
	w := writer{dst: dst}
	at := w.open()
	if p.Head != nil {
		w.head(&h, p)
		if h.Kind == Response && Bodiless(int(h.Status)) {
			// Whatever comes behind it belongs to no message that is open.
			p.Body, trailers, h.Flags = nil, nil, 0
			return w.finish(&h, at, p)
		}
	} else {
		h.Flags = Continues
	}
	rest := p.Body
	p.Body, rest = cut(rest)
	ends := p.Last && len(rest) == 0
	switch {
	case !ends || p.Head != nil && hasTrailers(trailers):
		h.Flags |= More
	case p.Head == nil:
		w.trailers(trailers)
	}
	h.Body = uint32(len(p.Body))
	if p.Head == nil && h.Body == 0 && h.Has(More) {
		return dst, nil // it would say nothing
	}
	out, err := w.finish(&h, at, p)
	if err == nil && h.Has(More) && (len(rest) > 0 || p.Last) {
		err = appendTail(&h, p, rest, trailers)
	}
	if err != nil {
		return dst, err
	}
	return out, nil
}

// appendTail appends the rest of a piece to p.Tail.
func appendTail(h *Header, p *codec.Piece, rest []byte, trailers *codec.Head) error {
	w := writer{dst: p.Tail}
	for {
		var body []byte
		body, rest = cut(rest)
		at := w.open()
		h := Header{Kind: h.Kind, Flags: Continues, ID: h.ID, Body: uint32(len(body))}
		if len(rest) > 0 || !p.Last {
			h.Flags |= More
		} else {
			w.trailers(trailers)
		}
		tail, err := w.finish(&h, at, p)
		if err != nil {
			return err
		}
		w.dst = append(tail, body...)
		if len(rest) == 0 {
			p.Tail = w.dst
			return nil
		}
	}
}

// cut divides a body into what fits into one frame and the rest.
func cut(body []byte) (fits, rest []byte) {
	n := min(len(body), MaxSentBody)
	return body[:n:n], body[n:]
}

func kindOf(p *codec.Piece) Kind {
	switch {
	case p.Role == codec.Responses:
		return Response
	case p.OneWay:
		return OneWay
	}
	return Request
}

func hasTrailers(h *codec.Head) bool {
	if h != nil {
		fields := h.Fields()
		for i := range fields {
			if f := &fields[i]; !f.Removed() && !notTrailing.Has(f.Known) {
				return true
			}
		}
	}
	return false
}

// writer appends metadata behind a header that is filled in at the end.
type writer struct {
	dst   []byte
	fault *fault
}

// open makes room for a header and returns where.
func (w *writer) open() int {
	at := len(w.dst)
	var room [HeaderSize]byte
	w.dst = append(w.dst, room[:]...)
	return at
}

// finish fills the header in. After a fault only what stood before is left.
func (w *writer) finish(h *Header, at int, p *codec.Piece) ([]byte, error) {
	n := len(w.dst) - at - HeaderSize
	if n > MaxMetadata {
		w.fault = errTooMuch
	}
	if w.fault != nil {
		return w.dst[:at], w.fault.of(p.Role)
	}
	h.Metadata = uint32(n)
	h.put(w.dst[at:])
	return w.dst, nil
}

// head writes the metadata of a first frame, and what of the head stands in the
// header.
func (w *writer) head(h *Header, p *codec.Piece) {
	skip := notSent
	if (!p.Last || len(p.Body) > 0) && isZstd(p.Head) {
		h.Flags |= Zstd
		skip |= codec.SetOf(codec.ContentEncoding)
	}
	if p.Role == codec.Requests {
		w.call(p.Head)
		w.timeout(p)
	} else if status := p.Head.Status(); status >= minStatus && status <= maxStatus {
		h.Status = uint16(status)
	} else {
		w.fault = errNoStatus
	}
	w.fields(p.Head, skip)
}

// isZstd says that zstd is the one content coding.
func isZstd(h *codec.Head) bool {
	i := h.First(codec.ContentEncoding)
	if i < 0 || !codec.EqualFold(h.Value(i), "zstd") {
		return false
	}
	for i++; i < h.Len(); i++ {
		if h.Known(i) == codec.ContentEncoding && !h.Removed(i) {
			return false
		}
	}
	return true
}

// call writes what a request wants.
func (w *writer) call(h *codec.Head) {
	switch h.Call() {
	case codec.ByMethod:
		w.pair(PseudoInterface, h.Interface())
		w.pair(PseudoMethod, h.ProcedureName())
		w.optional(PseudoGroup, h.Get(codec.XRPCGroup))
		w.optional(PseudoVersion, h.Get(codec.XRPCVersion))
	case codec.ByKey:
		for _, c := range h.Key() {
			if !codec.IsValueByte(c) {
				w.fault = errKeyBytes
				return
			}
		}
		w.pair(PseudoKey, h.Key())
	default:
		w.path(h)
		if h.MethodID() != codec.POST {
			w.pair(PseudoVerb, h.Method())
		}
	}
	w.optional(PseudoAuthority, h.Authority())
}

func (w *writer) path(h *codec.Head) {
	at := len(w.dst)
	w.pair(PseudoPath, h.Path())
	if !h.HasQuery() || w.fault != nil {
		return
	}
	w.dst = append(w.dst, '?')
	w.dst = append(w.dst, h.Query()...)
	value := len(w.dst) - at - pairSize - len(pseudoNames[PseudoPath])
	if value > MaxValue {
		w.fault = errTooMuch
		return
	}
	binary.BigEndian.PutUint16(w.dst[at+2:], uint16(value))
}

// timeout writes how long the requester waits: what the gateway knows, else what
// came with the request.
func (w *writer) timeout(p *codec.Piece) {
	ms := p.Timeout
	if ms <= 0 {
		ms, _ = parseTimeout(p.Head.Get(codec.XTimeoutMs))
	}
	if ms <= 0 {
		return
	}
	var digits [20]byte
	w.pair(PseudoTimeout, strconv.AppendInt(digits[:0], min(ms, MaxTimeout), 10))
}

func (w *writer) optional(p Pseudo, value []byte) {
	if len(value) > 0 {
		w.pair(p, value)
	}
}

func (w *writer) pair(p Pseudo, value []byte) {
	if len(value) > MaxValue {
		w.fault = errTooMuch
		return
	}
	w.dst = AppendPair(w.dst, pseudoNames[p], value)
}

// fields writes the fields that are not removed and not skipped.
func (w *writer) fields(h *codec.Head, skip codec.KnownSet) {
	buf, fields := h.Bytes(), h.Fields()
	for i := range fields {
		f := &fields[i]
		if f.Removed() || skip.Has(f.Known) {
			continue
		}
		if f.Name.Len() > MaxName || f.Value.Len() > MaxValue {
			w.fault = errTooMuch
			return
		}
		w.dst = AppendPair(w.dst, f.Name.In(buf), f.Value.In(buf))
	}
}

func (w *writer) trailers(h *codec.Head) {
	if h != nil {
		w.fields(h, notTrailing)
	}
}
