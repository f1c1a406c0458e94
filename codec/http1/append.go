package http1

import (
	"strconv"

	"github.com/corelane/corelane/codec"
)

// rewritten fields are never copied: a serialiser writes them itself, from the
// framing and the upgrade that the head has, or leaves them out.
var rewritten = codec.SetOf(codec.ContentLength, codec.TransferEncoding, codec.Connection, codec.KeepAlive,
	codec.ProxyConnection, codec.TE, codec.Upgrade, codec.HTTP2Settings)

const (
	crlf          = "\r\n"
	versionLine   = " HTTP/1.1\r\n"
	chunkedLine   = "Transfer-Encoding: chunked\r\n"
	lengthName    = "Content-Length: "
	upgradeName   = "Upgrade: "
	closeLine     = "Connection: close\r\n"
	keepAliveLine = "Connection: keep-alive\r\n"
	upgradeLine   = "Connection: Upgrade\r\n"
	bothLine      = "Connection: close, Upgrade\r\n"
)

// AppendRequest appends the head of a request to dst: the request line in
// origin form (or "*"), Host first, the fields that are kept, and the framing
// as h has it. Hop-by-hop fields are never copied; Connection and Upgrade are
// written if h offers an upgrade.
func AppendRequest(dst []byte, h *codec.Head) []byte {
	run := writer{dst: dst, buf: h.Bytes(), skip: rewritten}
	if h.LineLength() > 0 {
		run.to = uint32(h.LineLength())
	} else {
		run.dst = appendRequestLine(dst, h)
	}
	if !hostLeads(h) {
		run.skip |= codec.SetOf(codec.Host)
		run.flush()
		run.dst = appendLine(run.dst, "Host: ", h.Authority())
	}
	framing, length := h.Framing(), h.ContentLength()
	if framing == codec.FramingClose {
		framing = codec.FramingNone // a request has no such body
	}
	if framing == codec.FramingNone {
		length = -1
	}
	run.fields(h, length)
	dst = run.dst
	if framing == codec.FramingChunked {
		dst = append(dst, chunkedLine...)
	}
	if up := h.Upgrade(); up != nil {
		dst = append(dst, upgradeLine...)
		dst = appendLine(dst, upgradeName, up)
	}
	return append(dst, crlf...)
}

func appendRequestLine(dst []byte, h *codec.Head) []byte {
	dst = append(dst, h.Method()...)
	dst = append(dst, ' ')
	dst = append(dst, h.Path()...)
	if h.HasQuery() {
		dst = append(dst, '?')
		dst = append(dst, h.Query()...)
	}
	return append(dst, versionLine...)
}

// hostLeads says that the first field is the Host that is to be sent.
func hostLeads(h *codec.Head) bool {
	fields := h.Fields()
	for i := range fields {
		if f := &fields[i]; !f.Removed() {
			return f.Known == codec.Host && f.Value == h.AuthoritySpan()
		}
	}
	return false
}

// ResponseOptions says what a response needs to tell its client.
type ResponseOptions struct {
	// Close: the connection ends after this response.
	Close bool
	// KeepAlive10: the connection stays open, and the client is HTTP/1.0 and
	// must be told so.
	KeepAlive10 bool
	// NoFraming: the response has no body for a reason that the head does not
	// show: the request was HEAD. A known ContentLength is sent as information.
	// Responses with 1xx, 204 and 304 need no such hint.
	NoFraming bool
}

// AppendResponse appends the head of a response to dst. The framing is as h has
// it: FramingNone means an empty body, said by "Content-Length: 0", and
// FramingClose makes it a closing response. A 304, and a response with
// NoFraming, keeps a Content-Length as information; 1xx and 204 have none (RFC
// 9110 §8.6). For an HTTP/1.0 client the caller must not leave FramingChunked.
func AppendResponse(dst []byte, h *codec.Head, o ResponseOptions) []byte {
	run := writer{dst: dst, buf: h.Bytes(), skip: rewritten}
	if h.LineLength() > 0 {
		run.to = uint32(h.LineLength())
	} else {
		run.dst = appendStatusLine(dst, h)
	}
	status, framing, length := h.Status(), h.Framing(), h.ContentLength()
	switch {
	case status < 200 || status == 204:
		framing, length = codec.FramingNone, -1
	case status == 304 || o.NoFraming:
		framing = codec.FramingNone
	case framing == codec.FramingNone:
		length = 0
	}
	run.fields(h, length)
	dst = run.dst
	if framing == codec.FramingChunked {
		dst = append(dst, chunkedLine...)
	}
	interim := status < 200
	dst = appendConnection(dst, h.Upgrade(), !interim && (o.Close || framing == codec.FramingClose), !interim && o.KeepAlive10)
	return append(dst, crlf...)
}

