package dubbo

import (
	"encoding/binary"

	"github.com/corelane/corelane/codec"
)

// Tags of Hessian 2 that are no ranges.
const (
	tagBinaryPart  = 0x41
	tagClass       = 'C'
	tagFalse       = 'F'
	tagMap         = 'H'
	tagInt         = 'I'
	tagTypedMap    = 'M'
	tagNull        = 'N'
	tagObject      = 'O'
	tagReference   = 'Q'
	tagStringPart  = 'R'
	tagString      = 'S'
	tagTrue        = 'T'
	tagOpenTyped   = 'U'
	tagTyped       = 'V'
	tagOpen        = 'W'
	tagList        = 'X'
	tagEnd         = 'Z'
	tagBinary      = 'B'
	tagDouble      = 'D'
	tagDate        = 'J'
	tagMinutes     = 'K'
	tagLong        = 'L'
	tagLongInt     = 'Y'
	tagDoubleZero  = 0x5b
	tagDoubleOne   = 0x5c
	tagDoubleByte  = 0x5d
	tagDoubleShort = 0x5e
	tagDoubleMilli = 0x5f
)

// tagKind says how the extent of a value is found.
type tagKind uint8

const (
	kindNone tagKind = iota
	kindScalar
	kindString
	kindBinary
	kindContainer
)

// tags are all first bytes of values; size is the number of bytes behind the tag
// of a scalar.
var tags = func() (table [256]struct {
	kind tagKind
	size uint8
},
) {
	set := func(from, to int, kind tagKind, size uint8) {
		for tag := from; tag <= to; tag++ {
			table[tag].kind, table[tag].size = kind, size
		}
	}
	set(0x00, 0x1f, kindString, 0)
	set(0x20, 0x2f, kindBinary, 0)
	set(0x30, 0x33, kindString, 0)
	set(0x34, 0x37, kindBinary, 0)
	set(0x38, 0x3f, kindScalar, 2) // long
	set(tagBinaryPart, tagBinary, kindBinary, 0)
	set(tagStringPart, tagString, kindString, 0)
	for _, tag := range []int{tagNull, tagTrue, tagFalse, tagDoubleZero, tagDoubleOne} {
		set(tag, tag, kindScalar, 0)
	}
	set(tagDoubleByte, tagDoubleByte, kindScalar, 1)
	set(tagDoubleShort, tagDoubleShort, kindScalar, 2)
	for _, tag := range []int{tagInt, tagMinutes, tagLongInt, tagDoubleMilli} {
		set(tag, tag, kindScalar, 4)
	}
	for _, tag := range []int{tagDouble, tagDate, tagLong} {
		set(tag, tag, kindScalar, 8)
	}
	for _, tag := range []int{tagClass, tagMap, tagTypedMap, tagObject, tagReference, tagOpenTyped, tagTyped, tagOpen, tagList} {
		set(tag, tag, kindContainer, 0)
	}
	set(0x60, 0x7f, kindContainer, 0) // objects, typed and untyped lists
	set(0x80, 0xbf, kindScalar, 0)    // int
	set(0xc0, 0xcf, kindScalar, 1)
	set(0xd0, 0xd7, kindScalar, 2)
	set(0xd8, 0xef, kindScalar, 0) // long
	set(0xf0, 0xff, kindScalar, 1)
	return table
}()

// scanner walks over Hessian values without decoding them. A method that returns
// false has set fault. Values of one body share the scanner, since references,
// types and classes are counted through all of them.
type scanner struct {
	b  []byte
	at int

	refs, types int
	classes     []uint32 // number of fields by definition
	// wide is how many of a string's units a sequence of four bytes counts for.
	// Hessian counts UTF-16 units and has no such sequences; encoders that send
	// them nevertheless count one or two.
	wide    int
	sawWide bool
	fault   *fault
}

// reset starts over with b and keeps the memory for classes.
func (s *scanner) reset(b []byte, wide int) {
	*s = scanner{b: b, classes: s.classes[:0], wide: wide}
}

func (s *scanner) fail(f *fault) bool {
	if s.fault == nil {
		s.fault = f
	}
	return false
}

func (s *scanner) left() int { return len(s.b) - s.at }

