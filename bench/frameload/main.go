// Command frameload sends requests of the frame protocol or of Dubbo over a few
// connections with many requests in flight on each, checks every answer, and
// prints what it found as a line of JSON and a line for people. One thread does
// all of it.
//
// Without -rate the next request leaves when one is answered (a closed loop),
// which finds the peak. With it requests are due at fixed times, whatever the
// answers do (an open loop), and a latency counts from the time that the request
// was due, not from when it was sent: a stalled service is charged for
// everything that should have been asked meanwhile (Gil Tene, "How NOT to
// Measure Latency"; the error is known as coordinated omission). What the
// generator itself was late, although a place was free, is told as lag.
//
// Each body begins with a nonce that the answer must begin with, too; ids,
// status and length are checked as well. What fails is counted by kind.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/corelane/corelane/bench/program"
	"github.com/corelane/corelane/bench/wire"
)

// Bounds of the flags, so that memory and rings stay small.
const (
	maxConnections = 10_000
	maxStreams     = 64 << 10
	maxRate        = 10e6
)

// options are the flags.
type options struct {
	address     string
	protocol    wire.Protocol
	call        wire.Call
	connections int
	streams     int // in flight on each connection
	rate        float64
	requests    int
	duration    time.Duration
	warmup      time.Duration
	grace       time.Duration
	size        int
	answer      int
	cpu         int
}

func main() { program.Main("frameload", command) }

func command(args []string, out io.Writer) error {
	return program.Run(args, parse, func(ctx context.Context, o options) error {
		r, err := run(ctx, o)
		if err != nil {
			return err
		}
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "REPORT %s\n%s\n", line, r)
		return err
	})
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("frameload", flag.ContinueOnError)
	protocol := flags.String("protocol", "frame", "frame or dubbo")
	flags.StringVar(&o.call.Interface, "interface", "bench.Echo", "interface to call")
	flags.StringVar(&o.call.Method, "method", "echo", "method to call")
	flags.StringVar(&o.call.Path, "path", "", "frame: path to ask for instead")
	flags.IntVar(&o.connections, "connections", 4, "connections")
	flags.IntVar(&o.streams, "streams", 16, "requests in flight on each connection")
	flags.Float64Var(&o.rate, "rate", 0, "requests per second over all connections; 0: as fast as they are answered")
	flags.IntVar(&o.requests, "requests", 0, "send no more than these; 0: as many as the time allows")
	flags.DurationVar(&o.duration, "duration", 2*time.Second, "how long to send, the warm-up not included")
	flags.DurationVar(&o.warmup, "warmup", 0, "how long to send before anything counts")
	flags.DurationVar(&o.grace, "grace", 5*time.Second, "how long to wait for the last answers")
	flags.IntVar(&o.size, "size", 16, "length of the body of a request, in bytes")
	flags.IntVar(&o.answer, "answer", -1, "length of the body of an answer; -1: that of the request")
	flags.IntVar(&o.cpu, "cpu", -1, "CPU to run on; -1: any")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() != 1 {
		return o, errors.New("usage: frameload [flags] ADDRESS")
	}
	o.address = flags.Arg(0)
	var err error
	if o.protocol, err = wire.Named(*protocol); err != nil {
		return o, err
	}
	if o.answer < 0 {
		o.answer = o.size
	}
	return o, o.validate()
}

func (o *options) validate() error {
	var errs []error
	if o.connections < 1 || o.connections > maxConnections {
		errs = append(errs, fmt.Errorf("-connections is not between 1 and %d", maxConnections))
	}
	if o.streams < 1 || o.streams > maxStreams {
		errs = append(errs, fmt.Errorf("-streams is not between 1 and %d", maxStreams))
	}
	if o.rate < 0 || o.rate > maxRate {
		errs = append(errs, fmt.Errorf("-rate is not between 0 and %.0f", float64(maxRate)))
	}
	if o.requests < 0 || o.duration <= 0 || o.warmup < 0 || o.grace < 0 {
		errs = append(errs, errors.New("a number or a time is below the least"))
	}
	if o.answer > wire.MaxBody {
		errs = append(errs, fmt.Errorf("-answer is more than %d", wire.MaxBody))
	}
	return errors.Join(errs...)
}
