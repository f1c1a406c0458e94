package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/corelane/corelane/bench/program"
	"github.com/corelane/corelane/bench/wire"
)

// ownOrigin is the origin of frame lanes unless a flag names another.
const ownOrigin = "./bench/frameorigin"

// options are the flags.
type options struct {
	lanes       []string
	base        string
	rounds      int
	duration    time.Duration
	connections int // of the message lanes
	streams     int // in flight over all of them; connections of the HTTP lanes
	size        int // of the body of an answer
	trace       bool

	gateway     string
	frameOrigin string
	frameArgs   []string
	call        wire.Call
	root, out   string

	proxyCPU, originCPU, loadCPU int

	command string // as it can be typed again
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("messages", flag.ContinueOnError)
	names := flags.String("lanes", strings.Join(laneNames(), ","), "lanes to compare")
	flags.StringVar(&o.base, "base", "http", "lane that the others are compared with")
	flags.IntVar(&o.rounds, "rounds", 15, "rounds; each asks every lane once")
	flags.DurationVar(&o.duration, "duration", 2*time.Second, "one slice, in whole seconds")
	flags.IntVar(&o.connections, "connections", 4, "client connections of the lanes of messages")
	flags.IntVar(&o.streams, "streams", 64, "requests in flight over all connections; HTTP opens as many connections")
	flags.IntVar(&o.size, "size", 128, "length of the body of an answer, in bytes")
	flags.BoolVar(&o.trace, "strace", true, "count system calls in a slice of its own")
	flags.StringVar(&o.gateway, "gateway", "bin/corelane", "the program to measure")
	flags.StringVar(&o.frameOrigin, "frame-origin", ownOrigin, "package of the frame service; another one takes -listen and echoes bodies")
	frameArgs := flags.String("frame-args", "", "further arguments of -frame-origin, separated by spaces")
	call := flags.String("call", "bench.Echo/echo", "INTERFACE/METHOD that messages call")
	flags.StringVar(&o.out, "out", "bench/results", "folder for the JSON and Markdown results; empty: none")
	flags.IntVar(&o.proxyCPU, "proxy-cpu", 0, "CPU of the gateway; -1: any")
	flags.IntVar(&o.originCPU, "origin-cpu", 1, "CPU of the origins; -1: any")
	flags.IntVar(&o.loadCPU, "load-cpu", 1, "CPU of the load; -1: any")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.lanes, o.frameArgs = strings.Split(*names, ","), strings.Fields(*frameArgs)
	o.call.Interface, o.call.Method, _ = strings.Cut(*call, "/")
	o.command = program.CommandLine("messages", flags)
	var err error
	o.root, err = program.Root()
	return o, errors.Join(err, o.validate())
}

func (o *options) validate() error {
	var errs []error
	for _, name := range append(slices.Clone(o.lanes), o.base) {
		if laneNamed(name) == nil {
			errs = append(errs, fmt.Errorf("unknown lane %q, want some of %s", name, strings.Join(laneNames(), ", ")))
		}
	}
	// wrk takes whole seconds only.
	if o.rounds < 1 || o.duration < time.Second || o.duration%time.Second != 0 {
		errs = append(errs, errors.New("a round and a second are the least, and slices are whole seconds"))
	}
	if o.connections < 1 || o.streams < o.connections || o.streams%o.connections != 0 {
		errs = append(errs, errors.New("-streams is no multiple of -connections"))
	}
	if o.size < wire.NonceLength || o.size > wire.MaxBody {
		errs = append(errs, fmt.Errorf("-size is not between %d and %d", wire.NonceLength, wire.MaxBody))
	}
	if o.echoes() && slices.Contains(o.lanes, "http-frame") {
		errs = append(errs, errors.New("lane http-frame needs the service that knows /SIZE: no -frame-origin"))
	}
	if o.call.Interface == "" || o.call.Method == "" {
		errs = append(errs, errors.New("-call is not INTERFACE/METHOD"))
	}
	return errors.Join(errs...)
}

// echoes says that the frame service is another, which only echoes.
func (o *options) echoes() bool { return o.frameOrigin != ownOrigin }

// bound is a time that a run cannot need: each slice may take 3 s longer than
// it should, and all else 5 minutes.
func (o *options) bound() time.Duration {
	return time.Duration((o.rounds+2)*len(o.lanes))*(o.duration+3*time.Second) + 5*time.Minute
}

// pinned says what runs where.
func (o *options) pinned() string {
	return fmt.Sprintf("gateway on CPU %d, origins on CPU %d, load on CPU %d", o.proxyCPU, o.originCPU, o.loadCPU)
}

// path makes a path of a flag absolute, from the module's root.
func (o *options) path(p string) string { return program.Path(o.root, p) }
