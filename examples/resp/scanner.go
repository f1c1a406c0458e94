package resp

import "github.com/corelane/corelane/codec"

const (
	// maxDepth bounds the nesting of arrays.
	maxDepth = 32
	// maxLine bounds simple strings and errors, maxNumber integers and lengths; in
	// bytes.
	maxLine   = 64 << 10
	maxNumber = 20
	// smallest is the size of the smallest value, such as ":\r\n".
	smallest = 3
	// maxCommand is the longest name of a command in bytes.
	maxCommand = 64
)

// Reasons are those of a request; from a service they are upstream_bad_response.
var (
	errType    = &codec.Error{Reason: codec.BadRequest, Detail: "a value begins with none of + - : $ *"}
	errCommand = &codec.Error{Reason: codec.BadRequest, Detail: "a request is not an array of bulk strings, or its command has no name"}
	errNumber  = &codec.Error{Reason: codec.BadRequest, Detail: "a length or an integer is not a number"}
	errEnd     = &codec.Error{Reason: codec.BadRequest, Detail: "a value does not end with CRLF"}
	errLong    = &codec.Error{Reason: codec.BadRequest, Detail: "a line is too long"}
	errDeep    = &codec.Error{Reason: codec.BadRequest, Detail: "arrays are nested more than 32 deep"}
	errLarge   = &codec.Error{Reason: codec.BodyTooLarge, Detail: "a message is over its limit"}
)

// scanner finds the end of one value in bytes that come in any pieces. The zero
// value is ready.
type scanner struct {
	depth int
	// left counts the values that each open array still wants.
	left [maxDepth]int

	kind   byte // of the value inside; 0: before one
	length int  // of its line so far
	number int  // that the line says
	minus  bool
	cr     bool // a CR was seen
	bulk   int  // bytes of a bulk string and its CRLF still to come
	size   int  // of the message so far
}

// scan reads b and says how many bytes belong to the value and whether it is whole.
// request: the value is a command; most bounds it in bytes.
func (s *scanner) scan(b []byte, request bool, most int) (n int, whole bool, err *codec.Error) {
	for n < len(b) {
		k := 1
		switch {
		case s.bulk > 0:
			k, whole, err = s.skip(b[n:])
		case s.kind == 0:
			err = s.begin(b[n], request)
		default:
			whole, err = s.line(b[n], request, most)
		}
		n += k
		if s.size += k; err == nil && s.size > most {
			err = errLarge
		}
		if err != nil || whole {
			return n, whole, err
		}
	}
	return n, false, nil
}

// begin looks at the first byte of a value.
func (s *scanner) begin(c byte, request bool) *codec.Error {
	want := byte('$')
	if s.depth == 0 {
		want = '*'
	}
	switch {
	case request && c != want:
		return errCommand
	case c != '+' && c != '-' && c != ':' && c != '$' && c != '*':
		return errType
	}
	s.kind, s.length, s.number, s.minus, s.cr = c, 0, 0, false, false
	return nil
}

// line looks at a byte of the line that every value begins with.
func (s *scanner) line(c byte, request bool, most int) (whole bool, err *codec.Error) {
	switch {
	case s.cr && c == '\n':
		return s.lineEnds(request, most)
	case s.cr, c == '\n':
		return false, errEnd
	case c == '\r':
		s.cr = true
		return false, nil
	}
	s.length++
	if s.kind == '+' || s.kind == '-' {
		if s.length > maxLine {
			return false, errLong
		}
		return false, nil
	}
	switch {
	case c == '-' && s.length == 1:
		s.minus = true
	case c < '0' || c > '9' || s.length > maxNumber:
		return false, errNumber
	case s.kind == ':':
	default:
		if s.number = s.number*10 + int(c-'0'); s.number > most {
			return false, errLarge // a length that lies is known before it is believed
		}
	}
	return false, nil
}

// lineEnds acts on what a whole line says.
func (s *scanner) lineEnds(request bool, most int) (whole bool, err *codec.Error) {
	kind, null := s.kind, s.minus
	s.kind = 0
	if kind == '+' || kind == '-' {
		return s.valueEnds(), nil
	}
	switch digits := s.length; {
	case digits == 0 || null && digits == 1, null && kind != ':' && s.number != 1:
		return false, errNumber
	case kind == ':':
		return s.valueEnds(), nil
	case request && (null || kind == '*' && s.number == 0):
		return false, errCommand
	case null || kind == '*' && s.number == 0:
		return s.valueEnds(), nil
	case kind == '$':
		s.bulk = s.number + len("\r\n")
		return false, nil
	case s.depth == maxDepth:
		return false, errDeep
	case s.number > most/smallest:
		return false, errLarge
	}
	s.left[s.depth] = s.number
	s.depth++
	return false, nil
}

// skip goes over the bytes of a bulk string and looks at the CRLF behind it.
func (s *scanner) skip(b []byte) (n int, whole bool, err *codec.Error) {
	if s.bulk > len("\r\n") {
		n = min(len(b), s.bulk-len("\r\n"))
		s.bulk -= n
		return n, false, nil
	}
	if b[0] != "\n\r"[s.bulk-1] {
		return 1, false, errEnd
	}
	if s.bulk--; s.bulk > 0 {
		return 1, false, nil
	}
	return 1, s.valueEnds(), nil
}

// valueEnds closes the arrays that end with a value, and says whether the message
// does.
func (s *scanner) valueEnds() bool {
	for s.depth > 0 {
		if s.left[s.depth-1]--; s.left[s.depth-1] > 0 {
			return false
		}
		s.depth--
	}
	return true
}
