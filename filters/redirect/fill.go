package redirect

import (
	"bytes"

	"github.com/corelane/corelane/filters"
)

// fill makes the location from the request; false if that needs a host and
// the request has none that could stand in a URL.
func (t template) fill(dst []byte, ctx *filters.Context) ([]byte, bool) {
	h := ctx.Request
	for i := range t {
		p := &t[i]
		switch p.part {
		case literal:
			dst = append(dst, p.text...)
		case scheme:
			dst = append(dst, ctx.Scheme...)
		case path:
			dst = appendPath(dst, h.Path(), p.zone)
		case query:
			dst = appendQuery(dst, h.Query())
		case host:
			name, _ := splitPort(h.Authority())
			if !isHost(name) {
				return dst, false
			}
			dst = appendHost(dst, name, p.zone)
		}
	}
	return dst, true
}

// appendPath begins with exactly one slash of its own or of the text before, so
// that what follows the authority can never extend it.
func appendPath(dst, path []byte, z zone) []byte {
	if z == inQuery {
		return appendEscaped(dst, path, &unreserved)
	}
	path = bytes.TrimPrefix(path, slash)
	if !bytes.HasSuffix(dst, slash) {
		dst = append(dst, '/')
	}
	return appendEscaped(dst, path, &pathBytes)
}

var slash = []byte("/")

// appendQuery leaves no lonely mark behind when there is no query.
func appendQuery(dst, query []byte) []byte {
	if len(query) == 0 {
		return dst[:len(dst)-1]
	}
	return appendEscaped(dst, query, &queryBytes)
}

func appendHost(dst, name []byte, z zone) []byte {
	if z == inAuthority {
		return append(dst, name...)
	}
	return appendEscaped(dst, name, &unreserved)
}

// oneSlash makes one slash of those that a location begins with: "//name" would
// be a host (RFC 3986 §4.2).
func oneSlash(location []byte) []byte {
	for bytes.HasPrefix(location, []byte("//")) {
		location = location[1:]
	}
	return location
}

// splitPort splits an authority at the colon before its port. Without one the
// port is empty.
func splitPort(authority []byte) (name, port []byte) {
	colon := bytes.LastIndexByte(authority, ':')
	if colon < 0 || bytes.IndexByte(authority[colon:], ']') >= 0 {
		return authority, nil
	}
	return authority[:colon], authority[colon+1:]
}

// isHost tells whether a name can stand in a URL as a host and as nothing else:
// no user, no second colon, no escapes. An address of IPv6 is in brackets.
func isHost(name []byte) bool {
	inside, bracketed := bytes.CutPrefix(name, []byte("["))
	if bracketed {
		inside, bracketed = bytes.CutSuffix(inside, []byte("]"))
		return bracketed && len(inside) > 0 && all(inside, &addressBytes)
	}
	return len(name) > 0 && all(name, &hostBytes)
}

func isPort(port []byte) bool { return len(port) <= 5 && all(port, &digits) }

func all(b []byte, set *byteSet) bool {
	for _, c := range b {
		if !set[c] {
			return false
		}
	}
	return true
}

// appendEscaped percent-encodes the bytes that are not in the set (RFC 3986 §2.1).
func appendEscaped(dst, b []byte, set *byteSet) []byte {
	const hex = "0123456789ABCDEF"
	for _, c := range b {
		if set[c] {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', hex[c>>4], hex[c&15])
		}
	}
	return dst
}

// byteSet says which bytes may stand at a place.
type byteSet [256]bool

// Escapes of the request stay as they are: '%' is in the sets of path and query.
// In a value within the query it is not, so that the value arrives as it was.
var (
	digits       = setOf("0123456789")
	hexDigits    = setOf("0123456789abcdefABCDEF")
	addressBytes = setOf("0123456789abcdefABCDEF:.")
	hostBytes    = setOf(letters + "0123456789-._")
	unreserved   = setOf(letters + "0123456789-._~")
	pathBytes    = setOf(letters + "0123456789-._~!$&'()*+,;=:@/%")
	queryBytes   = setOf(letters + "0123456789-._~!$&'()*+,;=:@/%?")
)

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

func setOf(members string) (set byteSet) {
	for i := range len(members) {
		set[members[i]] = true
	}
	return set
}
