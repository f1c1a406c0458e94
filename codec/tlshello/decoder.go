package tlshello

// Numbers of TLS (RFC 8446 §4, §5.1; RFC 6066 §3).
const (
	recordHandshake = 22
	majorVersion    = 3
	clientHello     = 1
	extServerName   = 0
	nameHost        = 0
	// maxRecord is the longest record in clear text (RFC 8446 §5.1).
	maxRecord = 16 << 10
	// randomAndVersion stand in front of the session id.
	randomAndVersion = 34
)

// step is what the next bytes of the message are.
type step uint8

const (
	stepType step = iota
	stepLength
	stepRandom // version and random
	stepSessionLength
	stepSession
	stepSuitesLength
	stepSuites
	stepMethodsLength
	stepMethods
	stepExtensionsLength
	stepExtension // type
	stepExtensionLength
	stepSkip // the rest of an extension
	stepListLength
	stepNameType
	stepNameLength
	stepName
	stepDone
)

// numbers are the steps that are numbers, with their width in bytes.
var numbers = [stepDone + 1]uint8{
	stepType: 1, stepLength: 3, stepSessionLength: 1, stepSuitesLength: 2, stepMethodsLength: 1,
	stepExtensionsLength: 2, stepExtension: 2, stepExtensionLength: 2,
	stepListLength: 2, stepNameType: 1, stepNameLength: 2,
}

// Decoder reads one first message. Its zero value is ready; it is used once, by
// one goroutine at a time.
type Decoder struct {
	total  int // bytes read
	header [5]byte
	inHead int // bytes of the record's header that are there
	record int // bytes left of the record

	step     step
	got      uint8 // bytes of a number that are there
	value    int   // of the number so far
	need     int   // bytes left of what is skipped, or of the name
	message  int   // bytes left of the message
	exts     int   // and of its extensions
	ext      int   // and of the extension
	list     int   // and of its list of names
	kind     int   // of the extension
	named    bool  // a server name was there
	nameSize int
	name     [MaxName]byte
}

// Started reports whether a byte was read.
func (d *Decoder) Started() bool { return d.total > 0 }

// Name is the server name in lower case and without the root's dot; empty if the
// client gave none. It is complete when Read has said done, and part of d.
func (d *Decoder) Name() []byte { return d.name[:d.nameSize] }

// Read takes the next bytes. done says that the message is complete; what stands
// behind it in b is not looked at. An error is one of the Err variables and final.
func (d *Decoder) Read(b []byte) (done bool, err error) {
	for len(b) > 0 {
		if d.record == 0 {
			n, err := d.readHeader(b)
			if err != nil {
				return false, err
			}
			b = b[n:]
			continue
		}
		part := b[:min(len(b), d.record)]
		if d.total += len(part); d.total > Max {
			return false, ErrTooLong
		}
		if err := d.readMessage(part); err != nil {
			return false, err
		}
		if d.step == stepDone {
			return true, d.finish()
		}
		d.record -= len(part)
		b = b[len(part):]
	}
	return false, nil
}

// readHeader takes bytes of a record's header. The first two tell TLS from other
// protocols; a later record must be like the first.
func (d *Decoder) readHeader(b []byte) (n int, err error) {
	n = copy(d.header[d.inHead:], b)
	first := d.total == d.inHead
	d.inHead += n
	d.total += n
	h := &d.header
	if h[0] != recordHandshake || d.inHead > 1 && h[1] != majorVersion {
		if first {
			return 0, ErrNotTLS
		}
		return 0, ErrMalformed
	}
	if d.inHead < len(h) {
		return n, nil
	}
	d.inHead = 0
	d.record = int(h[3])<<8 | int(h[4])
	if d.record == 0 || d.record > maxRecord {
		return 0, ErrMalformed
	}
	return n, nil
}

