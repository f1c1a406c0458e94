package codec

// Classes of bytes, RFC 9110 §5.6.2 and RFC 3986 §3.3. One table lookup
// answers for all of them.
const (
	classToken  = 1 << iota // tchar
	classTarget             // may stand in a request target as it is
	classValue              // may stand in a field value
)

var classes = buildClasses()

func buildClasses() [256]uint8 {
	var table [256]uint8
	for i := range table {
		c := byte(i)
		if isAlpha(c) || isDigit(c) || inString(c, "!#$%&'*+-.^_`|~") {
			table[i] |= classToken
		}
		if c > ' ' && c < 0x7f && c != '#' {
			table[i] |= classTarget
		}
		if c == '\t' || c >= ' ' && c != 0x7f {
			table[i] |= classValue
		}
	}
	return table
}

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func inString(c byte, set string) bool {
	for i := 0; i < len(set); i++ {
		if set[i] == c {
			return true
		}
	}
	return false
}

// IsToken says that b is a token: a method or a field name (RFC 9110 §5.6.2).
func IsToken(b []byte) bool {
	for _, c := range b {
		if classes[c]&classToken == 0 {
			return false
		}
	}
	return len(b) > 0
}

// IsTokenByte says that c may stand in a token.
func IsTokenByte(c byte) bool { return classes[c]&classToken != 0 }

// IsTargetByte says that c may stand in a request target: visible ASCII
// without '#', which would begin a fragment.
func IsTargetByte(c byte) bool { return classes[c]&classTarget != 0 }

// IsValueByte says that c may stand in a field value: HTAB, SP, visible ASCII
// and obs-text (RFC 9110 §5.5).
func IsValueByte(c byte) bool { return classes[c]&classValue != 0 }

// EqualFold compares ASCII without regard to case, which is how field names,
// codings and connection options compare.
func EqualFold(a []byte, b string) bool { return equalFold(a, b) }

func equalFold[T string | []byte](a []byte, b T) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 0; i < len(a); i++ {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// appendValue appends a field value. A byte that must not stand in one becomes
// SP (RFC 9110 §5.5), so that no value can begin a line of its own.
func appendValue(dst, value []byte) []byte {
	from := len(dst)
	dst = append(dst, value...)
	for i, c := range dst[from:] {
		if classes[c]&classValue == 0 {
			dst[from+i] = ' '
		}
	}
	return dst
}

// appendTarget appends a piece of a request target. Bytes that must not stand
// in it are percent-encoded; query says whether '?' is one of them.
func appendTarget(dst, piece []byte, query bool) []byte {
	const hex = "0123456789ABCDEF"
	for _, c := range piece {
		if classes[c]&classTarget != 0 && (query || c != '?') {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', hex[c>>4], hex[c&15])
		}
	}
	return dst
}

// NextOption splits the first element off a comma-separated list, without the
// white space around it (RFC 9110 §5.6.1). Elements may be empty. Quoted
// commas are not understood: it serves lists of tokens.
func NextOption(list []byte) (option, rest []byte) {
	for i, c := range list {
		if c == ',' {
			return TrimOWS(list[:i]), list[i+1:]
		}
	}
	return TrimOWS(list), nil
}

// TrimOWS removes SP and HTAB from both ends.
func TrimOWS(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}
