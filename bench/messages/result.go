package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/corelane/corelane/bench/machine"
	"github.com/corelane/corelane/bench/process"
	"github.com/corelane/corelane/bench/spread"
	"github.com/corelane/corelane/bench/syscalls"
)

// sample is what one slice found of one lane.
type sample struct {
	Requests int     `json:"requests"`
	Rate     float64 `json:"requests_per_second"`
	P50      float64 `json:"p50_us"`
	P99      float64 `json:"p99_us"`
	CPU      float64 `json:"cpu_us_per_request"`
	Failures int     `json:"failures"`
}

// metric is one figure of a sample.
type metric struct {
	name string
	of   func(s sample) float64
}

var metrics = []metric{
	{"cpu_us_per_request", func(s sample) float64 { return s.CPU }},
	{"requests_per_second", func(s sample) float64 { return s.Rate }},
	{"p50_us", func(s sample) float64 { return s.P50 }},
	{"p99_us", func(s sample) float64 { return s.P99 }},
}

// result is everything a run found, as it is written in JSON.
type result struct {
	Time        time.Time           `json:"time"`
	Command     string              `json:"command"`
	Machine     machine.Facts       `json:"machine"`
	Seconds     float64             `json:"slice_seconds"`
	Connections int                 `json:"connections"`
	Streams     int                 `json:"streams"`
	Size        int                 `json:"size"`
	Order       []string            `json:"order"`
	Base        string              `json:"base"`
	Lanes       map[string]about    `json:"lanes"`
	Rounds      []map[string]sample `json:"rounds"`
	// Medians is lane → metric; Ratios too, each over the base of its round.
	Medians map[string]map[string]spread.Spread `json:"medians"`
	Ratios  map[string]map[string]spread.Spread `json:"ratios"`
}

// about is what is known of a lane besides the rounds.
type about struct {
	PeakKiB  int                `json:"peak_kib"`
	Syscalls map[string]float64 `json:"syscalls_per_request,omitempty"`
	Note     string             `json:"note,omitempty"`
}

func newResult(ctx context.Context, o *options) *result {
	r := &result{
		Time: time.Now().UTC().Truncate(time.Second), Command: o.command, Machine: machine.This(o.pinned()),
		Seconds: o.duration.Seconds(), Connections: o.connections, Streams: o.streams, Size: o.size,
		Order: o.lanes, Base: o.base, Lanes: map[string]about{},
	}
	// wrk tells its version, and ends with 1.
	out, _ := process.Pinned(ctx, -1, "wrk", "--version").CombinedOutput()
	_, _ = fmt.Sscanf(string(out), "wrk %s", &r.Machine.Wrk)
	return r
}

// summarise fills the medians and the ratios.
func (r *result) summarise() {
	r.Medians, r.Ratios = map[string]map[string]spread.Spread{}, map[string]map[string]spread.Spread{}
	for _, name := range r.Order {
		r.Medians[name], r.Ratios[name] = map[string]spread.Spread{}, map[string]spread.Spread{}
		for _, m := range metrics {
			var values, ratios []float64
			for _, round := range r.Rounds {
				values = append(values, m.of(round[name]))
				ratios = append(ratios, ratio(m.of(round[name]), m.of(round[r.Base])))
			}
			r.Medians[name][m.name], r.Ratios[name][m.name] = spread.Of(values), spread.Of(ratios)
		}
	}
}

// ratio is NaN, which no median counts, where there is no base.
func ratio(value, base float64) float64 {
	if base == 0 {
		return math.NaN()
	}
	return value / base
}

// failures counts the failed requests of a lane.
func (r *result) failures(name string) int {
	sum := 0
	for _, round := range r.Rounds {
		sum += round[name].Failures
	}
	return sum
}

// writePage writes the result in Markdown.
func writePage(w io.Writer, r *result) {
	fmt.Fprintf(w, "# Message protocols, %s\n\nCommand: `%s`\n\nMachine: %v.\n\n", r.Time.Format("2006-01-02 15:04 UTC"), r.Command, r.Machine)
	fmt.Fprintf(w, "%d requests in flight, answers of %d B, %d rounds of slices of %g s, as fast as they are answered. Lanes of messages have %d client connections (bench/frameload), lanes of HTTP clients one for each request in flight (wrk). ",
		r.Streams, r.Size, len(r.Rounds), r.Seconds, r.Connections)
	fmt.Fprintf(w, "One loop; access logs off. Processor time is that of all threads of the gateway. Ratios are taken within each round; shown is the median with the quartiles in brackets.\n\n")
	fmt.Fprint(w, "| lane | requests/s | p50 µs | p99 µs | CPU µs/request | failures | peak memory MiB | system calls/request | of which |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, name := range r.Order {
		at := func(metric string) float64 { return r.Medians[name][metric].Median }
		total, calls := syscalls.Describe(r.Lanes[name].Syscalls)
		if note := r.Lanes[name].Note; note != "" {
			calls = note
		}
		fmt.Fprintf(w, "| %s | %.0f | %.0f | %.0f | %.2f | %d | %.1f | %s | %s |\n", name, at("requests_per_second"), at("p50_us"), at("p99_us"),
			at("cpu_us_per_request"), r.failures(name), float64(r.Lanes[name].PeakKiB)/1024, total, calls)
	}
	if !slices.Contains(r.Order, r.Base) {
		return
	}
	fmt.Fprintf(w, "\n| ÷ %s | CPU/request | requests/s | p50 | p99 |\n|---|---|---|---|---|\n", r.Base)
	for _, name := range r.Order {
		if name == r.Base {
			continue
		}
		fmt.Fprintf(w, "| %s |", name)
		for _, m := range metrics {
			fmt.Fprintf(w, " %v |", r.Ratios[name][m.name])
		}
		fmt.Fprintln(w)
	}
}

// publish prints the page and writes both files of the result.
func publish(o *options, r *result, out io.Writer) error {
	r.summarise()
	var page bytes.Buffer
	writePage(&page, r)
	if _, err := out.Write(page.Bytes()); err != nil || o.out == "" {
		return err
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	file := filepath.Join(o.path(o.out), r.Time.Format("2006-01-02-150405")+"-messages")
	return errors.Join(
		os.MkdirAll(filepath.Dir(file), 0o755),
		os.WriteFile(file+".json", append(data, '\n'), 0o644),
		os.WriteFile(file+".md", page.Bytes(), 0o644),
	)
}