// readMessage takes bytes of the handshake message.
func (d *Decoder) readMessage(b []byte) error {
	for len(b) > 0 && d.step != stepDone {
		n := 1
		if width := numbers[d.step]; width > 0 {
			d.value = d.value<<8 | int(b[0])
			d.got++
			if err := d.count(1); err != nil {
				return err
			}
			if d.got == width {
				value := d.value
				d.got, d.value = 0, 0
				if err := d.number(value); err != nil {
					return err
				}
			}
		} else {
			n = min(len(b), d.need)
			if d.step == stepName {
				d.nameSize += copy(d.name[d.nameSize:], b[:n])
			}
			if err := d.count(n); err != nil {
				return err
			}
			if d.need -= n; d.need == 0 {
				d.passed()
			}
		}
		if d.message == 0 && d.step > stepLength && d.step != stepDone {
			return ErrMalformed // it ends too early
		}
		b = b[n:]
	}
	return nil
}

// count takes n bytes off everything that they are part of.
func (d *Decoder) count(n int) error {
	if d.step > stepLength {
		d.message -= n
	}
	if d.step >= stepExtension {
		d.exts -= n
	}
	if d.step >= stepSkip {
		d.ext -= n
	}
	if d.step >= stepNameType {
		d.list -= n
	}
	if d.message < 0 || d.exts < 0 || d.ext < 0 || d.list < 0 {
		return ErrMalformed
	}
	return nil
}

// skip goes to a step of n bytes, or past it if there are none.
func (d *Decoder) skip(s step, n int) error {
	d.step, d.need = s, n
	if n > d.message {
		return ErrMalformed
	}
	if n == 0 {
		d.passed()
	}
	return nil
}

// number takes the number of the current step.
func (d *Decoder) number(v int) error {
	switch d.step {
	case stepType:
		if v != clientHello {
			return ErrMalformed
		}
		d.step = stepLength
	case stepLength:
		if d.message = v; v > Max {
			return ErrTooLong
		}
		return d.skip(stepRandom, randomAndVersion)
	case stepSessionLength:
		return d.skip(stepSession, v)
	case stepSuitesLength:
		return d.skip(stepSuites, v)
	case stepMethodsLength:
		return d.skip(stepMethods, v)
	case stepExtensionsLength:
		if d.exts = v; v != d.message {
			return ErrMalformed
		}
		d.nextExtension()
	case stepExtension:
		d.kind, d.step = v, stepExtensionLength
	default:
		return d.extensionNumber(v)
	}
	return nil
}

// extensionNumber is number within an extension.
func (d *Decoder) extensionNumber(v int) error {
	switch d.step {
	case stepExtensionLength:
		if d.ext = v; v > d.exts {
			return ErrMalformed
		}
		if d.kind != extServerName {
			return d.skip(stepSkip, v)
		}
		if d.named {
			return ErrName
		}
		d.named, d.step = true, stepListLength
	case stepListLength:
		if d.list = v; v != d.ext || v == 0 {
			return ErrMalformed
		}
		d.step = stepNameType
	case stepNameType:
		if v != nameHost || d.nameSize > 0 {
			return ErrName // no other kind was ever defined, and one of a kind is allowed
		}
		d.step = stepNameLength
	case stepNameLength:
		if v == 0 || v > MaxName {
			return ErrName
		}
		if v > d.list {
			return ErrMalformed
		}
		return d.skip(stepName, v)
	}
	return nil
}

// passed goes on behind a step that was skipped or read.
func (d *Decoder) passed() {
	switch d.step {
	case stepRandom:
		d.step = stepSessionLength
	case stepSession:
		d.step = stepSuitesLength
	case stepSuites:
		d.step = stepMethodsLength
	case stepMethods:
		d.step = stepExtensionsLength
		if d.message == 0 {
			d.step = stepDone // a client of old needs no extensions
		}
	case stepSkip:
		d.nextExtension()
	case stepName:
		if d.list > 0 {
			d.step = stepNameType
			return
		}
		d.nextExtension()
	}
}

func (d *Decoder) nextExtension() {
	d.step = stepExtension
	if d.exts == 0 {
		d.step = stepDone
	}
}

// finish gives the name the form that names are compared in.
func (d *Decoder) finish() error {
	if n := d.nameSize; n > 1 && d.name[n-1] == '.' {
		d.nameSize--
	}
	for i, c := range d.name[:d.nameSize] {
		switch {
		case 'A' <= c && c <= 'Z':
			d.name[i] = c + 'a' - 'A'
		case c <= ' ' || c >= 0x7f:
			return ErrName
		}
	}
	return nil
}
