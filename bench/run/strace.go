package main

import (
	"context"
	"path/filepath"

	"github.com/corelane/corelane/bench/syscalls"
)

// countSyscalls counts a proxy's system calls in a slice of its own.
func (s *session) countSyscalls(ctx context.Context, c *contender, load cell) (map[string]float64, error) {
	return syscalls.Count(ctx, c.PID(), filepath.Join(s.dir, c.Name+".strace"), func() (int, error) {
		r, err := s.generator.closed(ctx, c.Address, load, syscalls.Duration)
		return r.Requests, err
	})
}
