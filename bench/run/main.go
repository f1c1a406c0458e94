// Command run compares Corelane with other proxies. It starts one origin, every
// proxy on one CPU, and lets wrk (or bench/load, in latency mode) ask each of
// them in turn, in short slices: one round measures all proxies within seconds
// of each other, so that what the machine does besides falls on all alike. What
// counts is the ratio within a round, and its median over the rounds.
//
//	go run ./bench/run                                  what `make bench` does
//	go run ./bench/run -rounds 3 -connections 64 -size 128
//	go run ./bench/run -rivals corelane,nginx -log      with access logs
//	go run ./bench/run -mode latency                    latencies at 70 % of nginx's peak
//
// docs/benchmarks.md explains the figures.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	o, err := parseOptions(args)
	if err == flag.ErrHelp {
		return nil
	}
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, o.bound())
	defer cancel()
	result, err := measure(ctx, o)
	if err != nil {
		return err
	}
	return publish(o, result)
}
