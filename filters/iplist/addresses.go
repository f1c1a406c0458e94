package iplist

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/gaissmai/bart"
)

// onUnix stands for clients on a unix socket, which have no address.
const onUnix = "unix"

// mappedBits is the part of an IPv4 address in IPv6 that says so.
const mappedBits = 96

// addresses is a set of addresses. Looking one up costs a few steps through a
// trie, however many there are, and allocates nothing. It does not change once
// read.
type addresses struct {
	networks bart.Lite
	unix     bool
}

// read fills the set; an error begins with the name of the option and the number
// of the entry.
func (a *addresses) read(option string, list []string) error {
	var errs []error
	for i, text := range list {
		if text == onUnix {
			a.unix = true
			continue
		}
		network, err := parseNetwork(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s[%d]: %w", option, i, err))
			continue
		}
		a.networks.Insert(network)
	}
	return errors.Join(errs...)
}

// have tells whether the set holds the address; one that is invalid is a client's
// on a unix socket.
func (a *addresses) have(ip netip.Addr) bool {
	if !ip.IsValid() {
		return a.unix
	}
	return a.networks.Contains(ip.Unmap().WithZone(""))
}

// parseNetwork reads a CIDR, or an address for itself alone. IPv4 in IPv6 is IPv4.
func parseNetwork(text string) (netip.Prefix, error) {
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
