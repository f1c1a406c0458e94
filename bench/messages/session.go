package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/corelane/corelane/bench/process"
	"github.com/corelane/corelane/bench/syscalls"
)

const (
	// warmUp is the first slice of every lane; it does not count.
	warmUp = time.Second
	// sliceGrace is how much longer than asked a slice may take.
	sliceGrace = 15 * time.Second
)

// session is the origins, the gateways and the load of one run.
type session struct {
	o          *options
	dir        string
	load       string
	built      map[string]string
	origins    map[string]*process.Process // by protocol
	contenders []*contender
	progress   io.Writer
}

// measure starts everything, runs all rounds, and ends everything.
func measure(ctx context.Context, o *options, progress io.Writer) (*result, error) {
	dir, err := os.MkdirTemp("", "corelane-messages-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	s := &session{o: o, dir: dir, built: map[string]string{}, origins: map[string]*process.Process{}, progress: progress}
	defer s.stop()
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	r := newResult(ctx, o)
	for i := range o.rounds {
		round, err := s.round(ctx, i)
		if err != nil {
			return nil, err
		}
		r.Rounds = append(r.Rounds, round)
		fmt.Fprintf(progress, "round %d of %d\n", i+1, o.rounds)
	}
	return r, s.inspect(ctx, r)
}

func (s *session) start(ctx context.Context) error {
	var err error
	if s.load, err = s.build(ctx, "./bench/frameload"); err != nil {
		return err
	}
	for _, name := range s.o.lanes {
		l := laneNamed(name)
		if s.origins[l.service] == nil {
			if err := s.startOrigin(ctx, l.service); err != nil {
				return err
			}
		}
		c, err := s.startGateway(ctx, l)
		if err != nil {
			return err
		}
		s.contenders = append(s.contenders, c)
		// The first slice also proves that the lane answers rightly.
		r, err := s.ask(ctx, c, warmUp)
		if err == nil && r.Failures > 0 {
			err = fmt.Errorf("%d of %d answers were wrong: %v", r.Failures, r.Failures+r.Requests, r.Errors)
		}
		if err != nil {
			return fmt.Errorf("lane %s: %w\n%s", name, errors.Join(err, c.Alive()), c.Tail())
		}
	}
	return nil
}

// build compiles a package of this module, once.
func (s *session) build(ctx context.Context, pkg string) (string, error) {
	if s.built[pkg] == "" {
		target := filepath.Join(s.dir, filepath.Base(pkg))
		if err := process.Build(ctx, target, "github.com/corelane/corelane/"+filepath.ToSlash(filepath.Clean(pkg))); err != nil {
			return "", err
		}
		s.built[pkg] = target
	}
	return s.built[pkg], nil
}

func (s *session) stop() {
	for _, c := range s.contenders {
		c.Stop()
	}
	for _, origin := range s.origins {
		if origin != nil {
			origin.Stop()
		}
	}
}

// report is the line that wrk's script and frameload print. Latencies are in
// microseconds.
type report struct {
	Requests int            `json:"requests"`
	Seconds  float64        `json:"seconds"`
	P50      float64        `json:"p50"`
	P99      float64        `json:"p99"`
	Failures int            `json:"failures"`
	Errors   map[string]int `json:"errors"`
}

func parseReport(output []byte) (report, error) {
	var r report
	_, line, ok := bytes.Cut(output, []byte("REPORT "))
	line, _, _ = bytes.Cut(line, []byte("\n"))
	if !ok {
		return r, fmt.Errorf("no report in the load's output: %s", output)
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return r, fmt.Errorf("report %q: %w", line, err)
	}
	if r.Requests == 0 || r.Seconds == 0 {
		return r, fmt.Errorf("no request was answered: %s", line)
	}
	return r, nil
}

// ask runs the load on a lane for a while.
func (s *session) ask(ctx context.Context, c *contender, duration time.Duration) (report, error) {
	ctx, cancel := context.WithTimeout(ctx, duration+sliceGrace)
	defer cancel()
	words := s.loadCommand(c.lane, c.Address, duration)
	out, err := process.Pinned(ctx, s.o.loadCPU, words[0], words[1:]...).CombinedOutput()
	if err != nil {
		return report{}, fmt.Errorf("%s: %w: %s", filepath.Base(words[0]), err, out)
	}
	return parseReport(out)
}

// round measures every lane once. The lane that comes first moves on by one each
// round: none always follows the same other.
func (s *session) round(ctx context.Context, i int) (map[string]sample, error) {
	by := i % len(s.contenders)
	round := map[string]sample{}
	for _, c := range slices.Concat(s.contenders[by:], s.contenders[:by]) {
		taken, err := s.slice(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("lane %s: %w", c.Name, errors.Join(err, c.Alive()))
		}
		round[c.Name] = taken
	}
	return round, nil
}

// slice asks a lane between two readings of its gateway's processor time.
func (s *session) slice(ctx context.Context, c *contender) (sample, error) {
	before, err := process.CPUTime(c.PID())
	if err != nil {
		return sample{}, err
	}
	r, err := s.ask(ctx, c, s.o.duration)
	if err != nil {
		return sample{}, err
	}
	after, err := process.CPUTime(c.PID())
	return sample{
		Requests: r.Requests,
		Rate:     float64(r.Requests) / r.Seconds,
		P50:      r.P50,
		P99:      r.P99,
		CPU:      float64((after - before).Microseconds()) / float64(r.Requests),
		Failures: r.Failures,
	}, err
}

// inspect adds what is found once a run: peak memory and system calls.
func (s *session) inspect(ctx context.Context, r *result) error {
	for _, c := range s.contenders {
		peak, err := process.PeakMemory(c.PID())
		if err != nil {
			return errors.Join(err, c.Alive())
		}
		found := about{PeakKiB: peak}
		if s.o.trace {
			found.Syscalls, err = syscalls.Count(ctx, c.PID(), filepath.Join(s.dir, c.Name+".strace"), func() (int, error) {
				r, err := s.ask(ctx, c, syscalls.Duration)
				return r.Requests, err
			})
			if err != nil {
				found.Note = "system calls were not counted: " + err.Error()
			}
		}
		r.Lanes[c.Name] = found
	}
	return nil
}
