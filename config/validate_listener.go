package config

import (
	"fmt"
	"net/netip"
	"strconv"
)

func (d *draft) validateListeners() {
	if len(d.doc.Listeners) == 0 && len(d.problems) == 0 {
		message := "no listener: nothing would be served"
		if len(d.doc.Services)+len(d.doc.Routes) == 0 {
			message = "the document is empty: there is no listener, no service and no route"
		}
		d.problems = append(d.problems, Problem{File: d.files[0].Name, Message: message})
	}
	names := d.newNames("name")
	addresses := make(map[string]place)
	for i, l := range d.doc.Listeners {
		at := d.listeners[i]
		names.check(at, l.Name)
		d.validateListener(at, l)
		if first, twice := addresses[l.Address]; twice && l.Address != "" {
			d.complain(at, "address", "this address is taken by the listener in "+d.where(first))
		}
		addresses[l.Address] = at
	}
}

func (d *draft) validateListener(at place, l *Listener) {
	d.validateAddress(at, "address", l.Address, 0)
	for i, text := range l.TrustedProxies {
		if _, err := parseNetwork(text); err != nil {
			d.complain(at, "trusted_proxies["+strconv.Itoa(i)+"]", err.Error())
		}
	}
}

// parseNetwork reads a CIDR, or an address for itself alone.
func parseNetwork(text string) (netip.Prefix, error) {
	if ip, err := netip.ParseAddr(text); err == nil && ip.Zone() == "" {
		return netip.PrefixFrom(ip, ip.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("%q is not a network such as 10.0.0.0/8", text)
	}
	if p != p.Masked() {
		return netip.Prefix{}, fmt.Errorf("%q has bits outside its mask: write %s", text, p.Masked())
	}
	return p, nil
}
