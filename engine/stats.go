package engine

import (
	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
)

// latencyBounds are the upper bounds of the latency histogram in nanoseconds.
var latencyBounds = [...]int64{
	250e3, 500e3, 1e6, 2500e3, 5e6, 10e6, 25e6, 50e6, 100e6, 250e6, 500e6, 1e9, 2500e6, 5e9, 10e9,
}

// LatencyBounds returns the upper bounds of the latency buckets in seconds; the
// last bucket of a RouteStats has no bound.
func LatencyBounds() []float64 {
	out := make([]float64, len(latencyBounds))
	for i, b := range latencyBounds {
		out[i] = float64(b) / 1e9
	}
	return out
}

// Classes of status codes: 1xx to 5xx by index 1 to 5; 0 for exchanges that
// ended without an answer.
const statusClasses = 6

// RouteStats counts the exchanges of one route.
type RouteStats struct {
	Class   [statusClasses]uint64
	Latency [len(latencyBounds) + 1]uint64
	// LatencySum is in nanoseconds.
	LatencySum uint64
}

// Stats is what one loop counts. A loop owns one block and fills it with plain
// additions; a collector brings an empty block and takes the filled one.
type Stats struct {
	// Routes by series slot; grown by the loop as slots are used.
	Routes []RouteStats
	// Reasons by codec.Reason.
	Reasons [64]uint64
	// Requests begun, retries, those that replaced a dead idle connection, and
	// retries and hedges beyond the budget.
	Requests, Retries, StaleRetries, RetriesDenied uint64
	// Retries by why the try before was given up.
	RetriedConnect, RetriedReset, RetriedPerTry, RetriedStatus uint64
	// Hedges begun, and those that answered.
	Hedges, HedgesWon uint64
	// BytesIn and BytesOut are body bytes from and to clients.
	BytesIn, BytesOut uint64
	// Upgrades counts tunnels opened; UnknownPaths requests without a route.
	Upgrades, UnknownPaths uint64
	// FilterOverruns and FilterPanics: see package filters.
	FilterOverruns, FilterPanics uint64
	// FilterLengths counts bodies whose length a filter changed without saying so.
	FilterLengths uint64
	// Calls that filters made, and those of them without an answer.
	Calls, CallsFailed uint64
	// LogDropped counts access records that found the ring full.
	LogDropped uint64
	// ProxyRefused counts connections closed because they did not begin with a
	// PROXY header.
	ProxyRefused uint64
	// ProtocolErrors counts connections, of either side, that broke their message
	// protocol; StreamsRefused requests of such clients that were not looked at.
	ProtocolErrors, StreamsRefused uint64
	// LateReplies counts answers to requests that had ended, GoAways endpoints that
	// asked for a new connection, HeartbeatsMissed those that went silent.
	LateReplies, GoAways, HeartbeatsMissed uint64
	// Reactor and Pool are copies of running totals and gauges, not deltas.
	Reactor reactor.Stats
	Pool    pool.Stats
	// The gauges of the moment.
	LiveExchanges, LiveSessions int
	// OldestExchange is the age of the oldest live exchange in nanoseconds.
	OldestExchange int64
	// CPUNanos is the thread's CPU time so far.
	CPUNanos int64
	// LiveConnections is the loop's gauge of client connections.
	LiveConnections int64
	Generation      uint64
}

// routeStats returns the counters of a slot, growing the block when a slot is
// used for the first time since the last hand-over.
func (s *Stats) routeStats(slot int) *RouteStats {
	if slot >= len(s.Routes) {
		grown := make([]RouteStats, min(max(slot+1, 2*len(s.Routes), 16), snapshot.MaxSeries+1))
		copy(grown, s.Routes)
		s.Routes = grown
	}
	return &s.Routes[slot]
}

// count books a finished exchange.
func (s *Stats) count(slot, status int, reason codec.Reason, nanos int64) {
	r := s.routeStats(slot)
	class := status / 100
	if class >= statusClasses {
		class = 0
	}
	r.Class[class]++
	r.LatencySum += uint64(max(nanos, 0))
	i := 0
	for i < len(latencyBounds) && nanos > latencyBounds[i] {
		i++
	}
	r.Latency[i]++
	if reason != codec.ReasonNone {
		s.Reasons[reason]++
	}
}

// countRetry books a retry by what became of the try before.
func (s *Stats) countRetry(why cause) {
	s.Retries++
	switch why {
	case causeConnect:
		s.RetriedConnect++
	case causeReset:
		s.RetriedReset++
	case causePerTry:
		s.RetriedPerTry++
	default:
		s.RetriedStatus++
	}
}

// Merge adds the counters of another block and takes over its gauges.
func (s *Stats) Merge(o *Stats) {
	for i := range o.Routes {
		dst, src := s.routeStats(i), &o.Routes[i]
		for c := range src.Class {
			dst.Class[c] += src.Class[c]
		}
		for b := range src.Latency {
			dst.Latency[b] += src.Latency[b]
		}
		dst.LatencySum += src.LatencySum
	}
	for i := range o.Reasons {
		s.Reasons[i] += o.Reasons[i]
	}
	s.Requests += o.Requests
	s.Retries += o.Retries
	s.StaleRetries += o.StaleRetries
	s.RetriesDenied += o.RetriesDenied
	s.RetriedConnect += o.RetriedConnect
	s.RetriedReset += o.RetriedReset
	s.RetriedPerTry += o.RetriedPerTry
	s.RetriedStatus += o.RetriedStatus
	s.Hedges += o.Hedges
	s.HedgesWon += o.HedgesWon
	s.BytesIn += o.BytesIn
	s.BytesOut += o.BytesOut
	s.Upgrades += o.Upgrades
	s.UnknownPaths += o.UnknownPaths
	s.FilterOverruns += o.FilterOverruns
	s.FilterPanics += o.FilterPanics
	s.FilterLengths += o.FilterLengths
	s.Calls += o.Calls
	s.CallsFailed += o.CallsFailed
	s.LogDropped += o.LogDropped
	s.ProxyRefused += o.ProxyRefused
	s.ProtocolErrors += o.ProtocolErrors
	s.StreamsRefused += o.StreamsRefused
	s.LateReplies += o.LateReplies
	s.GoAways += o.GoAways
	s.HeartbeatsMissed += o.HeartbeatsMissed
	s.Reactor, s.Pool = o.Reactor, o.Pool
	s.LiveExchanges, s.LiveSessions = o.LiveExchanges, o.LiveSessions
	s.OldestExchange, s.CPUNanos = o.OldestExchange, o.CPUNanos
	s.LiveConnections, s.Generation = o.LiveConnections, o.Generation
}
