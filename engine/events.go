package engine

import (
	"net/netip"
	"sync/atomic"

	"github.com/corelane/corelane/pool"
)

// maxEvents bounds the events that wait for the control side; more are counted
// as lost.
const maxEvents = 1024

// EventKind says what happened.
type EventKind uint8

const (
	// EventPanic: a callback of the engine panicked; its connection was closed.
	EventPanic EventKind = iota
	// EventFilterPanic: a filter panicked; its exchange was answered with 500.
	EventFilterPanic
	// EventFilterOverrun: a filter ran longer than the budget.
	EventFilterOverrun
	// EventEjected: passive ejection put an endpoint out, for Nanos.
	EventEjected
	// EventProxyRefused: a connection did not begin with a PROXY header and was
	// closed; at most one a second for each loop.
	EventProxyRefused
	// EventSpillFailed: a request body could not be kept in a file; its exchange
	// was answered with 503.
	EventSpillFailed
	// EventProtocolError: a client or an endpoint broke its message protocol, and
	// its connection is closed; at most one a second for each loop.
	EventProtocolError
)

// Event is something rare that the control side logs.
type Event struct {
	Kind  EventKind
	Loop  int
	Name  string // the filter, the endpoint's address, the listener, or the folder
	Route string
	Nanos int64
	Value any
	Stack []byte
	// Endpoint is whom it is about; nil: nobody.
	Endpoint *pool.Endpoint
	Peer     netip.AddrPort // who connected; invalid for unix sockets

	next *Event
}

// eventStack carries events off the loops without a lock.
type eventStack struct {
	top  atomic.Pointer[Event]
	held atomic.Int64
	lost atomic.Uint64
}

// push may be called from any goroutine and never waits.
func (s *eventStack) push(e Event) {
	if s.held.Add(1) > maxEvents {
		s.held.Add(-1)
		s.lost.Add(1)
		return
	}
	p := &e
	for {
		p.next = s.top.Load()
		if s.top.CompareAndSwap(p.next, p) {
			return
		}
	}
}

// take returns all events, oldest first.
func (s *eventStack) take() []Event {
	var out []Event
	for p := s.top.Swap(nil); p != nil; p = p.next {
		out = append(out, *p)
	}
	s.held.Add(-int64(len(out)))
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}
