package filters

import (
	"fmt"
	"net/netip"
)

// mappedBits is the part of an IPv4 address in IPv6 that says so.
const mappedBits = 96

// ParseNetwork reads what options and configuration name networks by: a CIDR, or an
// address for itself alone, without a zone. IPv4 in IPv6 is IPv4, as peers are. Any
// goroutine may call it.
func ParseNetwork(text string) (netip.Prefix, error) {
	if ip, err := netip.ParseAddr(text); err == nil && ip.Zone() == "" {
		ip = ip.Unmap()
		return netip.PrefixFrom(ip, ip.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("%q is not a network such as 10.0.0.0/8, nor an address", text)
	}
	if p != p.Masked() {
		return netip.Prefix{}, fmt.Errorf("%q has bits outside its mask: write %s", text, p.Masked())
	}
	if p.Addr().Is4In6() && p.Bits() >= mappedBits {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-mappedBits)
	}
	return p, nil
}
