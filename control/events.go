package control

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/corelane/corelane/engine"
	"github.com/corelane/corelane/pool"
)

// eventLog writes what the loops report to the log, at most one line a second
// for each kind and filter or endpoint: a filter that fails for every request must not make
// the log the next problem.
type eventLog struct {
	take  func() ([]engine.Event, uint64)
	log   *slog.Logger
	paces map[eventKey]*pace
	lost  uint64
	// ejected is told of every ejection, logged or not; nil: nobody.
	ejected func(e *pool.Endpoint, nanos int64)
}

// eventKey is what lines are paced by.
type eventKey struct {
	kind engine.EventKind
	name string
}

// pace is when a key was last written and what was held back since.
type pace struct {
	at   time.Time
	held int
}

func newEventLog(take func() ([]engine.Event, uint64), log *slog.Logger) *eventLog {
	return &eventLog{take: take, log: log, paces: make(map[eventKey]*pace)}
}

// run takes events until ctx ends, and once more then.
func (l *eventLog) run(ctx context.Context) {
	every(ctx, eventPoll, l.drain)
	l.drain(time.Now())
}

// drain logs what has happened since the last call.
func (l *eventLog) drain(now time.Time) {
	events, lost := l.take()
	for i := range events {
		l.note(&events[i], now)
	}
	l.release(now)
	if lost > l.lost {
		l.log.Warn("events of the loops were lost, too many at once", "lost", lost-l.lost)
		l.lost = lost
	}
}

func (l *eventLog) note(e *engine.Event, now time.Time) {
	if e.Kind == engine.EventEjected && l.ejected != nil {
		l.ejected(e.Endpoint, e.Nanos)
	}
	key := eventKey{e.Kind, e.Name}
	p := l.paces[key]
	if p == nil {
		if len(l.paces) >= maxEventNames {
			return
		}
		p = new(pace)
		l.paces[key] = p
	}
	if !p.at.IsZero() && now.Sub(p.at) < eventPause {
		p.held++
		return
	}
	p.at = now
	l.write(e)
}

// release tells how many lines were held back, once their time is over, and
// forgets keys that have been quiet.
func (l *eventLog) release(now time.Time) {
	var over []eventKey
	for key, p := range l.paces {
		if now.Sub(p.at) >= eventPause {
			over = append(over, key)
		}
	}
	slices.SortFunc(over, func(a, b eventKey) int {
		if a.kind != b.kind {
			return int(a.kind) - int(b.kind)
		}
		return strings.Compare(a.name, b.name)
	})
	for _, key := range over {
		if held := l.paces[key].held; held > 0 {
			l.log.Warn("more of the same was not logged", "event", eventName(key.kind), subject(key.kind), key.name, "suppressed", held)
			l.paces[key] = &pace{at: now}
			continue
		}
		delete(l.paces, key)
	}
}

func (l *eventLog) write(e *engine.Event) {
	switch e.Kind {
	case engine.EventPanic:
		l.log.Error("a callback panicked, its connection was closed", "loop", e.Loop, "panic", fmt.Sprint(e.Value), "stack", string(e.Stack))
	case engine.EventFilterPanic:
		l.log.Error("a filter panicked, its exchange was answered 500", "loop", e.Loop, "filter", e.Name, "route", e.Route,
			"panic", fmt.Sprint(e.Value), "stack", string(e.Stack))
	case engine.EventFilterOverrun:
		l.log.Warn("a filter ran longer than engine.filter_budget", "loop", e.Loop, "filter", e.Name, "route", e.Route,
			"took_ms", milliseconds(e.Nanos))
	case engine.EventProxyRefused:
		l.log.Warn("a connection did not begin with a PROXY header and was closed", "loop", e.Loop, "listener", e.Name,
			"peer", peerName(e.Peer), "problem", fmt.Sprint(e.Value))
	case engine.EventProtocolError:
		l.log.Warn("a peer of a message protocol loses its connection", "loop", e.Loop, "of", e.Name, "peer", peerName(e.Peer), "problem", fmt.Sprint(e.Value))
	case engine.EventEjected:
		l.log.Warn("an endpoint was ejected, its requests failed", "loop", e.Loop, "service", e.Endpoint.Service(),
			"endpoint", e.Name, "for_ms", milliseconds(e.Nanos))
	case engine.EventSpillFailed:
		err, _ := e.Value.(error)
		l.log.Error("a request body could not be kept in a file, its exchange was answered 503", "loop", e.Loop, "folder", e.Name,
			"route", e.Route, "errno", errnoName(err), "error", err)
	}
}

// subject is what the name of an event is the name of.
func subject(k engine.EventKind) string {
	switch k {
	case engine.EventEjected:
		return "endpoint"
	case engine.EventProxyRefused:
		return "listener"
	case engine.EventProtocolError:
		return "of"
	case engine.EventSpillFailed:
		return "folder"
	}
	return "filter"
}

// eventName is the word for a kind in a line about many.
func eventName(k engine.EventKind) string {
	switch k {
	case engine.EventPanic:
		return "panic"
	case engine.EventFilterPanic:
		return "filter_panic"
	case engine.EventFilterOverrun:
		return "filter_overrun"
	case engine.EventProxyRefused:
		return "proxy_refused"
	case engine.EventProtocolError:
		return "protocol_error"
	case engine.EventEjected:
		return "ejected"
	case engine.EventSpillFailed:
		return "spill_failed"
	}
	return "unknown"
}

// peerName is who connected, in a log.
func peerName(a netip.AddrPort) string {
	if !a.IsValid() {
		return "unix"
	}
	return a.String()
}

// milliseconds turns nanoseconds into milliseconds with three decimals.
func milliseconds(nanos int64) float64 { return float64(nanos/1000) / 1000 }
