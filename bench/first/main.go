// Command first looks at the first requests after a start: does anything wait
// until then that could have been done before the node said that it is ready?
//
//	go run ./bench/first                  15 starts, with pool.min_idle
//	go run ./bench/first -min-idle 0      what the first requests pay without
//
// Each start is a new process. When /readyz answers 200, one client sends
// requests one at a time, in turn over a few connections: the first ones are
// compared with those behind them. The client has been warmed up at the origin.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/corelane/corelane/bench/program"
)

// options are the flags.
type options struct {
	gateway           string
	starts            int
	first, next       int // requests
	connections       int
	minIdle           int
	proxyCPU, loadCPU int
	log               bool
}

func main() { program.Main("first", command) }

func command(args []string, out io.Writer) error {
	return program.Run(args, parse, func(ctx context.Context, o options) error { return execute(ctx, o, out) })
}

func execute(ctx context.Context, o options, out io.Writer) error {
	b, err := newBench(ctx, o)
	if err != nil {
		return err
	}
	defer b.stop()
	var all []start
	fmt.Fprintln(out, heading)
	for i := range o.starts {
		s, err := b.measure(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, s.row(fmt.Sprint(i+1)))
		all = append(all, s)
	}
	fmt.Fprint(out, median(all))
	return nil
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("first", flag.ContinueOnError)
	flags.StringVar(&o.gateway, "gateway", "bin/corelane", "the program to run")
	flags.IntVar(&o.starts, "starts", 15, "processes, one after the other")
	flags.IntVar(&o.first, "first", 1000, "requests that count as the first")
	flags.IntVar(&o.next, "next", 10_000, "requests that they are compared with")
	flags.IntVar(&o.connections, "connections", 8, "connections of the client")
	flags.IntVar(&o.minIdle, "min-idle", 8, "pool.min_idle of the service")
	flags.IntVar(&o.proxyCPU, "proxy-cpu", 0, "CPU of the gateway; -1: any")
	flags.IntVar(&o.loadCPU, "load-cpu", 1, "CPU of the origin; -1: any. Pin the client itself with taskset")
	flags.BoolVar(&o.log, "log", false, "write an access log")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.starts < 1 || o.first < 1 || o.next < 1 || o.connections < 1 {
		return o, errors.New("a start, a request of each kind and a connection are the least")
	}
	return o, nil
}
