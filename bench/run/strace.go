package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/corelane/corelane/bench/process"
)

const (
	traceDuration = time.Second
	attachTimeout = 5 * time.Second
	// rareCalls are not shown: fewer than one in a thousand requests.
	rareCalls = 0.001
)

// countSyscalls counts a proxy's system calls by name, per request, in a slice
// of its own: under strace everything is several times slower, so nothing else
// is read from that slice.
func (s *session) countSyscalls(ctx context.Context, c *contender, load cell) (map[string]float64, error) {
	members, err := process.Family(c.PID())
	if err != nil {
		return nil, err
	}
	table := filepath.Join(s.dir, c.Name+".strace")
	args := []string{"-f", "-c", "-S", "calls", "-o", table}
	for pid := range members {
		args = append(args, "-p", strconv.Itoa(pid))
	}
	stop, err := attach(ctx, args)
	if err != nil {
		return nil, err
	}
	r, err := s.generator.closed(ctx, c.Address, load, traceDuration)
	if err := errors.Join(err, stop()); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(table)
	if err != nil {
		return nil, err
	}
	return perRequest(parseTrace(string(b)), r.Requests), nil
}

// attach starts strace and waits until it holds the first process. The function
// it returns detaches it and waits for its table.
func attach(ctx context.Context, args []string) (stop func() error, err error) {
	ctx, cancel := context.WithTimeout(ctx, attachTimeout+traceDuration+sliceGrace)
	cmd := exec.CommandContext(ctx, "strace", args...)
	messages, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, err
	}
	stop = func() error {
		defer cancel()
		_ = cmd.Process.Signal(syscall.SIGINT)
		_, _ = io.Copy(io.Discard, messages)
		// strace ends by the signal it was stopped with: that is no failure.
		if err := cmd.Wait(); ctx.Err() != nil {
			return fmt.Errorf("strace did not end: %w", err)
		}
		return nil
	}
	line, _ := bufio.NewReader(messages).ReadString('\n')
	if !strings.Contains(line, "attached") {
		return nil, errors.Join(fmt.Errorf("strace: %s", strings.TrimSpace(line)), stop())
	}
	return stop, nil
}

// parseTrace reads the table of strace -c: share, seconds, usecs/call, calls, [errors,] name.
func parseTrace(table string) map[string]int {
	calls := map[string]int{}
	for _, line := range strings.Split(table, "\n") {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		name := fields[len(fields)-1]
		n, err := strconv.Atoi(fields[3])
		if err == nil && name != "total" {
			calls[name] = n
		}
	}
	return calls
}

func perRequest(calls map[string]int, requests int) map[string]float64 {
	rates := map[string]float64{}
	for name, n := range calls {
		if rate := float64(n) / float64(requests); rate >= rareCalls {
			rates[name] = rate
		}
	}
	return rates
}
