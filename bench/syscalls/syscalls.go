// Package syscalls counts the system calls of a server with strace.
package syscalls

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/corelane/corelane/bench/process"
)

const (
	// Duration is how long a server should be asked while it is traced.
	Duration = time.Second
	// attachTimeout bounds attaching, askTimeout the rest.
	attachTimeout = 5 * time.Second
	askTimeout    = Duration + 15*time.Second
	// rareCalls are not shown: fewer than one in a thousand requests.
	rareCalls = 0.001
	// shownCalls is how many system calls Describe names.
	shownCalls = 5
)

// Count counts the system calls of a process and its children by name, per
// request, while ask sends requests and returns how many were answered. Under
// strace everything is several times slower: nothing else may be read from that
// time. table is a file for strace's findings.
func Count(ctx context.Context, pid int, table string, ask func() (requests int, err error)) (map[string]float64, error) {
	members, err := process.Family(pid)
	if err != nil {
		return nil, err
	}
	args := []string{"-f", "-c", "-S", "calls", "-o", table}
	for member := range members {
		args = append(args, "-p", strconv.Itoa(member))
	}
	stop, err := attach(ctx, args)
	if err != nil {
		return nil, err
	}
	requests, err := ask()
	if err := errors.Join(err, stop()); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(table)
	if err != nil {
		return nil, err
	}
	return perRequest(parse(string(b)), requests), nil
}

// attach starts strace and waits until it holds the first process. The function
// it returns detaches it and waits for its table.
func attach(ctx context.Context, args []string) (stop func() error, err error) {
	ctx, cancel := context.WithTimeout(ctx, attachTimeout+askTimeout)
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

// parse reads the table of strace -c: share, seconds, usecs/call, calls, [errors,] name.
func parse(table string) map[string]int {
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

// Describe gives the sum and the most frequent calls.
func Describe(rates map[string]float64) (total, calls string) {
	if len(rates) == 0 {
		return "–", ""
	}
	sum := 0.0
	for _, rate := range rates {
		sum += rate
	}
	names := slices.SortedFunc(maps.Keys(rates), func(a, b string) int {
		return cmp.Or(cmp.Compare(rates[b], rates[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, name := range names[:min(shownCalls, len(names))] {
		parts = append(parts, fmt.Sprintf("%s %.2f", name, rates[name]))
	}
	return fmt.Sprintf("%.2f", sum), strings.Join(parts, ", ")
}
