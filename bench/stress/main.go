// Command stress puts the gateway into the situations that a comparison of
// speed does not show, and prints what it found as a page.
//
//	go run ./bench/stress idle      memory of idle keep-alive clients, by the slope
//	go run ./bench/stress slow      readers and uploads that stop, and honest traffic beside them
//	go run ./bench/stress reload    one route of many changes under load
//	go run ./bench/stress scale     one loop and two, what the kernel leaves of the second
//	go run ./bench/stress inflight  thousands of frames in flight on one upstream connection
//
// The gateway runs on -proxy-cpu, everything else on -load-cpu. Latencies are
// measured by bench/load at 70 % of the peak, in pairs of a quiet slice and one
// with trouble; what counts is the median of the ratios. docs/benchmarks.md
// explains the figures.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/corelane/corelane/bench/program"
)

// options are the flags.
type options struct {
	what        string
	gateway     string
	proxyCPU    string // a list such as taskset takes
	loadCPU     int
	rounds      int
	slice       time.Duration
	connections int
	clients     int // idle: the most
	stopped     int // slow: readers, and as many uploads
	routes      int // reload: routes in the table
	changes     int // reload: changes in a slice
	inflight    int // inflight: requests
	page        string
}

// scenarios by name; each writes its findings.
var scenarios = map[string]func(ctx context.Context, b *bench, out io.Writer) error{
	"idle": idle, "slow": slow, "reload": reload, "scale": scale, "inflight": inflight,
}

func main() { program.Main("stress", command) }

func command(args []string, out io.Writer) error {
	return program.Run(args, parse, func(ctx context.Context, o options) error { return execute(ctx, o, args, out) })
}

func execute(ctx context.Context, o options, args []string, out io.Writer) error {
	b, err := newBench(ctx, o)
	if err != nil {
		return err
	}
	defer b.stop()
	var page strings.Builder
	fmt.Fprintf(&page, "# %s\n\n`go run ./bench/stress %s`\n\n", o.what, strings.Join(args, " "))
	if err := scenarios[o.what](ctx, b, &page); err != nil {
		return err
	}
	if o.page != "" {
		if err := os.WriteFile(o.page, []byte(page.String()), 0o644); err != nil {
			return err
		}
	}
	_, err = io.WriteString(out, page.String())
	return err
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("stress", flag.ContinueOnError)
	flags.StringVar(&o.gateway, "gateway", "bin/corelane", "the program to run")
	flags.StringVar(&o.proxyCPU, "proxy-cpu", "0", "CPUs of the gateway")
	flags.IntVar(&o.loadCPU, "load-cpu", 1, "CPU of origin and load; -1: any")
	flags.IntVar(&o.rounds, "rounds", 10, "pairs of slices")
	flags.DurationVar(&o.slice, "slice", 3*time.Second, "length of a slice")
	flags.IntVar(&o.connections, "connections", 32, "connections of honest traffic")
	flags.IntVar(&o.clients, "clients", 19_000, "idle: the most clients; descriptors bound it")
	flags.IntVar(&o.stopped, "stopped", 200, "slow: readers that stop, and as many uploads")
	flags.IntVar(&o.routes, "routes", 50_000, "reload: routes in the table")
	flags.IntVar(&o.changes, "changes", 20, "reload: changes of one route in a slice")
	flags.IntVar(&o.inflight, "inflight", 10_000, "inflight: requests in flight at one time")
	flags.StringVar(&o.page, "page", "", "file that gets the page")
	// The scenario stands first, flags behind it.
	if len(args) > 0 {
		o.what, args = args[0], args[1:]
	}
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if scenarios[o.what] == nil {
		return o, fmt.Errorf("%q is none of idle, slow, reload, scale and inflight", o.what)
	}
	if o.inflight < 1 || o.inflight > maxInflight {
		return o, fmt.Errorf("-inflight is not between 1 and %d", maxInflight)
	}
	if o.rounds < 1 || o.slice < 100*time.Millisecond || o.connections < 1 {
		return o, errors.New("a round, 100ms and a connection are the least")
	}
	return o, nil
}
