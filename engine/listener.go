package engine

// ListenerInfo is the state of one listener, readable without asking the loops.
type ListenerInfo struct {
	Name, Address string
	// Connections are its clients, Limit is what bounds them, 0: nothing, and
	// Refused counts those that were closed at once over it.
	Connections, Limit int
	Refused            uint64
}

// Listeners returns the state of every bound listener, in the order of the
// options.
func (s *Server) Listeners() []ListenerInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]ListenerInfo, len(s.listeners))
	for i, ln := range s.listeners {
		limit := ln.Limit()
		out[i] = ListenerInfo{
			Name: s.options.Listeners[i].Name, Address: ln.Address(),
			Connections: limit.Count(), Limit: limit.Max(), Refused: limit.Refused(),
		}
	}
	return out
}

// setLimits gives the listeners the limits of the published generation. mu is
// held.
func (s *Server) setLimits() {
	snap := s.current.Load()
	if snap == nil {
		return
	}
	for i, ln := range s.listeners {
		if policy := snap.Listeners[s.options.Listeners[i].Name]; policy != nil {
			ln.Limit().SetMax(policy.MaxConnections)
		}
	}
}
