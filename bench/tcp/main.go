// Command tcp compares what it costs proxies to pass connections through: bytes
// per second of their processor time, and processor time per small round trip.
//
//	go run ./bench/tcp                                  all rivals and lanes, 15 rounds of 1 s slices
//	go run ./bench/tcp -rounds 5 -lanes download-one
//	go run ./bench/tcp -rivals corelane,corelane-copying -lanes messages -message 16384 -users 8
//
// Proxies run on -proxy-cpu, one thread each, and take turns within a round; load
// and service are this process, on -load-cpu. Ratios are those of one round;
// what counts is their median with the quartiles.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/corelane/corelane/bench/process"
	"github.com/corelane/corelane/bench/program"
)

// options are the flags.
type options struct {
	gateway     string
	rivals      string
	lanes       string
	rounds      int
	slice       time.Duration
	connections int
	users       int
	message     int
	proxyCPU    int
	loadCPU     int
	root, out   string
}

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("tcp", flag.ContinueOnError)
	f.StringVar(&o.gateway, "gateway", "bin/corelane", "the program to measure")
	f.StringVar(&o.rivals, "rivals", rivalNames(), "who takes part; the first is compared with the others")
	f.StringVar(&o.lanes, "lanes", laneNames, "what connections do")
	f.IntVar(&o.rounds, "rounds", 15, "rounds; each measures every rival once in all lanes")
	f.DurationVar(&o.slice, "slice", time.Second, "length of one slice")
	f.IntVar(&o.connections, "connections", 8, "connections of the lanes whose bytes go one way")
	f.IntVar(&o.users, "users", 64, "connections of the lane of messages")
	f.IntVar(&o.message, "message", 128, "length of a message, in bytes")
	f.IntVar(&o.proxyCPU, "proxy-cpu", 0, "CPU of the proxies")
	f.IntVar(&o.loadCPU, "load-cpu", 1, "CPU of load and service")
	f.StringVar(&o.out, "out", "", "folder for the JSON and Markdown results; empty: none")
	if err = f.Parse(args); err != nil {
		return o, err
	}
	if o.rounds < 1 || o.slice <= 0 || o.connections < 1 || o.users < 1 || o.message < 1 {
		return o, errors.New("rounds, slice, connections, users and message must be positive")
	}
	if _, err = o.makeLanes(); err != nil {
		return o, err
	}
	o.root, err = program.Root()
	return o, err
}

// path makes a path of a flag absolute, from the module's root.
func (o options) path(p string) string { return program.Path(o.root, p) }

func main() { program.Main("tcp", command) }

func command(args []string, out io.Writer) error {
	return program.Run(args, parse, func(ctx context.Context, o options) error {
		r, err := run(ctx, o)
		if err != nil {
			return err
		}
		r.Command = strings.TrimSpace("go run ./bench/tcp " + strings.Join(args, " "))
		return r.publish(o, out)
	})
}

// run starts everything, measures all rounds, and ends everything.
func run(ctx context.Context, o options) (*result, error) {
	dir, err := os.MkdirTemp("", "bench-tcp-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	service, err := newService()
	if err != nil {
		return nil, err
	}
	defer service.stop()
	var started []*process.Process
	defer func() {
		for _, p := range started {
			p.Stop()
		}
	}()
	for _, name := range strings.Split(o.rivals, ",") {
		r, err := rivalNamed(name)
		if err != nil {
			return nil, err
		}
		p, err := r.start(ctx, o, service.address(), filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		started = append(started, p)
	}
	// What was built needed all processors.
	runtime.GOMAXPROCS(1)
	if err := process.PinSelf(o.loadCPU); err != nil {
		return nil, err
	}
	r, err := newResult(o)
	if err != nil {
		return nil, err
	}
	return r, r.measure(ctx, started, o)
}
