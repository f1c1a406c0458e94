package snapshot

import "github.com/corelane/corelane/pool"

// Verdict is what becomes of one endpoint of a service when one is chosen.
type Verdict struct {
	Endpoint *pool.Endpoint
	// Usable tells that it may be chosen; Why is what speaks against it, which of a
	// usable one only lessens its share, or does not count in a panic.
	Usable bool
	Why    string
	// Tier is its tier of priority, 0 the first, and Weight its configured weight.
	Tier, Weight int
	// Score is what the balancer compares: the share of the usable weights.
	Score float64
}

// ExplainEndpoints asks every member of a service whether it may be chosen now,
// in monotonic nanoseconds, and chooses one as a loop would that has no history;
// nil if there is none. It allocates and is for explanations; any goroutine may
// call it, and nothing of the service is changed.
func ExplainEndpoints(s *pool.Service, now int64) (verdicts []Verdict, choice *pool.Endpoint) {
	total, panicking := 0.0, s.Panicking(now)
	for _, m := range s.Members {
		v := Verdict{Endpoint: m.Endpoint, Weight: m.Weight, Why: "weight 0"}
		if m.Weight > 0 {
			v.Why = s.Refusal(m.Endpoint, now)
			v.Usable = usable(v.Why, panicking)
		}
		if v.Usable {
			share, _ := s.Share(m.Endpoint, now)
			v.Score = float64(m.Weight) * share
			total += v.Score
		}
		verdicts = append(verdicts, v)
	}
	for i := range verdicts {
		if total > 0 {
			verdicts[i].Score /= total
		}
	}
	// An error says that nobody is usable, as the verdicts do.
	choice, _ = pool.NewLocal(pool.Options{Loops: 1}).Pick(s, new(pool.Tried), now)
	for i := range verdicts {
		// Endpoints that warm up are chosen where there is nobody else.
		if v := &verdicts[i]; v.Endpoint == choice {
			v.Usable = true
		}
	}
	return verdicts, choice
}

// usable tells whether an endpoint takes part in the choice all the same.
func usable(why string, panicking bool) bool {
	switch why {
	case "", pool.WhySlowStart:
		return true
	case pool.WhyUnhealthy, pool.WhyEjected, pool.WhyWarmingUp:
		return panicking
	}
	return false
}
