package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/corelane/corelane/bench/program"
)

// The two ways to ask.
const (
	modeCost    = "cost"    // wrk, as fast as it goes: what a request costs
	modeLatency = "latency" // bench/load, at a fixed rate: how long a request takes
)

// peakShare is the share of the peak at which latencies are compared.
const peakShare = 0.7

// options are the flags of the runner.
type options struct {
	mode        string
	rounds      int
	duration    time.Duration
	connections []int
	sizes       []int
	rivals      []string
	log         bool
	rate        float64
	trace       bool

	binary string
	root   string
	out    string

	proxyCPU, originCPU, loadCPU int

	command string // as it can be typed again
}

func parseOptions(args []string) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.StringVar(&o.mode, "mode", modeCost, "cost: as fast as it goes · latency: at a fixed rate")
	flags.IntVar(&o.rounds, "rounds", 15, "rounds; each asks every proxy once")
	flags.DurationVar(&o.duration, "duration", 2*time.Second, "one slice, in whole seconds")
	connections := flags.String("connections", "64,4,16", "numbers of connections")
	sizes := flags.String("size", "128,16384", "lengths of the response body in bytes")
	rivals := flags.String("rivals", strings.Join(defaultRivals, ","), "proxies to compare, of "+strings.Join(rivalNames(), ", "))
	flags.BoolVar(&o.log, "log", false, "access logs on in all proxies")
	flags.Float64Var(&o.rate, "rate", 0, "latency mode: requests per second; 0: 70 % of the peak of nginx, or of the first proxy")
	flags.BoolVar(&o.trace, "strace", true, "count system calls in a slice of its own")
	flags.StringVar(&o.binary, "corelane", "bin/corelane", "the program to measure")
	flags.StringVar(&o.out, "out", "bench/results", "folder for the JSON and Markdown results; empty: none")
	flags.IntVar(&o.proxyCPU, "proxy-cpu", 0, "CPU of the proxy being measured; -1: any")
	flags.IntVar(&o.originCPU, "origin-cpu", 1, "CPU of the origin; -1: any")
	flags.IntVar(&o.loadCPU, "load-cpu", 1, "CPU of wrk or load; -1: any")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	var errs [4]error
	o.connections, errs[0] = numbers("connections", *connections, 1)
	o.sizes, errs[1] = numbers("size", *sizes, 0)
	o.rivals = strings.Split(*rivals, ",")
	errs[2] = o.validate()
	o.root, errs[3] = program.Root()
	o.command = program.CommandLine("run", flags)
	return o, errors.Join(errs[:]...)
}

func (o *options) validate() error {
	var errs []error
	if o.mode != modeCost && o.mode != modeLatency {
		errs = append(errs, fmt.Errorf("-mode %q is neither %s nor %s", o.mode, modeCost, modeLatency))
	}
	if o.rounds < 1 {
		errs = append(errs, errors.New("-rounds must be at least 1"))
	}
	// wrk takes whole seconds only.
	if o.duration < time.Second || o.duration%time.Second != 0 {
		errs = append(errs, fmt.Errorf("-duration %v is not a whole number of seconds", o.duration))
	}
	for _, name := range o.rivals {
		if !slices.Contains(rivalNames(), name) {
			errs = append(errs, fmt.Errorf("-rivals: unknown proxy %q, want some of %s", name, strings.Join(rivalNames(), ", ")))
		}
	}
	return errors.Join(errs...)
}

// bound is a time that a run cannot need: each slice may take 3 s longer than
// it should, and all else 5 minutes.
func (o *options) bound() time.Duration {
	slices := (o.rounds + 2) * len(o.rivals) * len(o.connections) * len(o.sizes)
	return time.Duration(slices)*(o.duration+3*time.Second) + 5*time.Minute
}

// pinned says what runs where.
func (o *options) pinned() string {
	return fmt.Sprintf("proxy on CPU %d, origin on CPU %d, load on CPU %d", o.proxyCPU, o.originCPU, o.loadCPU)
}

// numbers reads a list such as "64,4,16".
func numbers(name, list string, least int) ([]int, error) {
	var ns []int
	for _, s := range strings.Split(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < least {
			return nil, fmt.Errorf("-%s: %q is not a number from %d", name, s, least)
		}
		ns = append(ns, n)
	}
	return ns, nil
}

// path makes a path of a flag absolute, from the module's root.
func (o *options) path(p string) string { return program.Path(o.root, p) }
