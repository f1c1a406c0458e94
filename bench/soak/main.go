// Command soak runs mixed traffic through the gateway for as long as it is told
// to, checks every response against its request, and looks at what the gateway
// holds: memory must stay flat after the warm-up, and when the traffic has ended
// no descriptor and no goroutine may be left.
//
//	go run ./bench/soak -duration 1h        what `make soak DURATION=1h` does
//
// The mix: keep-alive and short connections, pipelining, chunked bodies both
// ways, upgrades with half-close, clients that abort, clients that read slowly,
// unknown paths; meanwhile the configuration changes and endpoints die and
// return. A request that was under way when an endpoint died may fail in the way
// that its method allows, and is counted as excused; a wrong body never is.
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"time"

	"github.com/corelane/corelane/bench/program"
)

// options are the flags.
type options struct {
	duration time.Duration
	gateway  string // the program
	workers  int
	seed     uint64
	page     string // where the result is written besides standard output
}

func main() { program.Main("soak", command) }

func command(args []string, out io.Writer) error {
	return program.Run(args, parse, func(ctx context.Context, o options) error { return execute(ctx, o, out) })
}

func execute(ctx context.Context, o options, out io.Writer) error {
	r, err := soak(ctx, o)
	if err != nil {
		return err
	}
	text := r.text(o)
	if _, err := io.WriteString(out, text); err != nil {
		return err
	}
	if o.page != "" {
		if err := os.WriteFile(o.page, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return r.judge()
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.DurationVar(&o.duration, "duration", time.Minute, "how long to send")
	flags.StringVar(&o.gateway, "gateway", "bin/corelane", "the program to run")
	flags.IntVar(&o.workers, "workers", 24, "clients at one time")
	flags.Uint64Var(&o.seed, "seed", 1, "start of the random numbers")
	flags.StringVar(&o.page, "page", "", "file that gets the result")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.duration < time.Second || o.workers < 1 {
		return o, errors.New("a soak needs a second and a client")
	}
	return o, nil
}
