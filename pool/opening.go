package pool

// Opening says whether some loop has yet to open its share of Limits.MinIdle to an endpoint that is new in its service.
func (e *Endpoint) Opening() bool { return e.opening.Load() != 0 }

// Open announces that the loops of the mask, one bit each, open a share of Limits.MinIdle to e. Call it before Publish.
// If e is not in the published generation it gets no traffic until each of them has called Local.Opened, unless its
// service has no other endpoint.
func (r *Registry) Open(e *Endpoint, loops uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !e.published {
		e.opening.Store(loops)
	}
}

// Opened tells that this loop has opened its share of e, or will not do so before traffic comes.
func (l *Local) Opened(e *Endpoint) {
	if e.opening.Load()&l.bit != 0 {
		e.opening.And(^l.bit)
	}
}

// opens says whether e gets no traffic because its connections are being opened.
func (s *Service) opens(e *Endpoint, now int64) bool {
	return s.Limits.MinIdle > 0 && e.Opening() && s.anyOpen(now)
}

// anyOpen says whether there is somebody else to choose: opening is never the reason for an outage.
func (s *Service) anyOpen(now int64) bool {
	for i := range s.usable {
		if e := s.usable[i].endpoint; !e.Opening() && s.Usable(e, now) {
			return true
		}
	}
	return false
}

// Usable says whether e might be chosen at now (monotonic nanoseconds) if its connections were open and it were warm. Any
// goroutine may call it.
func (s *Service) Usable(e *Endpoint, now int64) bool {
	if e.out() || s.ejected(e, now) {
		return false
	}
	for _, g := range s.gates {
		if !g.Allow(e, now) {
			return false
		}
	}
	return true
}
