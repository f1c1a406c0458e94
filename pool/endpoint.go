package pool

import (
	"sync/atomic"
	"time"

	"github.com/corelane/corelane/engine/reactor"
)

// Endpoint is one address of a service, reached under one identity. There is one object for it in the process, and it
// lives across generations. Every method may be called from any goroutine.
type Endpoint struct {
	// immutable
	service, address, identity string
	addr                       reactor.Addr
	slot                       int

	// registry: guarded by its lock
	asked     bool // wanted by a generation that is being compiled
	published bool // in the published generation

	// atomic
	limit        atomic.Int64  // most connections of the process; 0: none
	conns        atomic.Int64  // connections and reservations of the process
	wanted       atomic.Uint64 // loops with waiters, one bit each
	spare        atomic.Uint64 // loops that may hold idle connections: a hint, cleared by whoever asks them
	ejectedUntil atomic.Int64  // monotonic nanoseconds; 0: never ejected
	failures     atomic.Int64  // consecutive failed tries
	row          atomic.Int64  // ejections in a row, as of the last one
	ejections    atomic.Uint64 // ejections so far
	standing     atomic.Uint32 // what the control side says: see standing.go
	since        atomic.Int64  // when warming up began, in monotonic nanoseconds; 0: it need not
	retired      atomic.Bool   // not in the published generation
	opening      atomic.Uint64 // loops that have yet to open their share of MinIdle, one bit each
	_            [64]byte      // active is written by every try and must not drag the words above along
	active       atomic.Int64  // tries under way, counted for LeastRequests and EWMA services only
	response     responseTime  // of EWMA services
}

// Service is the name of the service that the endpoint belongs to.
func (e *Endpoint) Service() string { return e.service }

// Address is the address as it was configured.
func (e *Endpoint) Address() string { return e.address }

// Identity tells apart connections to one address that must not be shared, such as two TLS identities. Empty: none.
func (e *Endpoint) Identity() string { return e.identity }

// Addr is the address in the form that a loop dials.
func (e *Endpoint) Addr() reactor.Addr { return e.addr }

// Slot is a small number, unique among the endpoints of a generation. It is reused after the endpoint is reclaimed.
func (e *Endpoint) Slot() int { return e.slot }

// Conns is the number of connections of the whole process, those being dialled included.
func (e *Endpoint) Conns() int64 { return e.conns.Load() }

// Limit is the largest number of connections of the whole process; 0: no limit.
func (e *Endpoint) Limit() int64 { return e.limit.Load() }

// Active is the number of tries under way in the whole process. Only LeastRequests and EWMA services count it.
func (e *Endpoint) Active() int64 { return e.active.Load() }

// ResponseTime is the peak-EWMA of the time to the response head, as far as it has not decayed at now (monotonic
// nanoseconds). 0: not known; only EWMA services measure it.
func (e *Endpoint) ResponseTime(now int64) time.Duration {
	_, left := e.response.at(now)
	return time.Duration(left)
}

// Failures is the number of failed tries since the last successful one, as passive ejection counts them.
func (e *Endpoint) Failures() int64 { return e.failures.Load() }

// Ejected says whether passive ejection keeps the endpoint out at now (monotonic nanoseconds).
func (e *Endpoint) Ejected(now int64) bool { return e.ejectedUntil.Load() > now }

// EjectedUntil is the end of the last ejection in monotonic nanoseconds; 0: never ejected.
func (e *Endpoint) EjectedUntil() int64 { return e.ejectedUntil.Load() }

// Ejections is the number of times that passive ejection has put the endpoint out.
func (e *Endpoint) Ejections() uint64 { return e.ejections.Load() }

// Retired says that the published generation does not contain the endpoint. Exchanges of older generations may still
// use it; its connections are closed when they come back.
func (e *Endpoint) Retired() bool { return e.retired.Load() }

// Waiting says whether some loop has waiters for a connection.
func (e *Endpoint) Waiting() bool { return e.wanted.Load() != 0 }

// reserve takes one connection of the limit, or fails. Exact: the counter is never raised above the limit.
func (e *Endpoint) reserve() bool {
	for {
		n := e.conns.Load()
		if limit := e.limit.Load(); limit > 0 && n >= limit {
			return false
		}
		if e.conns.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// room says whether a reservation would have succeeded just now.
func (e *Endpoint) room() bool {
	limit := e.limit.Load()
	return limit <= 0 || e.conns.Load() < limit
}

// over says that the limit was lowered under the number of connections.
func (e *Endpoint) over() bool {
	limit := e.limit.Load()
	return limit > 0 && e.conns.Load() > limit
}

// advertise sets a loop's bit in the spare word and says whether it was clear before.
func (e *Endpoint) advertise(bit uint64) bool {
	return e.spare.Load()&bit == 0 && e.spare.Or(bit)&bit == 0
}