// peek returns the next byte; faultCut if there is none.
func (s *scanner) peek() (byte, bool) {
	if s.at >= len(s.b) {
		return 0, s.fail(faultCut)
	}
	return s.b[s.at], true
}

func (s *scanner) skip(n int) bool {
	if n > s.left() {
		return s.fail(faultCut)
	}
	s.at += n
	return true
}

// value skips one value that lies depth deep.
func (s *scanner) value(depth int) bool {
	tag, ok := s.peek()
	if !ok {
		return false
	}
	switch t := &tags[tag]; t.kind {
	case kindScalar:
		return s.skip(1 + int(t.size))
	case kindString:
		return s.text()
	case kindBinary:
		return s.bytes()
	case kindContainer:
		if depth >= maxDepth {
			return s.fail(faultDepth)
		}
		return s.container(depth + 1)
	}
	return s.fail(faultTag)
}

// container skips a list, a map, an object with its class definitions, or a
// reference. Its members lie depth deep.
func (s *scanner) container(depth int) bool {
	tag := s.b[s.at]
	s.at++
	switch {
	case tag == tagClass:
		return s.class() && s.defined(depth)
	case tag == tagReference:
		_, ok := s.reference()
		return ok
	case tag == tagObject || tag >= 0x60 && tag <= 0x6f:
		class, ok := s.classOf(tag)
		s.refs++
		return ok && s.values(int(s.classes[class]), depth)
	case tag == tagMap || tag == tagTypedMap:
		s.refs++
		return (tag == tagMap || s.typeName()) && s.untilEnd(depth)
	case tag == tagOpen || tag == tagOpenTyped:
		s.refs++
		return (tag == tagOpen || s.typeName()) && s.untilEnd(depth)
	}
	s.refs++
	n, ok := s.length(tag)
	return ok && s.values(n, depth)
}

// defined skips what follows a class definition: an object, or another
// definition. They are not nested in each other, however many there are.
func (s *scanner) defined(depth int) bool {
	for {
		tag, ok := s.peek()
		if !ok {
			return false
		}
		if tag != tagClass {
			return s.value(depth - 1)
		}
		s.at++
		if !s.class() {
			return false
		}
	}
}

// length reads what stands in front of the members of a list of known length,
// its type included.
func (s *scanner) length(tag byte) (int, bool) {
	n, ok := int(tag&7), true
	if tag == tagTyped || tag >= 0x70 && tag <= 0x77 {
		ok = s.typeName()
	}
	if ok && (tag == tagTyped || tag == tagList) {
		n, ok = s.integer()
	}
	return n, ok
}

func (s *scanner) values(n, depth int) bool {
	if n < 0 || n > s.left() { // each takes at least a byte
		return s.fail(faultLength)
	}
	for range n {
		if !s.value(depth) {
			return false
		}
	}
	return true
}

// untilEnd skips values up to the Z that ends a map or a list.
func (s *scanner) untilEnd(depth int) bool {
	for {
		tag, ok := s.peek()
		if !ok {
			return false
		}
		if tag == tagEnd {
			s.at++
			return true
		}
		if !s.value(depth) {
			return false
		}
	}
}

// class skips a class definition behind its tag and counts it.
func (s *scanner) class() bool {
	if len(s.classes) == maxClasses {
		return s.fail(faultClasses)
	}
	if !s.text() {
		return false
	}
	n, ok := s.integer()
	if !ok {
		return false
	}
	if n < 0 || n > s.left() {
		return s.fail(faultLength)
	}
	for range n {
		if !s.text() {
			return false
		}
	}
	s.classes = append(s.classes, uint32(n))
	return true
}

// classOf returns which definition an object has, behind its tag.
func (s *scanner) classOf(tag byte) (int, bool) {
	class := int(tag & 15)
	if tag == tagObject {
		var ok bool
		if class, ok = s.integer(); !ok {
			return 0, false
		}
	}
	if class < 0 || class >= len(s.classes) {
		return 0, s.fail(faultClass)
	}
	return class, true
}

// reference returns which value is meant, behind the tag.
func (s *scanner) reference() (int, bool) {
	n, ok := s.integer()
	if !ok {
		return 0, false
	}
	if n < 0 || n >= s.refs {
		return 0, s.fail(faultReference)
	}
	return n, true
}

