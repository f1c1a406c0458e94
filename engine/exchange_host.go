package engine

import (
	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/filters"
)

var _ filters.Host = (*Exchange)(nil)

// Clock implements filters.Host.
func (x *Exchange) Clock() int64 { return reactor.Monotonic() }

// SetWaitDeadline implements filters.Host.
func (x *Exchange) SetWaitDeadline(after int64) { x.armUp(clockFilter, after) }

// FilterTime implements filters.Host: an overrun is logged by name.
func (x *Exchange) FilterTime(e *filters.Entry, nanos int64) {
	if budget := x.w.server.options.FilterBudget.Nanoseconds(); budget > 0 && nanos > budget {
		x.w.stats.FilterOverruns++
		x.w.server.events.push(Event{
			Kind: EventFilterOverrun, Loop: x.w.id, Name: e.Name(), Route: x.routeID(), Nanos: nanos,
		})
	}
}

// FilterPanicked implements filters.Host.
func (x *Exchange) FilterPanicked(e *filters.Entry, value any, stack []byte) {
	x.w.stats.FilterPanics++
	x.w.server.events.push(Event{
		Kind: EventFilterPanic, Loop: x.w.id, Name: e.Name(), Route: x.routeID(), Value: value, Stack: stack,
	})
}

// FilterLength implements filters.Host.
func (x *Exchange) FilterLength(*filters.Entry) { x.w.stats.FilterLengths++ }

// ResumedTwice implements filters.Host; any goroutine.
func (x *Exchange) ResumedTwice() { x.w.server.resumedTwice.Add(1) }
