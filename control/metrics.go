package control

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine"
	"github.com/corelane/corelane/engine/reactor"
	"github.com/corelane/corelane/pool"
	"github.com/corelane/corelane/pool/health"
)

// maxScrapes bounds the scrapes that run at one time.
const maxScrapes = 4

// metrics renders the node's numbers when they are asked for; it keeps none.
type metrics struct{ node *Node }

// metricsHandler answers /metrics.
func (n *Node) metricsHandler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		&metrics{node: n},
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes})
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range descriptions {
		ch <- d
	}
}

// Collect implements prometheus.Collector. Loops that do not answer in time are
// named in a metric, and their numbers are those of their last answer.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	out := sample{ch}
	unknown := m.node.server.AskUnknownPaths() // answered before the counters are
	m.node.counters.look(func(totals []*engine.Stats, missing []int) {
		m.routes(out, totals)
		m.sums(out, totals)
		m.loops(out, totals, missing)
	})
	m.upstreams(out)
	m.process(out)
	paths, _ := unknown.Merge()
	out.gauge(unknownPathsTracked, float64(len(paths.Paths)))
}

// sample sends metrics.
type sample struct{ ch chan<- prometheus.Metric }

func (s sample) counter(d *prometheus.Desc, v uint64, labels ...string) {
	s.ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
}

