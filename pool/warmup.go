package pool

import "time"

// leastShare is what an endpoint gets at the begin of its slow start, of what it will get at the end.
const leastShare = 0.1

// join notes when e became part of its service, if others serve while it warms up.
func (e *Endpoint) join(others bool, now int64) {
	if !others {
		now = 0
	}
	e.since.Store(now)
}

// age is the time for which e has been in use without a break: since it joined the service, became healthy again or was
// put back in, or since its last ejection ended. settled: it never had to warm up.
func (s *Service) age(e *Endpoint, now int64) (age time.Duration, settled bool) {
	since := e.since.Load()
	if s.passive != nil {
		since = max(since, e.EjectedUntil())
	}
	return time.Duration(now - since), since == 0
}

// Share is the part of its traffic that e gets at now (monotonic nanoseconds), from 0 to 1, as far as warm-up and slow
// start say: nothing before WarmUp is over, then from 10 % linearly to all during SlowStart. warm: the warm-up is over.
func (s *Service) Share(e *Endpoint, now int64) (share float64, warm bool) {
	if !s.warms {
		return 1, true
	}
	age, settled := s.age(e, now)
	switch age -= s.WarmUp; {
	case settled || age >= 0 && age >= s.SlowStart:
		return 1, true
	case age < 0 && s.WarmUp > 0:
		return 0, false
	}
	return leastShare + (1-leastShare)*float64(max(age, 0))/float64(s.SlowStart), true
}

// warming says why e is left out of this choice. One in slow start takes part in as many choices as its share says. The
// answer is the same as often as it is asked during one choice, since balancers count the allowed before they draw.
func (c *choice) warming(e *Endpoint) string {
	share, warm := c.service.Share(e, c.now)
	switch {
	case !warm:
		return WhyWarmingUp
	case share >= 1 || c.ramped:
		return ""
	}
	if c.local.dice == 0 {
		c.local.dice = c.local.random.Uint64() | 1
	}
	if float64(mix(c.local.dice+uint64(e.slot)<<1)>>11)/(1<<53) < share {
		return ""
	}
	return WhySlowStart
}

// mix spreads a number over 64 bits: the finaliser of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
// Generators, OOPSLA 2014).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
