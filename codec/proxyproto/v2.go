package proxyproto

import (
	"encoding/binary"
	"hash/crc32"
	"net/netip"
)

// The fixed part of version 2 (§2.2): the signature, version and command, family
// and transport, length of the rest.
const (
	atCommand = 12
	atFamily  = 13
	atLength  = 14
	fixedSize = 16
)

// Commands, with the version in the upper half of the byte.
const (
	commandLocal = 0x20
	commandProxy = 0x21
)

// Families, with the transport in the lower half of the byte.
const (
	familyUnspec = 0x00
	familyTCP4   = 0x11
	familyUDP4   = 0x12
	familyTCP6   = 0x21
	familyUDP6   = 0x22
	familyUnix   = 0x31
	familyUnixDG = 0x32
)

// Sizes of the address blocks.
const (
	size4    = 12
	size6    = 36
	sizeUnix = 216
)

// Of the extensions (§2.2.5) only the checksum is looked at.
const (
	extensionHead = 3 // type, and length in two bytes
	typeChecksum  = 0x03
	checksumSize  = 4
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	noChecksum [checksumSize]byte
)

// parseV2 reads a header of version 2. What makes it malformed is found in the
// order of the bytes, so that a longer b never changes the verdict.
func parseV2(b []byte) (Header, int, error) {
	if len(b) > atCommand && b[atCommand] != commandLocal && b[atCommand] != commandProxy {
		return Header{}, 0, ErrCommand
	}
	if len(b) < fixedSize {
		return Header{}, 0, nil
	}
	total := fixedSize + int(binary.BigEndian.Uint16(b[atLength:]))
	local := b[atCommand] == commandLocal
	need, known := addressSize(b[atFamily])
	switch {
	case total > MaxV2:
		return Header{}, 0, ErrTooLong
	case local:
		// Everything that follows is to be discarded, the family included.
	case !known:
		return Header{}, 0, ErrFamily
	case total < fixedSize+need:
		return Header{}, 0, ErrShort
	}
	if len(b) < total {
		return Header{}, 0, nil
	}
	h := Header{Version: 2}
	if local || b[atFamily] == familyUnspec {
		return h, total, nil
	}
	if err := checkExtensions(b[:total], fixedSize+need); err != nil {
		return Header{}, 0, err
	}
	h.Source, h.Destination = addresses(b[fixedSize : fixedSize+need])
	return h, total, nil
}

// addressSize is the size of a family's address block.
func addressSize(family byte) (size int, known bool) {
	switch family {
	case familyUnspec:
		return 0, true
	case familyTCP4, familyUDP4:
		return size4, true
	case familyTCP6, familyUDP6:
		return size6, true
	case familyUnix, familyUnixDG:
		return sizeUnix, true
	}
	return 0, false
}

// addresses reads an address block; one of paths tells no address.
func addresses(b []byte) (source, destination netip.AddrPort) {
	ports := b[len(b)-4:]
	from, to := binary.BigEndian.Uint16(ports), binary.BigEndian.Uint16(ports[2:])
	switch len(b) {
	case size4:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b)), from),
			netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:])), to)
	case size6:
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(b)).Unmap(), from),
			netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[16:])).Unmap(), to)
	}
	return netip.AddrPort{}, netip.AddrPort{}
}

// checkExtensions walks over the extensions of a whole header, which must fill
// it exactly, and verifies the checksum if there is one.
func checkExtensions(header []byte, at int) error {
	sum := 0
	for at < len(header) {
		if len(header)-at < extensionHead {
			return ErrExtension
		}
		size := int(binary.BigEndian.Uint16(header[at+1:]))
		value := at + extensionHead
		if size > len(header)-value {
			return ErrExtension
		}
		if header[at] == typeChecksum {
			if size != checksumSize || sum != 0 {
				return ErrExtension
			}
			sum = value
		}
		at = value + size
	}
	if sum != 0 && checksum(header, sum) != binary.BigEndian.Uint32(header[sum:]) {
		return ErrChecksum
	}
	return nil
}

// checksum is the CRC32C of a header with zeros in place of the checksum that
// stands at sum (§2.2.3).
func checksum(header []byte, sum int) uint32 {
	c := crc32.Update(0, castagnoli, header[:sum])
	c = crc32.Update(c, castagnoli, noChecksum[:])
	return crc32.Update(c, castagnoli, header[sum+checksumSize:])
}
