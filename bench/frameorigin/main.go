// Command frameorigin is the service behind a gateway when message protocols
// are measured: frame or Dubbo on one thread with its own event loop, as cheap
// as it can be, so that the gateway is what is measured.
//
// It answers a request with its own body, filled up or cut to -answer bytes, or
// to N where a frame names the path /N; -answer -1 leaves its length.
//
// With -hold N it answers only when N requests have come, all at once and in
// random order: so many are then in flight.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/corelane/corelane/bench/epoll"
	"github.com/corelane/corelane/bench/process"
	"github.com/corelane/corelane/bench/program"
	"github.com/corelane/corelane/bench/wire"
)

// lookEvery is how often the end of the context is looked for.
const lookEvery = 100 * time.Millisecond

// options are the flags.
type options struct {
	listen   string
	protocol wire.Protocol
	answer   int
	hold     int
	cpu      int
}

func main() { program.Main("frameorigin", command) }

func command(args []string, out io.Writer) error {
	return program.Run(args, parse, func(ctx context.Context, o options) error {
		return run(ctx, o, func(address string) { fmt.Fprintln(out, "listening on", address) })
	})
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("frameorigin", flag.ContinueOnError)
	flags.StringVar(&o.listen, "listen", "127.0.0.1:9001", "IPv4 address to serve on")
	protocol := flags.String("protocol", "frame", "frame or dubbo")
	flags.IntVar(&o.answer, "answer", -1, "length of answers in bytes; -1: that of the request")
	flags.IntVar(&o.hold, "hold", 0, "answer when so many requests wait, in random order; 0: at once")
	flags.IntVar(&o.cpu, "cpu", -1, "CPU to run on; -1: any")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	var err error
	if o.protocol, err = wire.Named(*protocol); err != nil {
		return o, err
	}
	if o.answer < -1 || o.answer > wire.MaxBody || o.hold < 0 {
		return o, errors.New("-answer or -hold is out of range")
	}
	return o, nil
}

// run serves until ctx ends. ready is told the address.
func run(ctx context.Context, o options, ready func(address string)) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := process.PinSelf(o.cpu); err != nil {
		return err
	}
	loop, err := epoll.New(newOrigin(o))
	if err != nil {
		return err
	}
	defer loop.Close()
	address, err := loop.Listen(o.listen)
	if err != nil {
		return err
	}
	ready(address)
	for ctx.Err() == nil {
		if err := loop.Turn(lookEvery); err != nil {
			return err
		}
	}
	return nil
}
