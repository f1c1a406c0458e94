package pool

// Health is what active checks say of an endpoint.
type Health uint8

const (
	// Unknown: not checked, or not yet. The endpoint is used.
	Unknown Health = iota
	// Healthy: the checks succeed.
	Healthy
	// Unhealthy: the checks fail. The endpoint is not chosen, except in a panic.
	Unhealthy

	healths = int(Unhealthy) + 1
)

var healthNames = [healths]string{"unknown", "healthy", "unhealthy"}

// String is the name used in the API, metrics and logs.
func (h Health) String() string {
	if int(h) < healths {
		return healthNames[h]
	}
	return "unknown"
}

// Why an endpoint is left out of a choice, in the words of the API and of explanations.
const (
	// WhyUnhealthy: active checks fail.
	WhyUnhealthy = "unhealthy"
	// WhyEjected: its requests failed.
	WhyEjected = "ejected"
	// WhyDraining: an operator drains it.
	WhyDraining = "draining"
	// WhyWarmingUp: it gets nothing before its warm-up is over.
	WhyWarmingUp = "warming_up"
	// whyOpening: its connections are being opened.
	whyOpening = "opening"
	// WhySlowStart: it gets a growing share and this choice was not part of it.
	WhySlowStart = "slow_start"
)

// An endpoint's standing is one word, so that a choice costs one load for all that the control side has to say.
const (
	healthBits  = 0b011 // a Health
	drainingBit = 0b100
	outBits     = uint32(Unhealthy) | drainingBit
)

// Health is what active checks say.
func (e *Endpoint) Health() Health { return Health(e.standing.Load() & healthBits) }

// Draining says that an operator has taken the endpoint out.
func (e *Endpoint) Draining() bool { return e.standing.Load()&drainingBit != 0 }

// out says that the control side does not want the endpoint used.
func (e *Endpoint) out() bool { return e.standing.Load()&outBits != 0 }

// SetHealth notes what active checks say, and returns what they said before. An endpoint that was unhealthy warms up
// anew from now (monotonic nanoseconds).
func (e *Endpoint) SetHealth(h Health, now int64) (before Health) {
	for {
		old := e.standing.Load()
		before = Health(old & healthBits)
		if before == Unhealthy && h != Unhealthy {
			e.since.Store(now) // first: whoever sees it back must see that it warms up
		}
		if e.standing.CompareAndSwap(old, old&^healthBits|uint32(h)) {
			return before
		}
	}
}

// SetDraining takes the endpoint out, or back in, and says whether that changed anything. Exchanges under way go on. An
// endpoint that comes back warms up anew from now (monotonic nanoseconds).
func (e *Endpoint) SetDraining(on bool, now int64) (changed bool) {
	if on {
		return e.standing.Or(drainingBit)&drainingBit == 0
	}
	if !e.Draining() {
		return false
	}
	e.since.Store(now)
	return e.standing.And(^uint32(drainingBit))&drainingBit != 0
}

// prepare is for services that know panics, warm-up or slow start; the others do not pay for it.
func (c *choice) prepare() {
	c.panic = c.local.panicking(c.service, c.now)
	c.local.dice = 0
}

// barred says why e, which is out or may have to warm up, must not be chosen; empty: it may be. In a panic every endpoint is
// needed, whatever its checks say and however fresh it is.
func (c *choice) barred(e *Endpoint) string {
	if w := e.standing.Load(); w&drainingBit != 0 {
		return WhyDraining
	} else if w&healthBits == uint32(Unhealthy) && !c.panic {
		return WhyUnhealthy
	}
	if c.service.warms && !c.cold && !c.panic {
		return c.warming(e)
	}
	return ""
}

// giveWay lets go of one rule where nobody would be left, and says whether it did. A panic that began since the loop last
// looked is found at once; endpoints that warm up are better than none, since no warm-up may cause an outage; and so, at
// last, are those that were tried.
func (c *choice) giveWay() bool {
	if c.service.Panic > 0 && !c.panic {
		if c.panic = c.local.lookAgain(c.service, c.now); c.panic {
			return true
		}
	}
	if c.service.warms && !c.cold {
		c.cold = true
		return true
	}
	if c.tried.Len() > 0 {
		c.tried, c.cold = nil, false
		return true
	}
	return false
}

// Refusal says why e, a member of the service, would not be chosen at now (monotonic nanoseconds); empty: it may be. For
// an endpoint in slow start it tells so, although it gets a share. It leaves out weights, and panics: see Panicking.
func (s *Service) Refusal(e *Endpoint, now int64) string {
	if e.Draining() {
		return WhyDraining
	}
	switch {
	case e.Health() == Unhealthy:
		return WhyUnhealthy
	case s.ejected(e, now):
		return WhyEjected
	case s.opens(e, now):
		return whyOpening
	}
	for _, g := range s.gates {
		if !g.Allow(e, now) {
			return gateName(g)
		}
	}
	switch share, warm := s.Share(e, now); {
	case !warm:
		return WhyWarmingUp
	case share < 1:
		return WhySlowStart
	}
	return ""
}

// closesIdle says whether connections to e that come back to the pool must be closed: e is not to be used for now. In a
// panic it is.
func (l *Local) closesIdle(s *Service, e *Endpoint, now int64) bool {
	if !e.out() && !s.ejected(e, now) {
		return false
	}
	return e.Draining() || !l.panicking(s, now)
}
