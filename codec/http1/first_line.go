package http1

import (
	"encoding/binary"

	"github.com/corelane/corelane/codec"
)

// scanMethod reads the method and the SP behind it (RFC 9112 §3.1).
func (d *Decoder) scanMethod(w []byte) bool {
	i := d.pos
	for i < len(w) && codec.IsTokenByte(w[i]) {
		i++
	}
	d.pos = i
	if i > maxMethod {
		return d.fail(errMethodLong)
	}
	if i == len(w) {
		return false
	}
	if w[i] != ' ' || i == 0 {
		return d.fail(errMethod)
	}
	d.line.Method = codec.Span{To: uint32(i)}
	if d.line.ID = codec.ParseMethod(w[:i]); d.line.ID == codec.CONNECT {
		return d.fail(errConnect)
	}
	d.pos, d.mark, d.stage = i+1, i+1, stageTarget
	return true
}

// scanTarget reads the request target and the SP behind it.
func (d *Decoder) scanTarget(w []byte) bool {
	i := skipTarget(w, d.pos)
	d.pos = i
	if i == len(w) {
		return false
	}
	if w[i] != ' ' {
		return d.fail(errTarget)
	}
	d.line.Target = codec.Span{From: uint32(d.mark), To: uint32(i)}
	if f := splitTarget(&d.line, w); f != nil {
		return d.fail(f)
	}
	d.pos, d.mark, d.stage = i+1, i+1, stageVersion
	return true
}

const (
	versionPrefix = "HTTP/1."
	versionLength = len("HTTP/1.1")
)

// version11 is "HTTP/1.1" as a little-endian word.
const version11 = 0x312e312f50545448

// scanVersion reads the version and the line end behind it (RFC 9112 §2.3).
func (d *Decoder) scanVersion(w []byte) bool {
	rest := w[d.mark:]
	end := versionLength + len("\r\n")
	if len(rest) >= end && binary.LittleEndian.Uint64(rest) == version11 && rest[8] == '\r' && rest[9] == '\n' {
		d.minor = 1
		d.plain = w[d.line.Target.From] == '/'
	} else {
		if f := d.checkVersion(rest); f != nil {
			return d.fail(f)
		}
		if len(rest) < end {
			return false
		}
		if rest[8] != '\r' || rest[9] != '\n' {
			return d.fail(errVersion)
		}
	}
	d.pos = d.mark + end
	d.fieldsFrom, d.stage = d.pos, stageLine
	return true
}

// checkVersion judges as much of a version as there is. A later minor version
// counts as 1 (RFC 9110 §2.5).
func (d *Decoder) checkVersion(rest []byte) *fault {
	for i := 0; i < len(rest) && i < versionLength; i++ {
		c := rest[i]
		isDigit := c >= '0' && c <= '9'
		switch {
		case i < len(versionPrefix) && c == versionPrefix[i]:
		case i == len("HTTP/") && isDigit:
			return errMajor
		case i == len(versionPrefix) && isDigit:
			d.minor = min(int(c-'0'), 1)
		default:
			return errVersion
		}
	}
	if len(rest) > versionLength && rest[versionLength] != '\r' {
		return errVersion
	}
	return nil
}

// scanStatus reads version, SP and status code (RFC 9112 §4), and what ends
// them: SP, or the CR of a line without a reason phrase.
func (d *Decoder) scanStatus(w []byte) bool {
	const (
		codeFrom = versionLength + 1
		codeTo   = codeFrom + 3
	)
	if len(w) > 0 {
		head := w[:min(len(w), versionLength)]
		if f := d.checkVersion(head); f != nil {
			return d.fail(f)
		}
	}
	if len(w) > versionLength && w[versionLength] != ' ' {
		return d.fail(errVersion)
	}
	code := 0
	for i := codeFrom; i < len(w) && i < codeTo; i++ {
		if w[i] < '0' || w[i] > '9' || w[i] == '0' && i == codeFrom {
			return d.fail(errStatus)
		}
		code = code*10 + int(w[i]-'0')
	}
	if len(w) <= codeTo {
		return false
	}
	d.status, d.mark, d.pos = code, codeTo, codeTo
	switch w[codeTo] {
	case ' ':
		d.mark, d.pos = codeTo+1, codeTo+1
		d.plain = d.minor == 1 && w[len(versionPrefix)] == '1'
	case '\r':
	default:
		return d.fail(errStatus)
	}
	d.stage = stageReason
	return true
}

// scanReason reads the reason phrase and the line end.
func (d *Decoder) scanReason(w []byte) bool {
	end, ok := d.scanToLineEnd(w)
	if !ok {
		return false
	}
	d.reason = codec.Span{From: uint32(d.mark), To: uint32(end)}
	d.fieldsFrom, d.stage = d.pos, stageLine
	return true
}
