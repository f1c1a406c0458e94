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

// openingGate keeps traffic from endpoints whose connections are being opened, as long as others are there: it never
// is the reason for an outage.
type openingGate struct{ service *Service }

// Allow implements Gate.
func (g *openingGate) Allow(e *Endpoint, now int64) bool {
	if !e.Opening() {
		return true
	}
	for i := range g.service.usable {
		if other := g.service.usable[i].endpoint; !other.Opening() && g.service.Usable(other, now) {
			return false
		}
	}
	return true
}

// Report implements Gate.
func (g *openingGate) Report(*Endpoint, Outcome, int64, int64) {}

// Name is what explanations call the gate.
func (g *openingGate) Name() string { return "opening" }

// Usable says whether e might be chosen at now (monotonic nanoseconds) if its connections were open and it were warm. Any
// goroutine may call it.
func (s *Service) Usable(e *Endpoint, now int64) bool {
	if e.out() {
		return false
	}
	for _, g := range s.gates {
		if _, own := g.(*openingGate); !own && !g.Allow(e, now) {
			return false
		}
	}
	return true
}
