package dubbo

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strconv"
	"time"

	"github.com/corelane/corelane/codec"
)

// AppendJSON appends what one value of Hessian 2 is in JSON. Objects become
// objects with a member "class", dates text (RFC 3339), binary data base64, what
// JSON has no number for text ("NaN"). A reference becomes a copy of what it
// refers to, and null within that itself. An error is a *codec.Error. It
// allocates; any goroutine may call it.
func AppendJSON(dst, value []byte) ([]byte, error) {
	w := newJSONWriter(value)
	if !w.value(1) || !isRest(value[w.at:]) && !w.fail(faultTrailing) {
		return dst, w.fault.of(codec.Responses)
	}
	return append(dst, w.out...), nil
}

// jsonWriter reads values and writes them as JSON while it does. What a list, a
// map or an object has become is remembered, for the references to it.
type jsonWriter struct {
	scanner
	out    []byte
	most   int // of out
	count  int // of values
	defs   []definition
	names  []string // of types
	made   []made   // by reference
	lowest int      // how deep the current value goes
	text   []byte   // for strings

	// thrown is what the outermost object says of itself, if it is an exception.
	thrown struct {
		class   string
		message codec.Span // of out
	}
}

// definition is that of a class.
type definition struct {
	name   string
	fields []string
}

// made is the JSON of a value. to is 0 while it is not complete.
type made struct{ from, to, height int }

func newJSONWriter(body []byte) *jsonWriter {
	w := &jsonWriter{most: min(minJSON+jsonFactor*len(body), maxJSON)}
	w.reset(body, 1)
	if s := w.scanner; !s.all() && s.sawWide {
		w.reset(body, 2)
	}
	return w
}

// all skips values to the end.
func (s *scanner) all() bool {
	for s.left() > 0 {
		if !s.value(1) {
			return false
		}
	}
	return true
}

// value writes the next value, which lies depth deep.
func (w *jsonWriter) value(depth int) bool {
	tag, ok := w.peek()
	if !ok {
		return false
	}
	if w.count++; w.count > maxValues {
		return w.fail(faultTooMany)
	}
	if len(w.out) > w.most {
		return w.fail(faultTooLarge)
	}
	switch tags[tag].kind {
	case kindScalar:
		from := w.at
		if !w.scanner.value(depth) {
			return false
		}
		w.out = appendScalar(w.out, w.b[from:w.at])
		return true
	case kindString:
		return w.string()
	case kindBinary:
		return w.binary()
	case kindContainer:
		if depth >= maxDepth {
			return w.fail(faultDepth)
		}
		return w.container(depth)
	}
	return w.fail(faultTag)
}

// appendScalar writes a value of fixed size, which is b.
func appendScalar(dst, b []byte) []byte {
	switch tag := b[0]; tag {
	case tagNull:
		return append(dst, "null"...)
	case tagTrue:
		return append(dst, "true"...)
	case tagFalse:
		return append(dst, "false"...)
	case tagDate:
		return appendDate(dst, int64(binary.BigEndian.Uint64(b[1:])))
	case tagMinutes:
		return appendDate(dst, int64(int32(binary.BigEndian.Uint32(b[1:])))*60_000)
	case tagDoubleZero, tagDoubleOne:
		return appendNumber(dst, float64(tag-tagDoubleZero))
	case tagDoubleByte:
		return appendNumber(dst, float64(int8(b[1])))
	case tagDoubleShort:
		return appendNumber(dst, float64(int16(binary.BigEndian.Uint16(b[1:]))))
	case tagDoubleMilli:
		return appendNumber(dst, 0.001*float64(int32(binary.BigEndian.Uint32(b[1:]))))
	case tagDouble:
		return appendNumber(dst, math.Float64frombits(binary.BigEndian.Uint64(b[1:])))
	}
	n, _ := wholeNumber(b)
	return appendInt(dst, n)
}

// appendNumber writes a double so that it is one to whoever reads it.
func appendNumber(dst []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(dst, `"-Infinity"`...)
	case v == math.Trunc(v) && math.Abs(v) < 1e15:
		return strconv.AppendFloat(dst, v, 'f', 1, 64)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, 64)
}

// The milliseconds of the first and last year that RFC 3339 can say.
const (
	firstDate = -62167219200_000
	lastDate  = 253402300799_999
)

func appendDate(dst []byte, ms int64) []byte {
	if ms < firstDate || ms > lastDate {
		return appendInt(dst, ms)
	}
	dst = append(dst, '"')
	dst = time.UnixMilli(ms).UTC().AppendFormat(dst, "2006-01-02T15:04:05.000Z07:00")
	return append(dst, '"')
}

func (w *jsonWriter) string() bool {
	text, ok := w.readText(w.text[:0])
	if ok {
		w.text = text
		w.out = appendQuoted(w.out, text)
	}
	return ok
}

// name reads a string that is kept.
func (w *jsonWriter) name() (string, bool) {
	text, ok := w.readText(w.text[:0])
	w.text = text
	return string(text), ok
}

func (w *jsonWriter) binary() bool {
	data := w.text[:0]
	for {
		n, last, ok := w.chunk(kindBinary)
		from := w.at
		if !ok || !w.skip(n) {
			return false
		}
		data = append(data, w.b[from:w.at]...)
		if last {
			break
		}
	}
	w.text = data
	w.out = append(base64.StdEncoding.AppendEncode(append(w.out, '"'), data), '"')
	return true
}

// appendQuoted writes UTF-8 as a string of JSON (RFC 8259 §7).
func appendQuoted[T string | []byte](dst []byte, s T) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(dst, s[from:]...), '"')
}
