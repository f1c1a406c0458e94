package config

// validateServiceProtocol refuses what a connection that many clients share
// cannot do.
func (d *draft) validateServiceProtocol(at place, s *Service) {
	if s.ProxyProtocol != "none" && s.multiplexes() {
		d.complain(at, "proxy_protocol",
			"a connection of the protocol "+s.Protocol+" carries the requests of many clients, and a PROXY header names one: use none")
	}
}
