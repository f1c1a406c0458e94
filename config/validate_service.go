package config

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/corelane/corelane/engine/snapshot"
)

// validateServices returns the names of services in order.
func (d *draft) validateServices() []string {
	names := d.newNames("name")
	for i, s := range d.doc.Services {
		at := d.services[i]
		names.check(at, s.Name)
		d.validateService(at, s)
	}
	return slices.Sorted(maps.Keys(names.seen))
}

func (d *draft) validateService(at place, s *Service) {
	seen := make(map[string]bool, len(s.Endpoints))
	for i, e := range s.Endpoints {
		path := "endpoints[" + strconv.Itoa(i) + "].address"
		if !d.validateAddress(at, path, e.Address, 1) {
			continue
		}
		key := e.Address
		if ap, err := netip.ParseAddrPort(key); err == nil {
			key = netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()).String()
		}
		if seen[key] {
			d.complain(at, path, fmt.Sprintf("the endpoint %q is given twice", e.Address))
		}
		seen[key] = true
	}
	d.validateServiceSource(at, s)
	d.validateLayout(at, s.Protocol, s.Layout)
	d.validateOpaque(at, s)
	if len(s.Endpoints) > maxEndpoints {
		d.complain(at, "endpoints", fmt.Sprintf("%d endpoints are more than %d", len(s.Endpoints), maxEndpoints))
	}
	d.validateRetries(at, &s.Retries)
	d.validateHealth(at, s)
	d.validateServiceProtocol(at, s)
	d.validateMinIdle(at, s)
}

// validateServiceSource checks the local address: an endpoint of the other
// family could never be reached from it.
func (d *draft) validateServiceSource(at place, s *Service) {
	if s.Source == "" {
		return
	}
	from, err := netip.ParseAddr(s.Source)
	if err != nil || from.Zone() != "" {
		d.complain(at, "source", fmt.Sprintf("%q is not an IP address", s.Source))
		return
	}
	for _, e := range s.Endpoints {
		if to, err := netip.ParseAddrPort(e.Address); err == nil && to.Addr().Unmap().Is4() != from.Unmap().Is4() {
			d.complain(at, "source", fmt.Sprintf("from %s no connection to the endpoint %q can be made", from, e.Address))
			return
		}
	}
}

func (d *draft) validateMinIdle(at place, s *Service) {
	most := s.Pool.MaxConnections
	switch {
	case s.Pool.MinIdle == 0:
	case most > 0 && s.Pool.MinIdle > most:
		d.complain(at, "pool.min_idle", fmt.Sprintf("%d connections cannot be kept where pool.max_connections is %d", s.Pool.MinIdle, most))
	case s.ProxyProtocol != "none":
		d.complain(at, "pool.min_idle", "a connection with proxy_protocol belongs to one client and cannot be opened ahead")
	}
}

// validateOn checks what is repeated: connect, reset and 5xx codes.
func (d *draft) validateOn(at place, path string, on []string) {
	for i, what := range on {
		if what == "connect" || what == "reset" {
			continue
		}
		if code, err := strconv.Atoi(what); err != nil || !snapshot.StatusSet(0).With(code).Has(code) {
			d.complain(at, path+"["+strconv.Itoa(i)+"]", fmt.Sprintf("%q is none of connect, reset and the codes 500 to 563", what))
		}
	}
}

// hasControl tells whether text would break the line it is written into.
func hasControl(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
}