func appendStatusLine(dst []byte, h *codec.Head) []byte {
	dst = append(dst, "HTTP/1.1 "...)
	dst = strconv.AppendInt(dst, int64(h.Status()), 10)
	dst = append(dst, ' ')
	dst = append(dst, h.ReasonPhrase()...)
	return append(dst, crlf...)
}

func appendConnection(dst, upgrade []byte, closes, keeps bool) []byte {
	switch {
	case closes && upgrade != nil:
		dst = append(dst, bothLine...)
	case closes:
		dst = append(dst, closeLine...)
	case upgrade != nil:
		dst = append(dst, upgradeLine...)
	case keeps:
		dst = append(dst, keepAliveLine...)
	}
	if upgrade != nil {
		dst = appendLine(dst, upgradeName, upgrade)
	}
	return dst
}

// appendLine appends a field line; name has its colon and SP.
func appendLine(dst []byte, name string, value []byte) []byte {
	dst = append(dst, name...)
	dst = append(dst, value...)
	return append(dst, crlf...)
}

// writer copies field lines. Lines that lie side by side and read as the
// gateway would write them are one copy: most of a head as it was received.
type writer struct {
	dst      []byte
	buf      []byte
	skip     codec.KnownSet
	from, to uint32 // the run of buf not copied yet
}

func (w *writer) flush() {
	w.dst = append(w.dst, w.buf[w.from:w.to]...)
	w.from = w.to
}

// fields copies what is not skipped, and Content-Length with the value length
// unless that is negative.
func (w *writer) fields(h *codec.Head, length int64) {
	if length >= 0 && h.LengthKept() && length == h.ContentLength() {
		w.skip &^= codec.SetOf(codec.ContentLength)
		length = -1
	}
	fields := h.Fields()
	for i := range fields {
		f := &fields[i]
		switch {
		case f.Removed() || w.skip.Has(f.Known):
		case !f.Canonical:
			w.flush()
			w.dst = append(w.dst, f.Name.In(w.buf)...)
			w.dst = append(w.dst, ": "...)
			w.dst = append(w.dst, f.Value.In(w.buf)...)
			w.dst = append(w.dst, crlf...)
		case f.Name.From == w.to:
			w.to = f.Value.To + uint32(len(crlf))
		default:
			w.flush()
			w.from, w.to = f.Name.From, f.Value.To+uint32(len(crlf))
		}
	}
	w.flush()
	if length >= 0 {
		w.dst = append(w.dst, lengthName...)
		w.dst = strconv.AppendInt(w.dst, length, 10)
		w.dst = append(w.dst, crlf...)
	}
}

// AppendChunk appends the line before a chunk of n bytes of data. The caller
// appends the data and CRLF. For n < 1 it appends nothing: a size of zero would
// end the body (RFC 9112 §7.1).
func AppendChunk(dst []byte, n int) []byte {
	if n < 1 {
		return dst
	}
	dst = strconv.AppendInt(dst, int64(n), 16)
	return append(dst, crlf...)
}

// AppendLastChunk appends the end of a chunked body: the last chunk, the
// trailers if there are any (nil: none), and the empty line. Fields that may
// not stand in trailers are left out.
func AppendLastChunk(dst []byte, trailers *codec.Head) []byte {
	dst = append(dst, "0\r\n"...)
	if trailers != nil {
		w := writer{dst: dst, buf: trailers.Bytes(), skip: notTrailing}
		w.fields(trailers, -1)
		dst = w.dst
	}
	return append(dst, crlf...)
}

// notTrailing are the fields that may not stand in a trailer section.
var notTrailing = codec.NotTrailing()
