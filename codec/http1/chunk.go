package http1

// line reads bytes of the lines between the data of chunks (RFC 9112 §7.1) and
// returns how many. It stops where data or trailers begin.
func (d *Body) line(b []byte) int {
	for i, c := range b {
		switch d.state {
		case bodySize:
			d.sizeByte(c)
		case bodyBWS:
			d.blank(c)
		case bodyExt:
			d.extByte(c)
		case bodySizeLF:
			d.endSize(c)
		case bodyDataCR:
			d.expect(c, '\r', bodyDataLF)
		case bodyDataLF:
			d.expect(c, '\n', bodySize)
			d.digits, d.ext = 0, 0
		default:
			return i
		}
		if d.err != nil {
			return 0
		}
	}
	return len(b)
}

func (d *Body) expect(c, want byte, next bodyState) {
	if c != want {
		d.fail(errChunkEnd)
		return
	}
	d.state = next
}

func (d *Body) sizeByte(c byte) {
	if v := hexValue(c); v >= 0 {
		if d.digits++; d.digits > maxSizeDigits {
			d.fail(errChunkSize)
			return
		}
		d.left = d.left<<4 | int64(v)
		return
	}
	if d.digits == 0 {
		d.fail(errChunkSize)
		return
	}
	d.blank(c)
}

// blank reads what may follow a chunk size: white space only before ';'.
func (d *Body) blank(c byte) {
	switch {
	case c == ';':
		d.state = bodyExt
	case c == ' ' || c == '\t':
		d.state = bodyBWS
	case c == '\r' && d.state == bodySize:
		d.state = bodySizeLF
		return
	case d.state == bodySize:
		d.fail(errChunkSize)
		return
	default:
		d.fail(errChunkExt)
		return
	}
	d.countExt()
}

// extByte skips an extension. Inside a quoted string any byte that is no
// control character may stand, outside it the same: nobody reads it.
func (d *Body) extByte(c byte) {
	switch {
	case c == '\r' && !d.quoted:
		d.state = bodySizeLF
		return
	case c < ' ' && c != '\t' || c == 0x7f:
		d.fail(errChunkExt)
		return
	case d.escaped:
		d.escaped = false
	case d.quoted && c == '\\':
		d.escaped = true
	case c == '"':
		d.quoted = !d.quoted
	}
	d.countExt()
}

func (d *Body) countExt() {
	if d.ext++; d.ext > maxExtension {
		d.fail(errChunkExt)
	}
}

// endSize ends a chunk-size line and begins what the size says.
func (d *Body) endSize(c byte) {
	if c != '\n' {
		d.fail(errChunkEnd)
		return
	}
	if d.left == 0 {
		d.state = bodyTrailers
		return
	}
	d.overhead = max(0, d.overhead+int64(d.digits+d.ext)-overheadPerChunk-d.left)
	if d.overhead > maxOverhead {
		d.fail(errChunkWaste)
		return
	}
	d.state = bodyData
}
