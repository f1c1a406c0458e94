package route

import "bytes"

// PathOptions is a listener's policy on paths.
type PathOptions struct {
	// RejectDangerous makes paths ambiguous that servers are known to read
	// differently: those with %2f, %5c, %00 or ";".
	RejectDangerous bool
	// MergeSlashes makes one "/" of several in a row.
	MergeSlashes bool
}

// Normalize returns the one form of a path that is matched and forwarded. The
// path comes without its query. Dot segments are removed (RFC 3986 §5.2.4),
// also encoded ones; escapes of unreserved characters are decoded (§6.2.2.2)
// and all others kept as they came.
//
// A path is ambiguous, and then returned as it is, if it climbs above the root,
// has a backslash, a "#", a control byte or a broken escape, or does not begin
// with "/" ("*" alone, of OPTIONS, is returned as it is); and by the options.
//
// Without anything to change the result is the path itself. Else it is written
// over dst, which is grown if it has less room than the path is long. The
// result is never longer than the path. dst must not share memory with the
// path, unless it is path[:0]. Any goroutine may call it.
func Normalize(dst, path []byte, o PathOptions) (out []byte, ambiguous bool) {
	if len(path) == 0 || path[0] != '/' {
		return path, string(path) != "*"
	}
	if isPlain(path, o) {
		return path, false
	}
	out, ok := rewritePath(dst[:0], path, o)
	if !ok {
		return path, true
	}
	return out, false
}

// isPlain is a quick look for bytes that might have to be changed or refused.
func isPlain(path []byte, o PathOptions) bool {
	last := byte(0)
	for _, c := range path {
		if suspect[c] {
			switch {
			case c == '.' && last != '/', c == ';' && !o.RejectDangerous:
			case c == '/' && (last != '/' || !o.MergeSlashes):
			default:
				return false
			}
		}
		last = c
	}
	return true
}

// suspect marks the bytes that isPlain looks at more closely.
var suspect = func() (table [256]bool) {
	for c := range 0x20 {
		table[c] = true
	}
	for _, c := range "%\\#;./\x7f" {
		table[c] = true
	}
	return table
}()

// rewritePath copies segment by segment. It never writes ahead of what it has
// read, so dst may lie over the path.
func rewritePath(out, path []byte, o PathOptions) ([]byte, bool) {
	for at := 0; at < len(path); {
		start, ok := len(out), false
		out = append(out, '/')
		if out, at, ok = copySegment(out, path, at+1, o.RejectDangerous); !ok {
			return nil, false
		}
		last := at == len(path)
		switch segment := out[start+1:]; {
		case string(segment) == ".":
			out = out[:start]
		case string(segment) == "..":
			if start == 0 {
				return nil, false
			}
			out = out[:bytes.LastIndexByte(out[:start], '/')]
		case len(segment) == 0 && o.MergeSlashes && !last:
			out = out[:start]
			continue
		default:
			continue
		}
		if last { // a dot segment at the end stands for a folder
			out = append(out, '/')
		}
	}
	return out, true
}

// copySegment decodes up to the next "/" or the end and returns where that is.
func copySegment(out, path []byte, at int, rejectDangerous bool) ([]byte, int, bool) {
	for at < len(path) && path[at] != '/' {
		c := path[at]
		switch {
		case c == '\\', c == '#', c < 0x20, c == 0x7f, c == ';' && rejectDangerous:
			return out, at, false
		case c != '%':
			out = append(out, c)
			at++
			continue
		}
		decoded, ok := unescape(path[at:])
		switch {
		case !ok, rejectDangerous && isDangerous(decoded):
			return out, at, false
		case isUnreserved(decoded):
			out = append(out, decoded)
		default:
			out = append(out, path[at:at+3]...)
		}
		at += 3
	}
	return out, at, true
}

func isDangerous(c byte) bool { return c == '/' || c == '\\' || c == 0 }

// unescape returns the byte that "%xx" at the beginning of b stands for.
func unescape(b []byte) (byte, bool) {
	if len(b) < 3 {
		return 0, false
	}
	high, ok1 := unhex(b[1])
	low, ok2 := unhex(b[2])
	return high<<4 | low, ok1 && ok2
}

func unhex(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// isUnreserved follows RFC 3986 §2.3.
func isUnreserved(c byte) bool {
	switch {
	case c|0x20 >= 'a' && c|0x20 <= 'z', c >= '0' && c <= '9':
		return true
	}
	return c == '-' || c == '.' || c == '_' || c == '~'
}

// StripSegments returns a path, which begins with "/", without its first n
// segments; of fewer segments "/" is left. The result is part of the path.
func StripSegments(path []byte, n int) []byte {
	rest := path
	for ; n > 0; n-- {
		next := bytes.IndexByte(rest[1:], '/')
		if next < 0 {
			return path[:1]
		}
		rest = rest[1+next:]
	}
	return rest
}
