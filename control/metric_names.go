package control

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/corelane/corelane/engine"
)

// descriptions lists every metric of the node; docs/operations.md has the same
// list, and a test compares them.
var descriptions []*prometheus.Desc

// describe makes a description. Totals are since the start of the process.
func describe(name, help string, labels ...string) *prometheus.Desc {
	d := prometheus.NewDesc("corelane_"+name, help, labels, nil)
	descriptions = append(descriptions, d)
	return d
}

// By route, for at most 2,000 routes; the rest are "other".
var (
	requestsTotal   = describe("requests_total", "Exchanges that have ended, by route and class of status; class none ended without an answer.", "route", "code_class")
	requestDuration = describe("request_duration_seconds", "Time from the complete request head to the end of the exchange.", "route")
)

// Of the process.
var (
	nodeInfo          = describe("info", "Always 1; the labels tell who this is.", "node", "version")
	nodeReady         = describe("ready", "1 while /readyz answers 200.")
	reasonsTotal      = describe("reasons_total", "Exchanges that the gateway answered, cut or refused by itself, by reason.", "reason")
	exchangesLive     = describe("exchanges", "Exchanges under way.")
	oldestExchange    = describe("oldest_exchange_seconds", "Age of the oldest exchange under way.")
	clientConnections = describe("connections", "Client connections.")
	listenerInfo      = describe("listener_info", "Always 1; the labels tell what clients of the listener speak.", "listener", "protocol")
	listenerClients   = describe("listener_connections", "Client connections of the listener.", "listener")
	listenerRefused   = describe("listener_connections_refused_total", "Client connections closed at once, over limits.connections of the listener.", "listener")

	unknownPathsTracked = describe("unknown_paths_tracked", "Paths without a route that are told apart; /api/v1/unknown-paths lists them.")
)

// Of upstreams.
var (
	serviceInfo         = describe("service_info", "Always 1; the labels tell what the endpoints speak.", "service", "protocol")
	upstreamConnections = describe("upstream_connections", "Connections to endpoints, by what they do.", "service", "endpoint", "state")
	upstreamWaiting     = describe("upstream_waiting", "Exchanges that wait for a connection of the service.", "service")
	upstreamClosedTotal = describe("upstream_closed_total", "Upstream connections closed, by reason.", "reason")
	ejectionsTotal      = describe("ejections_total", "Endpoints ejected because their requests failed.", "service")
	endpointsByState    = describe("endpoints", "Endpoints by state: unknown, healthy or unhealthy, and besides ejected, draining or warming_up.", "service", "state")
	servicePanic        = describe("service_panic", "1 while so few endpoints are usable that health and ejections are ignored.", "service")
	healthProbesTotal   = describe("health_probes_total", "Probes of endpoints, by result.", "result")
)

// Of loops.
var (
	loopBusyRatio   = describe("loop_busy_ratio", "Share of one CPU that the loop's thread took in the last second.", "loop")
	loopSkew        = describe("loop_skew", "Busiest loop's share over the mean of all; 1 is even.")
	loopSkewAlarm   = describe("loop_skew_alarm", "1 while one loop has been much busier than the others for a minute.")
	loopTurnsTotal  = describe("loop_turns_total", "Turns of the loop.", "loop")
	loopLongestTurn = describe("loop_longest_turn_seconds", "Longest turn of the loop since the start.", "loop")
	loopConnections = describe("loop_connections", "Client connections of the loop.", "loop")
	loopStalled     = describe("loop_stalled", "1 while the loop has had no turn for a second.", "loop")
	loopStallsTotal = describe("loop_stalls_total", "Times that a loop had no turn for a second.")
	scrapeMissing   = describe("scrape_missing_loops", "1 for a loop that did not answer this scrape; its numbers are old.", "loop")
)

// Of the control side.
var (
	bufferBytes             = describe("buffer_bytes", "Memory of buffers in use.")
	bufferLimitBytes        = describe("buffer_limit_bytes", "Limit of the memory of buffers; 0 is none.")
	spillFiles              = describe("spill_files", "Request bodies held in files.")
	spillBytes              = describe("spill_bytes", "Bytes of request bodies in files, and on their way there.")
	spillWrittenBytesTotal  = describe("spill_written_bytes_total", "Bytes of request bodies written to files.")
	configGeneration        = describe("generation", "Generation of the configuration that every loop has taken up.")
	configReloadsTotal      = describe("config_reloads_total", "Looks at the configuration, by what became of it.", "result")
	configFailing           = describe("config_failing", "1 while the configuration at the source is refused and an older one is in force.")
	filterResumedTwiceTotal = describe("filter_resumed_twice_total", "Handles of waiting filters that were resumed again or too late.")
	accessLogErrorsTotal    = describe("access_log_write_errors_total", "Writes of the access log that failed.")
	accessLogLostBytesTotal = describe("access_log_lost_bytes_total", "Bytes of records that could not be written.")
)

// sumCounter is a counter that is the sum over the loops.
type sumCounter struct {
	desc   *prometheus.Desc
	labels []string
	of     func(*engine.Stats) uint64
}

// sumCounters are all counters of that kind.
var sumCounters = makeSumCounters()

