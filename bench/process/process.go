// Package process runs the servers of a benchmark and reads from /proc what they
// use.
package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/corelane/corelane/bench/loopback"
)

const (
	startTimeout = 10 * time.Second
	stopTimeout  = 5 * time.Second
	// tailLength is how much of a program's output an error message shows.
	tailLength = 2 << 10
)

// Process is a server that the caller started and will end. It belongs to one
// goroutine.
type Process struct {
	// Name is for messages, Address where the server accepts connections.
	Name, Address string

	cmd    *exec.Cmd
	output string // file with what it printed
	exited chan error
}

// Pinned is a command on one CPU; taskset becomes the program, so its process id is the program's. CPU -1 is any.
func Pinned(ctx context.Context, cpu int, program string, args ...string) *exec.Cmd {
	if cpu < 0 {
		return exec.CommandContext(ctx, program, args...)
	}
	return exec.CommandContext(ctx, "taskset", append([]string{"-c", strconv.Itoa(cpu), program}, args...)...)
}

// Start runs a server until it accepts connections on address. It leads a process
// group of its own, so that its workers can be ended with it.
func Start(ctx context.Context, name string, cmd *exec.Cmd, address, output string) (*Process, error) {
	file, err := os.OpenFile(output, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	cmd.Stdout, cmd.Stderr = file, file
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopTimeout
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &Process{Name: name, Address: address, cmd: cmd, output: output, exited: make(chan error, 1)}
	go func() { p.exited <- cmd.Wait() }()

	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := loopback.Wait(ctx, address, p.exited); err != nil {
		p.Stop()
		return nil, fmt.Errorf("start %s: %w\n%s", name, err, p.Tail())
	}
	return p, nil
}

// PID is the server's process id: the master's, for nginx.
func (p *Process) PID() int {
	return p.cmd.Process.Pid
}

// Alive is an error with the server's last words if it has ended.
func (p *Process) Alive() error {
	select {
	case err := <-p.exited:
		p.exited <- err
		return fmt.Errorf("%s ended by itself: %w\n%s", p.Name, errors.Join(err), p.Tail())
	default:
		return nil
	}
}

// Stop ends the server: politely, then with its whole process group.
func (p *Process) Stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(stopTimeout):
	}
	// Nothing is left of the group unless the server did not end, or left workers.
	_ = syscall.Kill(-p.PID(), syscall.SIGKILL)
}

// Tail is the end of what the server printed.
func (p *Process) Tail() []byte {
	out, err := os.ReadFile(p.output)
	if err != nil {
		return nil
	}
	return bytes.TrimSpace(out[max(0, len(out)-tailLength):])
}
