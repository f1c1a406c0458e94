package route

import "slices"

// standardMethods have a bit each in a methodSet: those of RFC 9110 §9.3 and
// PATCH (RFC 5789), in alphabetical order.
var standardMethods = [...]string{
	"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE",
}

// methodBit returns 0 for a method that is not a standard one.
func methodBit(method []byte) uint16 {
	switch string(method) {
	case "CONNECT":
		return 1 << 0
	case "DELETE":
		return 1 << 1
	case "GET":
		return 1 << 2
	case "HEAD":
		return 1 << 3
	case "OPTIONS":
		return 1 << 4
	case "PATCH":
		return 1 << 5
	case "POST":
		return 1 << 6
	case "PUT":
		return 1 << 7
	case "TRACE":
		return 1 << 8
	}
	return 0
}

// methodSet is a set of methods. The empty set stands for all of them in a
// route, and for none in a match.
type methodSet struct {
	bits   uint16
	others []string
}

func makeMethodSet(methods []string) methodSet {
	var set methodSet
	for _, method := range methods {
		set.add(method)
	}
	return set
}

func (s *methodSet) add(method string) {
	if bit := methodBit([]byte(method)); bit != 0 {
		s.bits |= bit
		return
	}
	if !slices.Contains(s.others, method) {
		s.others = append(s.others, method)
	}
}

func (s *methodSet) addAll(other *methodSet) {
	s.bits |= other.bits
	for _, method := range other.others {
		s.add(method)
	}
}

func (s *methodSet) empty() bool { return s.bits == 0 && len(s.others) == 0 }

func (s *methodSet) has(method []byte) bool {
	if s.bits&methodBit(method) != 0 {
		return true
	}
	for _, other := range s.others {
		if string(method) == other {
			return true
		}
	}
	return false
}

// clear keeps the room of others for the next use.
func (s *methodSet) clear() {
	s.bits = 0
	s.others = s.others[:0]
}

// appendSorted appends the methods in alphabetical order, with ", " between them.
func (s *methodSet) appendSorted(dst []byte) []byte {
	slices.Sort(s.others)
	start, others := len(dst), s.others
	for i, method := range standardMethods {
		if s.bits&(1<<i) == 0 {
			continue
		}
		for len(others) > 0 && others[0] < method {
			dst = appendMethod(dst, start, others[0])
			others = others[1:]
		}
		dst = appendMethod(dst, start, method)
	}
	for _, method := range others {
		dst = appendMethod(dst, start, method)
	}
	return dst
}

func appendMethod(dst []byte, start int, method string) []byte {
	if len(dst) > start {
		dst = append(dst, ", "...)
	}
	return append(dst, method...)
}
