package pool

import (
	"sync/atomic"
	"weak"
)

// State is what a service keeps for the whole process, across generations. Its methods may be called from any goroutine.
type State struct {
	// immutable
	name string
	slot int

	// registry: guarded by its lock
	asked bool // wanted by a generation that is being compiled

	// atomic
	waiting   atomic.Int64  // queued waiters of all loops
	ejecting  atomic.Bool   // one loop is deciding about an ejection
	ejections atomic.Uint64 // endpoints ejected so far
	tables    atomic.Pointer[[]weak.Pointer[maglev]]
}

// Name is the name of the service.
func (st *State) Name() string { return st.name }

// Slot is a small number, unique among the services known to the registry. It is reused after the service is reclaimed.
func (st *State) Slot() int { return st.slot }

// Waiting is the number of exchanges of the whole process that wait for a connection of the service.
func (st *State) Waiting() int64 { return st.waiting.Load() }

// Ejections is the number of times that passive ejection put out an endpoint of the service.
func (st *State) Ejections() uint64 { return st.ejections.Load() }

// enter counts one more waiter unless most (0: no limit) are waiting. Exact.
func (st *State) enter(most int) bool {
	for {
		n := st.waiting.Load()
		if most > 0 && n >= int64(most) {
			return false
		}
		if st.waiting.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (st *State) leave() { st.waiting.Add(-1) }
