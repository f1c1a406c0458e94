package config

import (
	"strconv"
	"strings"

	"github.com/corelane/corelane/filters"
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
		if first, twice := addresses[l.Address]; twice && l.Address != "" && !anyPort(l.Address) {
			d.complain(at, "address", "this address is taken by the listener in "+d.where(first))
		}
		addresses[l.Address] = at
	}
	d.validateDualStack(addresses)
}

// anyPort says that the system chooses the port: another one each time.
func anyPort(address string) bool {
	return strings.HasSuffix(address, ":0") && !strings.HasPrefix(address, "unix:")
}

// validateDualStack finds ports that are listened on for IPv6 and IPv4 as a
// whole: the first takes both.
func (d *draft) validateDualStack(addresses map[string]place) {
	for i, l := range d.doc.Listeners {
		port, ok := strings.CutPrefix(l.Address, "0.0.0.0:")
		if other, twice := addresses["[::]:"+port]; ok && twice && port != "0" {
			d.complain(d.listeners[i], "address", "[::]:"+port+" takes IPv4 too: this address is taken by the listener in "+d.where(other))
		}
	}
}

func (d *draft) validateListener(at place, l *Listener) {
	d.validateAddress(at, "address", l.Address, 0)
	d.validateListenerLayout(at, l)
	for i, text := range l.TrustedProxies {
		if _, err := filters.ParseNetwork(text); err != nil && text != trustUnix {
			d.complain(at, "trusted_proxies["+strconv.Itoa(i)+"]", err.Error())
		}
	}
}

// trustUnix stands for peers on a unix socket among trusted proxies.
const trustUnix = "unix"
