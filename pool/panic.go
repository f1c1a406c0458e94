package pool

import "time"

// panicGap is how long a loop believes what it found out about a panic, in nanoseconds: counting the endpoints for each
// request would make its cost grow with them. A loop that finds no endpoint at all looks again at once.
const panicGap = int64(10 * time.Millisecond)

// panicView is what a loop last found out about a service.
type panicView struct {
	service *Service
	at      int64
	on      bool
}

// Panicking says whether so few endpoints of the service are healthy that health and ejections are ignored: the few
// would only break under the load of all. Those that drain or have no weight count on neither side. It costs a look at
// each endpoint. Any goroutine; now is monotonic nanoseconds.
func (s *Service) Panicking(now int64) bool {
	if s.Panic <= 0 {
		return false
	}
	usable, all := 0, 0
	for i := range s.usable {
		e := s.usable[i].endpoint
		if e.Draining() {
			continue
		}
		all++
		if e.Health() != Unhealthy && !s.ejected(e, now) {
			usable++
		}
	}
	return float64(usable)*100 < s.Panic*float64(all)
}

// panicking is Panicking as the loop last saw it.
func (l *Local) panicking(s *Service, now int64) bool {
	if s.Panic <= 0 {
		return false
	}
	if v := l.panicView(s); v.service == s && now-v.at < panicGap {
		return v.on
	}
	return l.lookAgain(s, now)
}

// lookAgain counts the endpoints now.
func (l *Local) lookAgain(s *Service, now int64) bool {
	v := l.panicView(s)
	*v = panicView{service: s, at: now, on: s.Panicking(now)}
	return v.on
}

func (l *Local) panicView(s *Service) *panicView {
	slot := s.State.slot
	for slot >= len(l.panics) {
		l.panics = append(l.panics, panicView{})
	}
	return &l.panics[slot]
}
