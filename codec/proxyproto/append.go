package proxyproto

import (
	"encoding/binary"
	"net/netip"
	"strconv"
)

// AppendV1 appends a header of version 1. Without a valid source it says
// UNKNOWN; without a valid destination, the unspecified address of the source's
// family. Ends of different families are both written as IPv6.
func AppendV1(b []byte, source, destination netip.AddrPort) []byte {
	b = append(b, prefixV1...)
	if !source.IsValid() {
		return append(b, "UNKNOWN\r\n"...)
	}
	source, destination, four := sameFamily(source, destination)
	if four {
		b = append(b, "TCP4 "...)
	} else {
		b = append(b, "TCP6 "...)
	}
	b = append(source.Addr().AppendTo(b), ' ')
	b = append(destination.Addr().AppendTo(b), ' ')
	b = append(strconv.AppendUint(b, uint64(source.Port()), 10), ' ')
	b = strconv.AppendUint(b, uint64(destination.Port()), 10)
	return append(b, '\r', '\n')
}

// AppendV2 appends a header of version 2, with the unspecified family where
// AppendV1 says UNKNOWN.
func AppendV2(b []byte, source, destination netip.AddrPort) []byte {
	b = append(b, signature...)
	b = append(b, commandProxy)
	if !source.IsValid() {
		return append(b, familyUnspec, 0, 0)
	}
	source, destination, four := sameFamily(source, destination)
	if four {
		b = append(b, familyTCP4, 0, size4)
		from, to := source.Addr().As4(), destination.Addr().As4()
		b = append(append(b, from[:]...), to[:]...)
	} else {
		b = append(b, familyTCP6, 0, size6)
		from, to := source.Addr().As16(), destination.Addr().As16()
		b = append(append(b, from[:]...), to[:]...)
	}
	b = binary.BigEndian.AppendUint16(b, source.Port())
	return binary.BigEndian.AppendUint16(b, destination.Port())
}

// sameFamily brings both ends to one family, without zones, and says whether it
// is IPv4.
func sameFamily(source, destination netip.AddrPort) (from, to netip.AddrPort, four bool) {
	a, z := source.Addr().Unmap().WithZone(""), destination.Addr().Unmap().WithZone("")
	switch {
	case !z.IsValid() && a.Is4():
		z = netip.IPv4Unspecified()
	case !z.IsValid():
		z = netip.IPv6Unspecified()
	}
	if four = a.Is4() && z.Is4(); !four {
		a, z = netip.AddrFrom16(a.As16()), netip.AddrFrom16(z.As16())
	}
	return netip.AddrPortFrom(a, source.Port()), netip.AddrPortFrom(z, destination.Port()), four
}
