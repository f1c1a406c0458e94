package dubbo

import "encoding/binary"

// A header is magic, flags, status, id and the length of the body, big-endian.
const (
	headerSize = 16
	magic0     = 0xda
	magic1     = 0xbb

	flagRequest       = 0x80
	flagTwoWay        = 0x40
	flagEvent         = 0x20
	serializationMask = 0x1f
	hessian2          = 2
)

// header is what stands in front of a body.
type header struct {
	flags, status byte
	id            uint64
	length        int // of the body; negative if it is so
}

func parseHeader(b []byte) header {
	return header{
		flags: b[2], status: b[3],
		id:     binary.BigEndian.Uint64(b[4:]),
		length: int(int32(binary.BigEndian.Uint32(b[12:]))),
	}
}

func (h *header) is(flag byte) bool { return h.flags&flag != 0 }

// serialization returns what is wrong with it, nil if nothing is.
func (h *header) serialization() *fault {
	if id := h.flags & serializationMask; id != hessian2 {
		return faultSerialization[id]
	}
	return nil
}

func appendHeader(dst []byte, flags, status byte, id uint64, length int) []byte {
	dst = append(dst, magic0, magic1, flags|hessian2, status)
	dst = binary.BigEndian.AppendUint64(dst, id)
	return binary.BigEndian.AppendUint32(dst, uint32(length))
}

// setLength writes the length of the body into the header that begins at at.
func setLength(dst []byte, at, length int) {
	binary.BigEndian.PutUint32(dst[at+12:], uint32(length))
}
