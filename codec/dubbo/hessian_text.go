package dubbo

import (
	"encoding/binary"
	"unicode/utf8"
)

// Strings are counted in UTF-16 units. Units above U+FFFF are two sequences of
// three bytes, one for each surrogate, as the reference implementation has it.

// maxChunk is the most units of one piece of a string, and the most bytes of one
// piece of binary data.
const maxChunk = 0x8000

const (
	surrogates    = 0xd800
	lowSurrogates = 0xdc00
	endSurrogates = 0xe000
	firstWide     = 0x10000
)

// appendText appends s as a string of Hessian. Surrogates that are encoded each
// by itself stay; other bytes that are no UTF-8 become U+FFFD.
func appendText[T string | []byte](dst []byte, s T) []byte {
	switch n := len(s); {
	case n >= 0x400 || !ascii(s):
	case n < 0x20:
		return append(append(dst, byte(n)), s...)
	default:
		return append(append(dst, 0x30|byte(n>>8), byte(n)), s...)
	}
	for {
		head := len(dst)
		dst = append(dst, tagString, 0, 0)
		n, at := 0, 0
		for at < len(s) && n < maxChunk-1 {
			var units int
			dst, units, at = appendUnit(dst, s, at)
			n += units
		}
		s = s[at:]
		binary.BigEndian.PutUint16(dst[head+1:], uint16(n))
		if len(s) == 0 {
			return shorten(dst, head, n)
		}
		dst[head] = tagStringPart
	}
}

// shorten gives the last piece of a string, which begins at head and has n
// units, its shortest form.
func shorten(dst []byte, head, n int) []byte {
	switch {
	case n < 0x20:
		dst[head] = byte(n)
		return append(dst[:head+1], dst[head+3:]...)
	case n < 0x400:
		dst[head], dst[head+1] = 0x30|byte(n>>8), byte(n)
		return append(dst[:head+2], dst[head+3:]...)
	}
	return dst
}

func ascii[T string | []byte](s T) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// appendUnit appends the character of s at at, and returns the units it is and
// where the next one stands.
func appendUnit[T string | []byte](dst []byte, s T, at int) (out []byte, units, next int) {
	c := s[at]
	if c < utf8.RuneSelf {
		return append(dst, c), 1, at + 1
	}
	var b [utf8.UTFMax]byte
	k := copy(b[:], s[at:])
	if isSurrogate(b[:k]) {
		return append(dst, b[:3]...), 1, at + 3
	}
	r, size := utf8.DecodeRune(b[:k])
	if r < firstWide {
		return utf8.AppendRune(dst, r), 1, at + size
	}
	r -= firstWide
	dst = appendSurrogate(dst, surrogates|r>>10)
	return appendSurrogate(dst, lowSurrogates|r&0x3ff), 2, at + size
}

func appendSurrogate(dst []byte, r rune) []byte {
	return append(dst, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
}

// isSurrogate says whether b begins with a surrogate encoded by itself.
func isSurrogate(b []byte) bool {
	return len(b) >= 3 && b[0] == 0xed && b[1]&0xe0 == 0xa0 && b[2]&0xc0 == 0x80
}

// readText appends the string that comes next, as UTF-8. Pairs of surrogates
// become one character also where pieces meet between them.
func (s *scanner) readText(dst []byte) ([]byte, bool) {
	high := rune(0)
	for {
		n, last, ok := s.chunk(kindString)
		from := s.at
		if !ok || !s.units(n) {
			return dst, false
		}
		dst, high = appendUTF8(dst, s.b[from:s.at], high)
		if last {
			if high != 0 {
				dst = utf8.AppendRune(dst, utf8.RuneError)
			}
			return dst, true
		}
	}
}

// appendUTF8 appends units of text, which are whole sequences. high is the first
// half of a pair that is still open, or 0.
func appendUTF8(dst, text []byte, high rune) ([]byte, rune) {
	for len(text) > 0 {
		length, _ := sequence(text[0], 1)
		r := rune(text[0])
		if length > 1 {
			r = rune(text[0] & (0xff >> (length + 1)))
			for _, c := range text[1:length] {
				r = r<<6 | rune(c&0x3f)
			}
		}
		text = text[length:]
		low := r >= lowSurrogates && r < endSurrogates
		if high != 0 && low {
			dst, high = utf8.AppendRune(dst, firstWide+(high-surrogates)<<10+(r-lowSurrogates)), 0
			continue
		}
		if high != 0 {
			dst, high = utf8.AppendRune(dst, utf8.RuneError), 0
		}
		if r >= surrogates && r < lowSurrogates {
			high = r
			continue
		}
		dst = utf8.AppendRune(dst, r) // a lone half becomes U+FFFD
	}
	return dst, high
}
