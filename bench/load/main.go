// Command load sends GET requests at a fixed rate, whatever the answers do (an
// open loop), and prints their latencies as one line of JSON. wrk cannot: it
// sends the next request when the last is answered, so a slow proxy is asked
// less and looks better than it is.
//
// Every connection has its own schedule. A request whose time comes while the
// one before is still under way starts late, and its latency counts from the
// time it was due. If the connection was free, it counts from when it was sent:
// the generator's own late wake-ups, up to a millisecond, are not the proxy's.
//
// With -rate 0 each connection sends as fast as it is answered (a closed loop),
// which finds the peak that a rate is chosen from.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"
)

func main() {
	rate := flag.Float64("rate", 0, "requests per second over all connections; 0: as fast as they are answered")
	connections := flag.Int("connections", 64, "connections to open")
	duration := flag.Duration("duration", 2*time.Second, "how long to send")
	flag.Parse()
	target, err := url.Parse(flag.Arg(0))
	if err != nil || target.Scheme != "http" || *connections < 1 || *rate < 0 {
		log.Fatal("usage: load [-rate N] [-connections N] [-duration D] http://ADDRESS/PATH")
	}
	report := run(target, *connections, *rate, *duration)
	line, err := json.Marshal(report)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Fprintf(os.Stdout, "REPORT %s\n", line)
}

// Report is what a run found. Latencies are in microseconds.
type Report struct {
	Requests int     `json:"requests"`
	Seconds  float64 `json:"seconds"`
	P50      float64 `json:"p50"`
	P90      float64 `json:"p90"`
	P99      float64 `json:"p99"`
	Max      float64 `json:"max"`
	Failures int     `json:"failures"`
}

// run drives all connections until the time is over and joins their results.
func run(target *url.URL, connections int, rate float64, duration time.Duration) Report {
	start := time.Now()
	clients := make([]*client, connections)
	var wait sync.WaitGroup
	for i := range clients {
		clients[i] = newClient(target, schedule(start, i, connections, rate), start.Add(duration))
		wait.Go(clients[i].run)
	}
	wait.Wait()
	return summarise(clients, time.Since(start))
}

// pace is one connection's schedule; an interval of 0 is a closed loop.
type pace struct {
	next     time.Time
	interval time.Duration
}

// schedule spreads the connections evenly over one interval.
func schedule(start time.Time, i, connections int, rate float64) pace {
	if rate == 0 {
		return pace{next: start}
	}
	interval := time.Duration(float64(connections) / rate * float64(time.Second))
	return pace{next: start.Add(interval * time.Duration(i) / time.Duration(connections)), interval: interval}
}

func summarise(clients []*client, took time.Duration) Report {
	var all []time.Duration
	report := Report{Seconds: took.Seconds()}
	for _, c := range clients {
		all = append(all, c.latencies...)
		report.Failures += c.failures
	}
	report.Requests = len(all)
	if len(all) == 0 {
		return report
	}
	slices.Sort(all)
	at := func(share float64) float64 {
		return float64(all[int(share*float64(len(all)-1))]) / float64(time.Microsecond)
	}
	report.P50, report.P90, report.P99, report.Max = at(0.5), at(0.9), at(0.99), at(1)
	return report
}
