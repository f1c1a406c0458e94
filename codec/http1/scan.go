package http1

import (
	"encoding/binary"
	"math/bits"

	"github.com/corelane/corelane/codec"
)

// The scanners look at eight bytes at once. A word is the bytes of the input in
// order of significance; ones*c is a word of eight bytes c. If all bytes are
// ASCII, adding 1 brings up bit 7 of a byte that is 0x7f, and subtracting n
// brings it up in one that is less than n. A borrow can bring it up wrongly, but
// only in bytes after one where it is right.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// skipTarget returns the offset of the first byte from i on that must not stand
// in a request target, or the length of w.
func skipTarget(w []byte, i int) int {
	for rest := w[i:]; len(rest) >= 8; rest = rest[8:] {
		x := binary.LittleEndian.Uint64(rest)
		y := x ^ ones*'#'
		if (x|(x-ones*'!')|(x+ones)|(y-ones))&highs != 0 {
			break
		}
		i += 8
	}
	for i < len(w) && codec.IsTargetByte(w[i]) {
		i++
	}
	return i
}

// skipVisible returns the offset of the first byte from i on that is a control
// character, HTAB included, or of a byte less than eight before the end of w.
// The caller looks at those one by one.
func skipVisible(w []byte, i int) int {
	for rest := w[i:]; len(rest) >= 8; rest = rest[8:] {
		x := binary.LittleEndian.Uint64(rest)
		if (x|(x-ones*0x20)|(x+ones))&highs != 0 {
			// Now exactly, since there may be bytes that are not ASCII.
			del := x ^ ones*0x7f
			if bad := ((x-ones*0x20)&^x | (del-ones)&^del) & highs; bad != 0 {
				return i + bits.TrailingZeros64(bad)/8
			}
		}
		i += 8
	}
	return i
}
