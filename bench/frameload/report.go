package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/corelane/corelane/bench/histogram"
)

// failure is a kind of error.
type failure uint8

// The kinds. Each failed request counts once; unknown answers and lost
// connections are not requests and count besides.
const (
	failConnect    failure = iota // no connection could be opened
	failClosed                    // the connection ended with the request in flight
	failProtocol                  // bytes that cannot be understood
	failStatus                    // the answer is not a success
	failNonce                     // the answer belongs to another request, or its body is damaged
	failLength                    // the body has another length
	failCancelled                 // the peer gave the request up
	failUnknown                   // an answer to no request, or a second one
	failUnanswered                // no answer when the time was over
	failUnsent                    // due, but never sent
	failures
)

var failureNames = [failures]string{"connect", "closed", "protocol", "status", "nonce", "length", "cancelled", "unknown_id", "unanswered", "unsent"}

// Report is what a run found. Latencies are in microseconds, of requests due
// after the warm-up that were answered well.
type Report struct {
	Requests int            `json:"requests"`
	Seconds  float64        `json:"seconds"`
	Asked    float64        `json:"asked_rate,omitempty"`
	P50      float64        `json:"p50"`
	P90      float64        `json:"p90"`
	P99      float64        `json:"p99"`
	P999     float64        `json:"p999"`
	Max      float64        `json:"max"`
	LagP99   float64        `json:"lag_p99,omitempty"`
	Failures int            `json:"failures"`
	Errors   map[string]int `json:"errors,omitempty"`
}

// newReport reads the histograms; took is the time that counts.
func newReport(o *options, latency, lag *histogram.Histogram, counts *[failures]int, took time.Duration) *Report {
	r := &Report{
		Requests: latency.Count(), Seconds: took.Seconds(), Asked: o.rate,
		P50: latency.Micros(0.5), P90: latency.Micros(0.9), P99: latency.Micros(0.99), P999: latency.Micros(0.999),
		Max: latency.Micros(1), LagP99: lag.Micros(0.99),
	}
	for kind, n := range counts {
		if n == 0 {
			continue
		}
		if r.Errors == nil {
			r.Errors = map[string]int{}
		}
		r.Errors[failureNames[kind]] = n
		r.Failures += n
	}
	return r
}

// String is the line for people.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%.0f requests/s", float64(r.Requests)/r.Seconds)
	if r.Asked > 0 {
		fmt.Fprintf(&b, " of %.0f asked, lag p99 %.0f µs", r.Asked, r.LagP99)
	}
	fmt.Fprintf(&b, "; p50 %.0f µs, p99 %.0f, p99.9 %.0f, max %.0f; %d failures", r.P50, r.P99, r.P999, r.Max, r.Failures)
	kinds := slices.SortedFunc(maps.Keys(r.Errors), func(x, y string) int {
		return cmp.Or(cmp.Compare(r.Errors[y], r.Errors[x]), cmp.Compare(x, y))
	})
	for _, kind := range kinds {
		fmt.Fprintf(&b, ", %s %d", kind, r.Errors[kind])
	}
	return b.String()
}
