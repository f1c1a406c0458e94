package layout

// Order is the order of the bytes of an integer.
type Order uint8

// The orders.
const (
	BigEndian    Order = iota // the highest byte first
	LittleEndian              // the lowest byte first
)

// Integer is where an unsigned integer stands.
type Integer struct {
	// At is the offset of its first byte from the begin of the frame, Width its
	// size in bytes, 1 to 8.
	At, Width int
	Order     Order
}

// end is the offset behind it.
func (i Integer) end() int { return i.At + i.Width }

// most is the largest value that fits.
func (i Integer) most() uint64 {
	if i.Width >= 8 {
		return 1<<64 - 1
	}
	return 1<<(8*i.Width) - 1
}

// read returns the value in b, which holds all its bytes.
func (i Integer) read(b []byte) uint64 {
	var v uint64
	b = b[i.At:i.end()]
	if i.Order == LittleEndian {
		for n := len(b) - 1; n >= 0; n-- {
			v = v<<8 | uint64(b[n])
		}
		return v
	}
	for _, c := range b {
		v = v<<8 | uint64(c)
	}
	return v
}

// write puts the value, which fits, into b.
func (i Integer) write(b []byte, v uint64) {
	b = b[i.At:i.end()]
	for n := range b {
		if i.Order == LittleEndian {
			b[n] = byte(v >> (8 * n))
		} else {
			b[n] = byte(v >> (8 * (len(b) - 1 - n)))
		}
	}
}