func (s sample) gauge(d *prometheus.Desc, v float64, labels ...string) {
	s.ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func (s sample) flag(d *prometheus.Desc, on bool, labels ...string) {
	v := 0.0
	if on {
		v = 1
	}
	s.gauge(d, v, labels...)
}

// routes sends what is counted by route.
func (m *metrics) routes(out sample, totals []*engine.Stats) {
	bounds := engine.LatencyBounds()
	m.node.counters.eachSeries(totals, func(route string, parts []*engine.RouteStats) {
		var sum engine.RouteStats
		for _, r := range parts {
			addRoute(&sum, r)
		}
		for class, n := range sum.Class {
			if n > 0 {
				out.counter(requestsTotal, n, route, className(class))
			}
		}
		buckets := make(map[float64]uint64, len(bounds))
		var count uint64
		for i, n := range sum.Latency {
			count += n
			if i < len(bounds) {
				buckets[bounds[i]] = count
			}
		}
		if count > 0 {
			out.ch <- prometheus.MustNewConstHistogram(requestDuration, count, float64(sum.LatencySum)/1e9, buckets, route)
		}
	})
}

func addRoute(sum, r *engine.RouteStats) {
	for i, n := range r.Class {
		sum.Class[i] += n
	}
	for i, n := range r.Latency {
		sum.Latency[i] += n
	}
	sum.LatencySum += r.LatencySum
}

// className is "2xx" and the like, and "none" for exchanges that ended without
// an answer.
func className(class int) string {
	if class == 0 {
		return "none"
	}
	return strconv.Itoa(class) + "xx"
}

// sums sends what is counted for the process.
func (m *metrics) sums(out sample, totals []*engine.Stats) {
	for _, r := range codec.Reasons() {
		out.counter(reasonsTotal, total(totals, func(s *engine.Stats) uint64 { return s.Reasons[r] }), r.String())
	}
	for _, c := range sumCounters {
		out.counter(c.desc, total(totals, c.of), c.labels...)
	}
	for r := range pool.Reasons {
		out.counter(upstreamClosedTotal, total(totals, func(s *engine.Stats) uint64 { return s.Pool.Closed[r] }), pool.CloseReason(r).String())
	}
	live, oldest := 0, int64(0)
	for _, s := range totals {
		live += s.LiveExchanges
		oldest = max(oldest, s.OldestExchange)
	}
	out.gauge(exchangesLive, float64(live))
	out.gauge(oldestExchange, float64(oldest)/1e9)
}

func total(totals []*engine.Stats, of func(*engine.Stats) uint64) uint64 {
	var sum uint64
	for _, s := range totals {
		sum += of(s)
	}
	return sum
}

// loops sends what is told of each loop.
func (m *metrics) loops(out sample, totals []*engine.Stats, missing []int) {
	shares, skew := m.node.counters.shares()
	out.gauge(loopSkew, skew)
	out.flag(loopSkewAlarm, m.node.counters.alarm.raised())
	absent := loopSet(missing)
	for i, s := range totals {
		loop := strconv.Itoa(i)
		out.flag(scrapeMissing, absent[i], loop)
		out.gauge(loopBusyRatio, shares[i], loop)
		out.counter(loopTurnsTotal, s.Reactor.Turns, loop)
		out.gauge(loopLongestTurn, float64(s.Reactor.LongestTurn)/1e9, loop)
		out.gauge(loopConnections, float64(s.LiveConnections), loop)
		out.flag(loopStalled, m.node.watchdog.isStalled(i), loop)
	}
	out.counter(loopStallsTotal, m.node.watchdog.count())
}

// upstreams sends what is told of services and endpoints. Beyond the bound,
// endpoints share the label "other", and services are left out.
func (m *metrics) upstreams(out sample) {
	lanes, snap := m.node.counters.lanes(), m.node.server.Current()
	now := reactor.Monotonic()
	for r := range health.Results {
		out.counter(healthProbesTotal, m.node.checker.Count(health.Result(r)), health.Result(r).String())
	}
	var rest laneUse
	sent := 0
	for i, name := range serviceNames(snap) {
		service := snap.Services[name].Pool
		if i < maxServiceSeries {
			out.gauge(serviceInfo, 1, name, snap.Services[name].Speaks())
			out.gauge(upstreamWaiting, float64(service.State.Waiting()), name)
			out.counter(ejectionsTotal, service.State.Ejections(), name)
			out.flag(servicePanic, service.Panicking(now), name)
			counts := countEndpoints(service, now)
			counts.send(out, name)
		}
		for _, member := range service.Members {
			use := lanes[member.Endpoint]
			if sent++; sent > maxEndpointSeries {
				rest.idle, rest.busy = rest.idle+use.idle, rest.busy+use.busy
				continue
			}
			out.gauge(upstreamConnections, float64(use.idle), name, member.Endpoint.Address(), "idle")
			out.gauge(upstreamConnections, float64(use.busy), name, member.Endpoint.Address(), "busy")
		}
	}
	if sent > maxEndpointSeries {
		out.gauge(upstreamConnections, float64(rest.idle), otherSeries, otherSeries, "idle")
		out.gauge(upstreamConnections, float64(rest.busy), otherSeries, otherSeries, "busy")
	}
}

// process sends what the control side knows without asking the loops.
func (m *metrics) process(out sample) {
	n := m.node
	used, limit := n.server.Memory()
	out.gauge(nodeInfo, 1, n.name, n.options.Version)
	out.flag(nodeReady, n.readiness().Ready)
	out.gauge(clientConnections, float64(n.server.Connections()))
	for _, l := range n.server.Listeners() {
		out.gauge(listenerInfo, 1, l.Name, n.server.Current().Listeners[l.Name].Speaks())
		out.gauge(listenerClients, float64(l.Connections), l.Name)
		out.counter(listenerRefused, l.Refused, l.Name)
	}
	out.gauge(bufferBytes, float64(used))
	out.gauge(bufferLimitBytes, float64(limit))
	spilled := n.server.Spilled()
	out.gauge(spillFiles, float64(spilled.Files))
	out.gauge(spillBytes, float64(spilled.Bytes))
	out.counter(spillWrittenBytesTotal, spilled.Written)
	out.gauge(configGeneration, float64(n.server.Passed()))
	out.counter(configReloadsTotal, n.reloads.published.Load(), "published")
	out.counter(configReloadsTotal, n.reloads.unchanged.Load(), "unchanged")
	out.counter(configReloadsTotal, n.reloads.refused.Load(), "refused")
	out.flag(configFailing, n.pipeline.Status().LastError != "")
	out.counter(filterResumedTwiceTotal, n.server.ResumedTwice())
	out.counter(accessLogErrorsTotal, n.access.Failed())
	out.counter(accessLogLostBytesTotal, n.access.Lost())
}