func makeSumCounters() []sumCounter {
	type stats = engine.Stats
	body := describe("body_bytes_total", "Body bytes from clients (in) and to them (out).", "direction")
	sockets := describe("socket_bytes_total", "Bytes read from and written to all sockets.", "direction")
	calls := describe("socket_calls_total", "Read and write calls on all sockets.", "call")
	retries := describe("retries_total", "Extra tries by what became of the one before; stale: a reused connection had died.", "cause")
	filterCalls := describe("filter_calls_total", "Calls of services that filters made, answered or failed.", "result")
	plain := func(name, help string, of func(*stats) uint64) sumCounter {
		return sumCounter{desc: describe(name, help), of: of}
	}
	return []sumCounter{
		{body, []string{"in"}, func(s *stats) uint64 { return s.BytesIn }},
		{body, []string{"out"}, func(s *stats) uint64 { return s.BytesOut }},
		{sockets, []string{"in"}, func(s *stats) uint64 { return s.Reactor.BytesIn }},
		{sockets, []string{"out"}, func(s *stats) uint64 { return s.Reactor.BytesOut }},
		{calls, []string{"read"}, func(s *stats) uint64 { return s.Reactor.Reads }},
		{calls, []string{"write"}, func(s *stats) uint64 { return s.Reactor.Writes }},
		{retries, []string{"connect"}, func(s *stats) uint64 { return s.RetriedConnect }},
		{retries, []string{"reset"}, func(s *stats) uint64 { return s.RetriedReset }},
		{retries, []string{"per_try"}, func(s *stats) uint64 { return s.RetriedPerTry }},
		{retries, []string{"status"}, func(s *stats) uint64 { return s.RetriedStatus }},
		{retries, []string{"stale"}, func(s *stats) uint64 { return s.StaleRetries }},
		plain("hedges_total", "Second tries begun beside a first that had not answered in time.", func(s *stats) uint64 { return s.Hedges }),
		plain("hedges_won_total", "Second tries whose answer was taken.", func(s *stats) uint64 { return s.HedgesWon }),
		plain("retries_denied_total", "Retries and hedges that the budget did not allow.", func(s *stats) uint64 { return s.RetriesDenied }),
		{filterCalls, []string{"answered"}, func(s *stats) uint64 { return s.Calls - s.CallsFailed }},
		{filterCalls, []string{"failed"}, func(s *stats) uint64 { return s.CallsFailed }},
		plain("requests_started_total", "Requests answered or begun, refused heads included.", func(s *stats) uint64 { return s.Requests }),
		plain("unknown_paths_total", "Requests for which there is no route.", func(s *stats) uint64 { return s.UnknownPaths }),
		plain("upgrades_total", "Tunnels opened, such as WebSockets.", func(s *stats) uint64 { return s.Upgrades }),
		plain("connections_accepted_total", "Client connections accepted.", func(s *stats) uint64 { return s.Reactor.Accepts }),
		plain("connections_refused_total", "Client connections closed at once, over engine.max_connections.", func(s *stats) uint64 { return s.Reactor.Refused }),
		plain("protocol_errors_total", "Connections of message protocols, of either side, whose bytes made no sense.", func(s *stats) uint64 { return s.ProtocolErrors }),
		plain("streams_refused_total", "Requests of message protocols that were not looked at: too many of one client, or the gateway ends.", func(s *stats) uint64 { return s.StreamsRefused }),
		plain("upstream_late_replies_total", "Answers of endpoints to requests that had ended.", func(s *stats) uint64 { return s.LateReplies }),
		plain("upstream_go_aways_total", "Endpoints that asked for a new connection.", func(s *stats) uint64 { return s.GoAways }),
		plain("upstream_heartbeats_missed_total", "Connections given up because their endpoint did not answer heartbeats.", func(s *stats) uint64 { return s.HeartbeatsMissed }),
		plain("proxy_protocol_refused_total", "Client connections closed because they did not begin with a PROXY header.", func(s *stats) uint64 { return s.ProxyRefused }),
		plain("connection_handoffs_total", "Fresh connections given to a less loaded loop.", func(s *stats) uint64 { return s.Reactor.HandoffsOut }),
		plain("accept_errors_total", "Failures to accept, for want of descriptors or memory.", func(s *stats) uint64 { return s.Reactor.AcceptErrors }),
		plain("panics_total", "Callbacks that panicked; their connections were closed.", func(s *stats) uint64 { return s.Reactor.Panics }),
		plain("filter_panics_total", "Filters that panicked; their exchanges were answered 500.", func(s *stats) uint64 { return s.FilterPanics }),
		plain("filter_overruns_total", "Calls of filters that took longer than engine.filter_budget.", func(s *stats) uint64 { return s.FilterOverruns }),
		plain("filter_length_refused_total", "Bodies whose length a filter changed without saying so.", func(s *stats) uint64 { return s.FilterLengths }),
		plain("access_log_dropped_total", "Records dropped because the writer was behind.", func(s *stats) uint64 { return s.LogDropped }),
		plain("upstream_dialed_total", "Connections to endpoints that loops began to open.", func(s *stats) uint64 { return s.Pool.Dialed }),
		plain("upstream_dial_failures_total", "Connections to endpoints that could not be begun; later failures count as closed.", func(s *stats) uint64 { return s.Pool.DialFailed }),
		plain("upstream_reused_total", "Exchanges that got an idle connection.", func(s *stats) uint64 { return s.Pool.Reused }),
		plain("upstream_waited_total", "Exchanges that had to wait for a connection.", func(s *stats) uint64 { return s.Pool.Waited }),
		plain("upstream_wait_expired_total", "Exchanges that waited in vain.", func(s *stats) uint64 { return s.Pool.Expired }),
		plain("upstream_exhausted_total", "Exchanges refused because too many waited.", func(s *stats) uint64 { return s.Pool.Exhausted }),
		plain("upstream_no_endpoint_total", "Choices that found no usable endpoint.", func(s *stats) uint64 { return s.Pool.NoEndpoint }),
		plain("upstream_panic_choices_total", "Choices that ignored health and ejections, in a panic.", func(s *stats) uint64 { return s.Pool.Panicked }),
	}
}
