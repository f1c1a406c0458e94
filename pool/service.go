package pool

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Balance is the way in which a service chooses among its usable members.
type Balance uint8

const (
	// WeightedRandom draws in proportion to the weights.
	WeightedRandom Balance = iota
	// RoundRobin takes turns in proportion to the weights, smoothly; each loop starts at another place.
	RoundRobin
	// LeastRequests draws two and takes the one with fewer tries under way per weight.
	LeastRequests
	// EWMA draws two and takes the one with the lower cost: peak-EWMA of the response time × (tries under way per weight + 1).
	EWMA
	// Hash sends equal keys to the same member as long as it may be chosen, and draws for requests without a key.
	Hash
	// Sticky sends a client to the member that it was given before, and draws for one that comes without a valid token.
	Sticky

	balances = int(Sticky) + 1
)

var balanceNames = [balances]string{"weighted_random", "round_robin", "least_requests", "ewma", "hash", "sticky"}

// String is the name used in the configuration.
func (b Balance) String() string {
	if int(b) < balances {
		return balanceNames[b]
	}
	return "unknown"
}

// Member is an endpoint with its share of a service's traffic.
type Member struct {
	Endpoint *Endpoint
	// Weight is relative to the other members' of its tier; 0: gets nothing.
	Weight int
	// Priority is the number of its tier, from 0 to 127. The lowest tier gets the requests while it is healthy enough.
	Priority int
}

// Limits bound the connections and waiters of a service. They hold for the whole process, never per loop.
type Limits struct {
	// MaxConnections is the largest number of connections of each endpoint; 0: no limit.
	MaxConnections int
	// MaxWaiting is the largest number of exchanges that wait for a connection of the service; 0: no limit.
	MaxWaiting int
	// Wait is the longest time that one of them waits; 0: no limit.
	Wait time.Duration
	// Idle is the longest time that a connection stays unused; 0: no limit.
	Idle time.Duration
	// MinIdle is the number of connections that are kept open to each endpoint, used or not.
	MinIdle int
	// MaxAge is the age from which a connection is not used again; 0: no limit. It never interrupts an exchange.
	MaxAge time.Duration
}

// ServiceConfig is what NewService needs.
type ServiceConfig struct {
	// Name is the service's name; the endpoints must belong to it.
	Name string
	// State comes from Registry.Service.
	State *State
	// Members may be empty. No endpoint may occur twice.
	Members []Member
	Balance Balance
	// Node is this process's name: over subsetSize candidates in a tier, nodes use different subsets of them.
	Node string
	// Secret signs the tokens of a Sticky service; needed there, unused otherwise.
	Secret  string
	Limits  Limits
	Passive Passive
	// Panic is the percentage of usable endpoints, from 0 to 100, under which health and ejections are ignored; 0: off.
	Panic float64
	// WarmUp is the time before an endpoint that joins others, or comes back, gets traffic, and SlowStart the time in which
	// its share grows afterwards; 0: none.
	WarmUp, SlowStart time.Duration
	// Check is how the endpoints are checked; nil: not.
	Check *Check
	// Gates are asked after passive ejection, in this order.
	Gates []Gate
}

// Service is one generation's immutable view of a service, or of a part of its endpoints. Any goroutine may read it.
type Service struct {
	Name    string
	State   *State
	Members []Member
	Balance Balance
	Limits  Limits
	Passive Passive
	// As in ServiceConfig.
	Panic             float64
	WarmUp, SlowStart time.Duration
	Check             *Check

	usable  []weighted // members with a weight
	groups  []group    // the same, as they are chosen from: the tiers, then what subsets left out
	tiers   int        // groups that are tiers
	pins    *pins      // of a Sticky service
	passive *ejector   // nil: off
	gates   []Gate
	warms   bool // warm-up or slow start is configured
}

// weighted is a member with a weight; below is the sum of the weights before it in its group.
type weighted struct {
	endpoint *Endpoint
	weight   uint64
	below    uint64
}

