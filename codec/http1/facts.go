package http1

import (
	"bytes"

	"github.com/corelane/corelane/codec"
)

// facts are what the fields read so far say about the body and the connection.
type facts struct {
	hasHost bool

	hasLength  bool
	keepLength bool // the Content-Length line can be sent on as it is
	length     int64

	hasTE bool

	options     int // in all Connection fields
	closes      bool
	keepsAlive  bool
	upgrades    bool
	upgrade     codec.Span
	upgradesH2C bool
	expect100   bool
}

// lastFact is the last field name that facts look at.
const lastFact = codec.Expect

// note takes account of one field, whose value is in w.
func (t *facts) note(d *Decoder, w []byte, k codec.Known, at codec.Span, canonical bool) bool {
	value := at.In(w)
	switch k {
	case codec.Host:
		if !d.response {
			return t.noteHost(d, value, at)
		}
	case codec.ContentLength:
		return t.noteLength(d, value, canonical)
	case codec.TransferEncoding:
		return t.noteTE(d, value)
	case codec.Connection:
		return t.noteConnection(d, value)
	case codec.Upgrade:
		t.noteUpgrade(value, at)
	case codec.Expect:
		t.expect100 = t.expect100 || codec.EqualFold(value, "100-continue")
	}
	return true
}

// noteHost: RFC 9112 §3.2. An empty Host is valid: the authority may be empty.
// The absolute form has its own (§3.2.2).
func (t *facts) noteHost(d *Decoder, value []byte, at codec.Span) bool {
	if t.hasHost {
		return d.fail(errHostTwice)
	}
	if len(value) > 0 && !validAuthority(value) {
		return d.fail(errHost)
	}
	t.hasHost = true
	if d.line.Scheme.Len() == 0 {
		d.line.Authority = at
	}
	return true
}

// noteLength: RFC 9112 §6.3. An upstream may repeat the same length; the field
// is then kept once.
func (t *facts) noteLength(d *Decoder, value []byte, canonical bool) bool {
	n, ok := parseLength(value)
	switch {
	case !ok:
		return d.fail(errLength)
	case t.hasTE:
		return d.fail(errLengthAndTE)
	case t.hasLength && (!d.response || n != t.length):
		return d.fail(errLengthTwice)
	}
	t.keepLength = !t.hasLength && canonical && (value[0] != '0' || len(value) == 1)
	t.hasLength, t.length = true, n
	return true
}

func parseLength(b []byte) (n int64, ok bool) {
	if len(b) == 0 || len(b) > maxLengthDigits {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// noteTE: RFC 9112 §6.1. One chunked is the only coding understood.
func (t *facts) noteTE(d *Decoder, value []byte) bool {
	switch {
	case t.hasTE:
		return d.fail(errTETwice)
	case t.hasLength:
		return d.fail(errLengthAndTE)
	case d.minor == 0:
		return d.fail(errTEVersion)
	}
	if f := judgeCodings(value); f != nil {
		return d.fail(f)
	}
	t.hasTE = true
	return true
}

// judgeCodings tells a list that means nothing, or whose body would not end,
// from a coding that is merely not known.
func judgeCodings(list []byte) *fault {
	if codec.EqualFold(list, "chunked") {
		return nil
	}
	for chunked := false; ; {
		coding, rest := codec.NextOption(list)
		name, _, _ := bytes.Cut(coding, []byte(";"))
		if chunked || !codec.IsToken(codec.TrimOWS(name)) {
			return errTE
		}
		if codec.EqualFold(codec.TrimOWS(name), "chunked") {
			if len(name) < len(coding) {
				return errTE // chunked has no parameters (RFC 9112 §7.1)
			}
			chunked = true
		}
		if rest == nil {
			return errCoding
		}
		list = rest
	}
}

func (t *facts) noteConnection(d *Decoder, list []byte) bool {
	var option []byte
	for len(list) > 0 {
		option, list = codec.NextOption(list)
		if t.options++; t.options > maxOptions {
			return d.fail(errOptions)
		}
		switch {
		case codec.EqualFold(option, "close"):
			t.closes = true
		case codec.EqualFold(option, "keep-alive"):
			t.keepsAlive = true
		case codec.EqualFold(option, "upgrade"):
			t.upgrades = true
		}
	}
	return true
}

func (t *facts) noteUpgrade(list []byte, at codec.Span) {
	if t.upgrade.Len() == 0 {
		t.upgrade = at
	}
	var protocol []byte
	for len(list) > 0 {
		protocol, list = codec.NextOption(list)
		t.upgradesH2C = t.upgradesH2C || codec.EqualFold(protocol, "h2c")
	}
}

// checkHead judges what only the whole head shows.
func (d *Decoder) checkHead() bool {
	if !d.response && d.minor > 0 && !d.facts.hasHost {
		return d.fail(errHostMissing)
	}
	return true
}

// report tells the head what was found out.
func (t *facts) report(h *codec.Head, d *Decoder) {
	length := int64(-1)
	if t.hasLength {
		length = t.length
	}
	framing := d.framing()
	keepAlive := !t.closes && (d.minor > 0 || t.keepsAlive) && framing != codec.FramingClose
	if !t.upgrades || t.upgradesH2C || d.minor == 0 {
		t.upgrade = codec.Span{}
	}
	h.SetReceived(framing, length, t.hasLength && t.keepLength, keepAlive, t.expect100 && d.minor > 0, t.upgrade)
}

// framing: RFC 9112 §6.3, of which CONNECT does not occur here.
func (d *Decoder) framing() codec.Framing {
	switch {
	case d.response && bodyless(d.status, d.method):
		return codec.FramingNone
	case d.facts.hasTE:
		return codec.FramingChunked
	case d.facts.hasLength:
		return codec.FramingLength
	case d.response:
		return codec.FramingClose
	}
	return codec.FramingNone
}

// bodyless says that a response has no body whatever its fields say.
func bodyless(status int, request codec.Method) bool {
	return request == codec.HEAD || status < 200 || status == 204 || status == 304
}
