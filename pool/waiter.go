package pool

import "errors"

var (
	// ErrNoEndpoint: no member of the service may be used now. It becomes 503 no_endpoint.
	ErrNoEndpoint = errors.New("no usable endpoint")
	// ErrPoolExhausted: no connection became free in time. It becomes 503 pool_exhausted.
	ErrPoolExhausted = errors.New("no connection became free in time")
)

// Grant is the answer of Get.
type Grant uint8

const (
	// Idle: an open connection is lent.
	Idle Grant = iota
	// Dial: a connection of the limit is reserved: dial, then Attach, or DialFailed.
	Dial
	// Queued: the waiter's owner will be called.
	Queued
	// Exhausted: too many are waiting. It becomes 503 pool_exhausted.
	Exhausted
)

// WaiterOwner is told how waiting ended, once, on the loop: inside Put, Remove, DialFailed, Wake, CloseIdle, CloseRetired
// or a timer, never inside Get.
type WaiterOwner interface {
	// OnGrant gives an open connection (c), or a reservation (c and err nil: dial Waiter.Endpoint, then Attach, or
	// DialFailed), or ErrPoolExhausted. It may call any method of Local.
	OnGrant(w *Waiter, c Conn, err error)
}

// Waiter is an exchange's place in a queue, embedded in it. It is used on its loop only and must not be moved or
// cleared while Queued.
type Waiter struct {
	link     link[Waiter]
	owner    WaiterOwner
	service  *Service
	lane     *lane
	deadline int64 // monotonic nanoseconds; 0: none
	queued   bool
}

// Init sets who is told. Call it before the first Get.
func (w *Waiter) Init(owner WaiterOwner) { w.owner = owner }

// Queued says whether the owner will still be called.
func (w *Waiter) Queued() bool { return w.queued }

// Endpoint is what the waiter last waited for; nil if it never waited.
func (w *Waiter) Endpoint() *Endpoint {
	if w.lane == nil {
		return nil
	}
	return w.lane.endpoint
}

// Service is the service that it last waited for; nil if it never waited.
func (w *Waiter) Service() *Service { return w.service }

// Wait counts an exchange that waits in front of a connection which others share and which has a Waiter of its own, until
// EndWait. False: Limits.MaxWaiting are queued in the process, and it must not wait.
func (l *Local) Wait(s *Service) bool {
	if s.State.enter(s.Limits.MaxWaiting) {
		return true
	}
	l.stats.Exhausted++
	return false
}

// EndWait takes back what Wait counted.
func (l *Local) EndWait(s *Service) { s.State.leave() }
