// Command tcp compares what it costs proxies to pass connections through: bytes
// per second of their processor time, and processor time per small round trip.
//
//	go run ./bench/tcp            all rivals, 15 rounds of 1 s slices
//	go run ./bench/tcp -rounds 5 -connections 1
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

	"github.com/corelane/corelane/bench/loopback"
	"github.com/corelane/corelane/bench/process"
	"github.com/corelane/corelane/bench/program"
	"github.com/corelane/corelane/bench/spread"
)

// options are the flags.
type options struct {
	gateway     string
	rivals      string
	rounds      int
	slice       time.Duration
	connections int
	proxyCPU    int
	loadCPU     int
}

func parse(args []string) (o options, err error) {
	f := flag.NewFlagSet("tcp", flag.ContinueOnError)
	f.StringVar(&o.gateway, "gateway", "bin/corelane", "the program to measure")
	f.StringVar(&o.rivals, "rivals", "corelane,haproxy,haproxy-splice,nginx", "who takes part; the first is compared with the others")
	f.IntVar(&o.rounds, "rounds", 15, "rounds; each measures every rival once in both lanes")
	f.DurationVar(&o.slice, "slice", time.Second, "length of one slice")
	f.IntVar(&o.connections, "connections", 8, "connections of the bulk lane; the small lane has 64")
	f.IntVar(&o.proxyCPU, "proxy-cpu", 0, "CPU of the proxies")
	f.IntVar(&o.loadCPU, "load-cpu", 1, "CPU of load and service")
	if err = f.Parse(args); err == nil && (o.rounds < 1 || o.slice <= 0 || o.connections < 1) {
		err = errors.New("rounds, slice and connections must be positive")
	}
	return o, err
}

func main() { program.Main("tcp", command) }

func command(args []string, out io.Writer) error {
	return program.Run(args, parse, func(ctx context.Context, o options) error { return run(ctx, o, args, out) })
}

func run(ctx context.Context, o options, args []string, out io.Writer) error {
	runtime.GOMAXPROCS(1)
	if err := process.PinSelf(o.loadCPU); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench-tcp-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	service, err := newService()
	if err != nil {
		return err
	}
	defer service.stop()
	var rivals []*process.Process
	defer func() {
		for _, p := range rivals {
			p.Stop()
		}
	}()
	names := strings.Split(o.rivals, ",")
	for _, name := range names {
		p, err := start(ctx, o, name, service.address(), filepath.Join(dir, name))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		rivals = append(rivals, p)
	}
	lanes := []lane{{"bulk", bulk, o.connections}, {"small", small, 64}}
	got := make([][][]float64, len(lanes)) // by lane, rival and round
	for l := range lanes {
		got[l] = make([][]float64, len(rivals))
	}
	for round := range o.rounds {
		for l, lane := range lanes {
			for i := range rivals {
				at := (i + round) % len(rivals)
				v, err := lane.measure(ctx, rivals[at], o.slice)
				if err != nil {
					return fmt.Errorf("%s, lane %s: %w", names[at], lane.name, err)
				}
				got[l][at] = append(got[l][at], v)
			}
		}
	}
	fmt.Fprintf(out, "Command: `go run ./bench/tcp %s`\n\n", strings.Join(args, " "))
	report(out, names, got[0], "GB per CPU second", fmt.Sprintf("bulk, %d connections", o.connections))
	report(out, names, got[1], "CPU µs per round trip", "128 B there and back, 64 connections")
	return nil
}

// report prints one lane: each rival's figure, and the first one's over it.
func report(out io.Writer, names []string, rounds [][]float64, unit, title string) {
	fmt.Fprintf(out, "| %s | %s | %s ÷ it |\n|---|---|---|\n", title, unit, names[0])
	for i, name := range names {
		ratios := make([]float64, len(rounds[i]))
		for r := range ratios {
			ratios[r] = rounds[0][r] / rounds[i][r]
		}
		fmt.Fprintf(out, "| %s | %s | %s |\n", name, spread.Of(rounds[i]), spread.Of(ratios))
	}
	fmt.Fprintln(out)
}

// start runs a rival in front of the service.
func start(ctx context.Context, o options, name, service, dir string) (*process.Process, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	addresses, err := loopback.FreeAddresses(2)
	if err != nil {
		return nil, err
	}
	listen, admin := addresses[0], addresses[1]
	text, file, program, args := "", filepath.Join(dir, "conf"), "", []string(nil)
	switch name {
	case "corelane":
		text = fmt.Sprintf("engine: {loops: 1}\nlisteners: [{name: in, address: %q, protocol: tcp, service: origin}]\nadmin: {address: %q}\n"+
			"log: {access: {path: none}, level: warn}\nconfig: {cache: %q}\nservices: [{name: origin, protocol: tcp, pool: {max_connections: 0}, endpoints: [{address: %q}]}]\n",
			listen, admin, filepath.Join(dir, "cache"), service)
		file += ".yaml"
		program, args = o.gateway, []string{"run", "-c", file}
	case "haproxy", "haproxy-splice":
		option := ""
		if name == "haproxy-splice" {
			option = "    option splice-request\n    option splice-response\n" // not -auto, which rarely begins
		}
		text = "global\n    nbthread 1\n    maxconn 4096\ndefaults\n    mode tcp\n    timeout connect 3s\n    timeout client 300s\n    timeout server 300s\n    no log\n" + option +
			"listen in\n    bind " + listen + "\n    server origin " + service + "\n"
		program, args = "haproxy", []string{"-db", "-f", file}
	case "nginx":
		text = "daemon off;\nmaster_process off;\nworker_processes 1;\npid " + dir + "/pid;\nerror_log stderr crit;\nload_module /usr/lib/nginx/modules/ngx_stream_module.so;\n" +
			"events { worker_connections 4096; }\nstream { server { listen " + listen + "; proxy_pass " + service + "; } }\n"
		program, args = "nginx", []string{"-p", dir, "-c", file}
	default:
		return nil, errors.New("not a rival: corelane, haproxy, haproxy-splice or nginx")
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return process.Start(ctx, name, process.Pinned(ctx, o.proxyCPU, program, args...), listen, filepath.Join(dir, "output"))
}