// typeName skips the type of a list or a map: a name, which is counted, or the
// number of an earlier one.
func (s *scanner) typeName() bool {
	tag, ok := s.peek()
	if !ok {
		return false
	}
	if tags[tag].kind == kindString {
		s.types++
		return s.text()
	}
	n, ok := s.integer()
	if ok && (n < 0 || n >= s.types) {
		return s.fail(faultReference)
	}
	return ok
}

// integer reads an int.
func (s *scanner) integer() (int, bool) {
	tag, ok := s.peek()
	if !ok {
		return 0, false
	}
	at := s.at + 1
	isInt := tag >= 0x80 && tag <= 0xd7 || tag == tagInt
	if !isInt {
		return 0, s.fail(faultTag)
	}
	if !s.skip(1 + int(tags[tag].size)) {
		return 0, false
	}
	switch {
	case tag < 0xc0 && tag != tagInt:
		return int(tag) - 0x90, true
	case tag == tagInt:
		return int(int32(binary.BigEndian.Uint32(s.b[at:]))), true
	case tag < 0xd0:
		return (int(tag)-0xc8)<<8 | int(s.b[at]), true
	}
	return (int(tag)-0xd4)<<16 | int(binary.BigEndian.Uint16(s.b[at:])), true
}

// chunk reads the length of a piece of a string or of binary data, in units or
// bytes, and whether it is the last one.
func (s *scanner) chunk(kind tagKind) (n int, last, ok bool) {
	tag, ok := s.peek()
	if !ok {
		return 0, false, false
	}
	if tags[tag].kind != kind {
		return 0, false, s.fail(faultString)
	}
	size := 0
	switch {
	case tag == tagStringPart || tag == tagString || tag == tagBinaryPart || tag == tagBinary:
		size = 2
	case tag >= 0x30:
		size, n = 1, int(tag&3)
	case kind == kindBinary:
		n = int(tag & 15)
	default:
		n = int(tag)
	}
	at := s.at + 1
	if !s.skip(1 + size) {
		return 0, false, false
	}
	for _, c := range s.b[at:s.at] {
		n = n<<8 | int(c)
	}
	return n, tag != tagStringPart && tag != tagBinaryPart, true
}

// bytes skips binary data.
func (s *scanner) bytes() bool {
	for {
		n, last, ok := s.chunk(kindBinary)
		if !ok || !s.skip(n) {
			return false
		}
		if last {
			return true
		}
	}
}

// text skips a string.
func (s *scanner) text() bool {
	for {
		n, last, ok := s.chunk(kindString)
		if !ok || !s.units(n) {
			return false
		}
		if last {
			return true
		}
	}
}

// units skips n units of text.
func (s *scanner) units(n int) bool {
	for n > 0 {
		for n >= 8 && s.left() >= 8 && binary.LittleEndian.Uint64(s.b[s.at:])&0x8080808080808080 == 0 {
			s.at, n = s.at+8, n-8
		}
		if n == 0 {
			return true
		}
		c, ok := s.peek()
		if !ok {
			return false
		}
		length, units := sequence(c, s.wide)
		if length == 0 || units > n {
			return s.fail(faultText)
		}
		if !s.skip(length) {
			return false
		}
		s.sawWide = s.sawWide || length == 4
		n -= units
	}
	return true
}

// sequence returns the bytes of the sequence that c begins, and how many units
// it is; 0 bytes: c begins none.
func sequence(c byte, wide int) (length, units int) {
	switch {
	case c < 0x80:
		return 1, 1
	case c < 0xc0:
		return 0, 0
	case c < 0xe0:
		return 2, 1
	case c < 0xf0:
		return 3, 1
	case c < 0xf8:
		return 4, wide
	}
	return 0, 0
}

// token reads a string that is one piece, or null, which is empty.
func (s *scanner) token() (codec.Span, bool) {
	if tag, ok := s.peek(); ok && tag == tagNull {
		s.at++
		return codec.Span{}, true
	}
	n, last, ok := s.chunk(kindString)
	if ok && !last {
		return codec.Span{}, s.fail(faultString)
	}
	from := s.at
	if !ok || !s.units(n) {
		return codec.Span{}, false
	}
	return codec.Span{From: uint32(from), To: uint32(s.at)}, true
}
