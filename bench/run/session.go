package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/corelane/corelane/bench/loopback"
	"github.com/corelane/corelane/bench/process"
)

// warmUp is the first slice of every proxy in a cell; it does not count.
const warmUp = time.Second

// contender is a rival that runs.
type contender struct {
	*process.Process
	rival  *rival
	place  *place
	logged int64 // bytes of access log seen
}

// session is the origin, the proxies and the load generator of one run.
type session struct {
	o          *options
	dir        string
	origin     *process.Process
	contenders []*contender
	generator  generator
	progress   io.Writer
}

// measure starts everything, runs all rounds of all cells, and ends everything.
func measure(ctx context.Context, o *options) (*result, error) {
	dir, err := os.MkdirTemp("", "corelane-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	s := &session{o: o, dir: dir, progress: os.Stderr}
	defer s.stop()
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	r := newResult(ctx, s)
	for _, size := range o.sizes {
		for _, connections := range o.connections {
			measured, err := s.runCell(ctx, cell{Size: size, Connections: connections})
			if err != nil {
				return nil, err
			}
			r.Cells = append(r.Cells, measured)
		}
	}
	return r, s.inspect(ctx, r)
}

// start runs the origin and every proxy, and sees that they do the same work.
func (s *session) start(ctx context.Context) error {
	addresses, err := loopback.FreeAddresses(1 + 2*len(s.o.rivals))
	if err != nil {
		return err
	}
	binary, err := build(ctx, s.o, "./bench/origin", s.dir)
	if err != nil {
		return err
	}
	s.generator = generator{o: s.o, wrk: s.o.path("bench/wrk/report.lua")}
	if s.o.mode == modeLatency {
		if s.generator.load, err = build(ctx, s.o, "./bench/load", s.dir); err != nil {
			return err
		}
	}
	cmd := process.Pinned(ctx, s.o.originCPU, binary, "-listen", addresses[0])
	if s.origin, err = process.Start(ctx, "origin", cmd, addresses[0], filepath.Join(s.dir, "origin.log")); err != nil {
		return err
	}
	for i, name := range s.o.rivals {
		if err := s.startRival(ctx, rivalNamed(name), addresses[1+2*i], addresses[2+2*i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) startRival(ctx context.Context, r *rival, listen, admin string) error {
	p := &place{
		Dir: filepath.Join(s.dir, r.name), Listen: listen, Admin: admin,
		Origin: s.origin.Address, Log: s.o.log, Root: os.Getuid() == 0,
	}
	if err := r.prepare(ctx, s.o, p); err != nil {
		return err
	}
	output := filepath.Join(p.Dir, "output.log")
	if r.stdoutLog {
		output = p.accessLog()
	}
	cmd := process.Pinned(ctx, s.o.proxyCPU, p.binary, r.args(p)...)
	cmd.Dir, cmd.Env = p.Dir, append(os.Environ(), r.env...)
	started, err := process.Start(ctx, r.name, cmd, listen, output)
	if err != nil {
		return err
	}
	s.contenders = append(s.contenders, &contender{Process: started, rival: r, place: p})
	if err := verify(ctx, listen, s.o.sizes); err != nil {
		return fmt.Errorf("%s does not do the work: %w\n%s", r.name, err, started.Tail())
	}
	return nil
}

func (s *session) stop() {
	for _, c := range s.contenders {
		c.Stop()
	}
	if s.origin != nil {
		s.origin.Stop()
	}
}

// runCell measures every proxy once a round. The proxy that comes first moves
// on by one each round: none always follows the same other.
func (s *session) runCell(ctx context.Context, c cell) (cellResult, error) {
	measured := cellResult{cell: c}
	ask, err := s.asker(ctx, c, &measured)
	if err != nil {
		return measured, err
	}
	for i := range s.o.rounds {
		round := map[string]sample{}
		for _, next := range rotated(s.contenders, i) {
			taken, err := measureSlice(next.Process, func() (report, error) { return ask(next.Address) })
			if err != nil {
				return measured, err
			}
			next.logged += emptyLog(next.place.accessLog())
			round[next.Name] = taken
		}
		measured.Rounds = append(measured.Rounds, round)
		fmt.Fprintf(s.progress, "%v: round %d of %d\n", c, i+1, s.o.rounds)
	}
	return measured, nil
}

// asker warms the proxies up and returns what asks one of them for one slice.
func (s *session) asker(ctx context.Context, c cell, measured *cellResult) (func(address string) (report, error), error) {
	for _, next := range s.contenders {
		if _, err := s.generator.closed(ctx, next.Address, c, warmUp); err != nil {
			return nil, fmt.Errorf("%s: %w", next.Name, errors.Join(err, next.Alive()))
		}
		next.logged += emptyLog(next.place.accessLog())
	}
	if s.o.mode == modeCost {
		return func(address string) (report, error) {
			return s.generator.closed(ctx, address, c, s.o.duration)
		}, nil
	}
	rate := s.o.rate
	if rate == 0 {
		peak, err := s.generator.open(ctx, s.reference().Address, c, 0)
		if err != nil {
			return nil, err
		}
		rate = peakShare * float64(peak.Requests) / peak.Seconds
	}
	measured.AskedRate = rate
	return func(address string) (report, error) {
		return s.generator.open(ctx, address, c, rate)
	}, nil
}

// reference is the proxy whose peak sets the rate for all.
func (s *session) reference() *contender {
	for _, c := range s.contenders {
		if c.Name == "nginx" {
			return c
		}
	}
	return s.contenders[0]
}

func rotated[T any](list []T, by int) []T {
	by %= len(list)
	return slices.Concat(list[by:], list[:by])
}

// inspect adds what is found once a run: peak memory and system calls.
func (s *session) inspect(ctx context.Context, r *result) error {
	for _, c := range s.contenders {
		peak, err := process.PeakMemory(c.PID())
		if err != nil {
			return errors.Join(err, c.Alive())
		}
		about := r.Proxies[c.Name]
		about.PeakKiB = peak
		if s.o.log && c.logged == 0 {
			about.Note = "no access log was written"
		}
		if s.o.trace {
			first := cell{Size: s.o.sizes[0], Connections: s.o.connections[0]}
			about.Syscalls, err = s.countSyscalls(ctx, c, first)
			if err != nil {
				about.Note = strings.TrimSpace(about.Note + " system calls were not counted: " + err.Error())
			}
		}
		r.Proxies[c.Name] = about
	}
	return nil
}
