package iplist

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/gaissmai/bart"

	"github.com/corelane/corelane/filters"
)

// onUnix stands for clients on a unix socket, which have no address.
const onUnix = "unix"

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
		network, err := filters.ParseNetwork(text)
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
