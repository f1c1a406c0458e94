package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/corelane/corelane/bench/process"
)

// sliceGrace is how much longer than asked a slice may take.
const sliceGrace = 15 * time.Second

// report is the line that wrk's script and bench/load print. Latencies are in microseconds.
type report struct {
	Requests int     `json:"requests"`
	Seconds  float64 `json:"seconds"`
	P50      float64 `json:"p50"`
	P90      float64 `json:"p90"`
	P99      float64 `json:"p99"`
	Max      float64 `json:"max"`
	Failures int     `json:"failures"`
}

func parseReport(output []byte) (report, error) {
	_, line, ok := bytes.Cut(output, []byte("REPORT "))
	if !ok {
		return report{}, fmt.Errorf("no report in the load generator's output: %s", output)
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	var r report
	if err := json.Unmarshal(line, &r); err != nil {
		return report{}, fmt.Errorf("report %q: %w", line, err)
	}
	if r.Requests == 0 || r.Seconds == 0 {
		return report{}, fmt.Errorf("no request was answered: %s", line)
	}
	return r, nil
}

// cell is one load that all proxies are asked with.
type cell struct {
	Size        int `json:"size"`
	Connections int `json:"connections"`
}

func (c cell) String() string {
	return fmt.Sprintf("%d B, %d connections", c.Size, c.Connections)
}

// generator asks one address for a while.
type generator struct {
	o    *options
	wrk  string // script for wrk
	load string // program for latency mode
}

func (g *generator) url(address string, c cell) string {
	return "http://" + address + "/" + strconv.Itoa(c.Size)
}

// closed asks with wrk: the next request when the last is answered.
func (g *generator) closed(ctx context.Context, address string, c cell, duration time.Duration) (report, error) {
	return g.ask(ctx, duration, "wrk", "-t1", "-c", strconv.Itoa(c.Connections),
		"-d", strconv.Itoa(int(duration.Seconds()))+"s", "-s", g.wrk, g.url(address, c))
}

// open asks with bench/load at a rate; 0 is a closed loop with the same program.
func (g *generator) open(ctx context.Context, address string, c cell, rate float64) (report, error) {
	return g.ask(ctx, g.o.duration, g.load, "-connections", strconv.Itoa(c.Connections),
		"-duration", g.o.duration.String(), "-rate", strconv.FormatFloat(rate, 'f', 1, 64), g.url(address, c))
}

func (g *generator) ask(ctx context.Context, duration time.Duration, program string, args ...string) (report, error) {
	ctx, cancel := context.WithTimeout(ctx, duration+sliceGrace)
	defer cancel()
	out, err := process.Pinned(ctx, g.o.loadCPU, program, args...).CombinedOutput()
	if err != nil {
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) || ctx.Err() != nil {
			return report{}, fmt.Errorf("%s: %w: %s", program, err, out)
		}
		return report{}, err
	}
	return parseReport(out)
}

// sample is what one slice found of one proxy.
type sample struct {
	Requests int     `json:"requests"`
	Rate     float64 `json:"requests_per_second"`
	P50      float64 `json:"p50_us"`
	P99      float64 `json:"p99_us"`
	CPU      float64 `json:"cpu_us_per_request"`
	Failures int     `json:"failures"`
}

// measureSlice runs one slice between two readings of the proxy's processor time.
func measureSlice(p *process.Process, ask func() (report, error)) (sample, error) {
	before, err := process.CPUTime(p.PID())
	if err != nil {
		return sample{}, errors.Join(err, p.Alive())
	}
	r, err := ask()
	if err != nil {
		return sample{}, fmt.Errorf("%s: %w", p.Name, errors.Join(err, p.Alive()))
	}
	after, err := process.CPUTime(p.PID())
	if err != nil {
		return sample{}, errors.Join(err, p.Alive())
	}
	return sample{
		Requests: r.Requests,
		Rate:     float64(r.Requests) / r.Seconds,
		P50:      r.P50,
		P99:      r.P99,
		CPU:      float64((after - before).Microseconds()) / float64(r.Requests),
		Failures: r.Failures,
	}, nil
}

// emptyLog keeps access logs from filling the disk; every rival appends. It
// returns how much was there.
func emptyLog(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	_ = os.Truncate(path, 0)
	return info.Size()
}
