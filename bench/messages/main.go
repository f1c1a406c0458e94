// Command messages compares what a request costs the gateway when it travels by
// message protocols, many on a few connections, with what it costs by HTTP/1.1.
// Each lane is a gateway of its own on one CPU with its protocols on both sides;
// load and origins share the other CPU. Lanes take turns in short slices: one
// round measures all of them within seconds of each other, and what counts is
// the ratio to the lane of -base within a round.
//
//	go run ./bench/messages                                    all lanes
//	go run ./bench/messages -lanes http,frame -rounds 5        two
//	go run ./bench/messages -lanes http,frame -frame-origin ./examples/greeter-frame -frame-args -inline -call Greeter/Echo
//
// docs/benchmarks.md explains the figures.
package main

import (
	"context"
	"io"
	"os"

	"github.com/corelane/corelane/bench/program"
)

func main() { program.Main("messages", command) }

func command(args []string, out io.Writer) error {
	return program.Run(args, parse, func(ctx context.Context, o options) error {
		ctx, cancel := context.WithTimeout(ctx, o.bound())
		defer cancel()
		r, err := measure(ctx, &o, os.Stderr)
		if err != nil {
			return err
		}
		return publish(&o, r, out)
	})
}