// NewService checks cfg, computes what balancing needs and sets the connection limit of the endpoints at once (see
// Activate). An error lists everything that is wrong.
func NewService(cfg ServiceConfig) (*Service, error) {
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("service %q: %w", cfg.Name, err)
	}
	s := &Service{
		Name: cfg.Name, State: cfg.State, Members: append([]Member(nil), cfg.Members...),
		Balance: cfg.Balance, Limits: cfg.Limits, Passive: cfg.Passive,
		Panic: cfg.Panic, WarmUp: cfg.WarmUp, SlowStart: cfg.SlowStart, Check: cfg.Check,
		warms: cfg.WarmUp > 0 || cfg.SlowStart > 0, gates: slices.Clone(cfg.Gates),
	}
	for _, m := range s.Members {
		if m.Weight > 0 {
			s.usable = append(s.usable, weighted{endpoint: m.Endpoint, weight: uint64(m.Weight)})
		}
	}
	s.groups, s.tiers = newGroups(&cfg)
	switch s.Balance {
	case Hash:
		for g := range s.groups {
			s.groups[g].table = s.State.table(s.groups[g].members)
		}
	case Sticky:
		s.pins = newPins(s.Name, cfg.Secret, s.groups)
	}
	if cfg.Passive.ConsecutiveFailures > 0 {
		s.passive = newEjector(cfg.Passive, s.State, s.usable)
	}
	s.Activate()
	return s, nil
}

// Activate makes MaxConnections the limit of the endpoints. NewService has done so; it is needed again for a service
// that stays, or comes back, after another one over the same endpoints was made and given up. Waiters whom a higher
// limit helps are served by Local.CloseRetired.
func (s *Service) Activate() {
	for _, m := range s.Members {
		m.Endpoint.limit.Store(int64(s.Limits.MaxConnections))
	}
}

func (cfg *ServiceConfig) check() error {
	var errs []error
	if cfg.State == nil {
		errs = append(errs, errors.New("no state"))
	}
	if int(cfg.Balance) >= balances {
		errs = append(errs, fmt.Errorf("balance %d is unknown", cfg.Balance))
	}
	if cfg.Balance == Sticky && cfg.Secret == "" {
		errs = append(errs, errors.New("sticky needs a secret"))
	}
	errs = append(errs, cfg.Limits.check(), cfg.Passive.check(), cfg.checkHealth(), cfg.checkMembers())
	return errors.Join(errs...)
}

func (cfg *ServiceConfig) checkMembers() error {
	if len(cfg.Members) > maxMembers {
		return fmt.Errorf("%d members, the limit is %d", len(cfg.Members), maxMembers)
	}
	var errs []error
	seen := make(map[*Endpoint]bool, len(cfg.Members))
	for i, m := range cfg.Members {
		switch {
		case m.Endpoint == nil:
			errs = append(errs, fmt.Errorf("member %d has no endpoint", i))
			continue
		case m.Endpoint.service != cfg.Name:
			errs = append(errs, fmt.Errorf("endpoint %q belongs to service %q", m.Endpoint.address, m.Endpoint.service))
		case seen[m.Endpoint]:
			errs = append(errs, fmt.Errorf("endpoint %q occurs twice", m.Endpoint.address))
		case m.Weight < 0 || m.Weight > maxWeight:
			errs = append(errs, fmt.Errorf("endpoint %q: weight %d is not in 0..%d", m.Endpoint.address, m.Weight, maxWeight))
		case m.Priority < 0 || m.Priority > maxPriority:
			errs = append(errs, fmt.Errorf("endpoint %q: priority %d is not in 0..%d", m.Endpoint.address, m.Priority, maxPriority))
		}
		seen[m.Endpoint] = true
	}
	return errors.Join(errs...)
}

func (l Limits) check() error {
	if l.MaxConnections < 0 || l.MaxWaiting < 0 || l.Wait < 0 || l.Idle < 0 || l.MaxAge < 0 || l.MinIdle < 0 {
		return errors.New("a limit is negative")
	}
	if l.MaxConnections > 0 && l.MinIdle > l.MaxConnections {
		return fmt.Errorf("min_idle %d is more than max_connections %d", l.MinIdle, l.MaxConnections)
	}
	return nil
}

func (p Passive) check() error {
	switch {
	case p.ConsecutiveFailures < 0 || p.Eject < 0:
		return errors.New("a passive limit is negative")
	case p.MaxEjected < 0 || p.MaxEjected > 100:
		return fmt.Errorf("max_ejected %d is not in 0..100", p.MaxEjected)
	}
	return nil
}
