package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of the times in /proc/PID/stat: USER_HZ, 100 a second on
// every Linux that Go runs on.
const tick = 10 * time.Millisecond

// Stat is the part of /proc/PID/stat that counts here.
type Stat struct {
	Parent int
	CPU    time.Duration // user and system, all threads, also ended ones
}

func parseStat(b []byte) (Stat, error) {
	// The program's name stands in parentheses and may hold anything.
	_, rest, ok := cutLast(b, ')')
	fields := strings.Fields(string(rest))
	if !ok || len(fields) < 13 {
		return Stat{}, errors.New("bad /proc/PID/stat")
	}
	// state ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt utime stime
	parent, err1 := strconv.Atoi(fields[1])
	user, err2 := strconv.ParseInt(fields[11], 10, 64)
	system, err3 := strconv.ParseInt(fields[12], 10, 64)
	return Stat{Parent: parent, CPU: time.Duration(user+system) * tick}, errors.Join(err1, err2, err3)
}

func cutLast(b []byte, sep byte) (before, after []byte, ok bool) {
	i := bytes.LastIndexByte(b, sep)
	if i < 0 {
		return nil, nil, false
	}
	return b[:i], b[i+1:], true
}

// Family lists a process and its children, which for nginx are the workers.
func Family(pid int) (map[int]Stat, error) {
	entries, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	members := map[int]Stat{}
	for _, entry := range entries {
		b, err := os.ReadFile(entry)
		if err != nil {
			continue // ended since
		}
		stat, err := parseStat(b)
		if err != nil {
			return nil, err
		}
		id, _ := strconv.Atoi(filepath.Base(filepath.Dir(entry)))
		if id == pid || stat.Parent == pid {
			members[id] = stat
		}
	}
	if _, ok := members[pid]; !ok {
		return nil, fmt.Errorf("process %d is gone", pid)
	}
	return members, nil
}

// CPUTime is what a process and its children have used.
func CPUTime(pid int) (time.Duration, error) {
	members, err := Family(pid)
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	for _, stat := range members {
		sum += stat.CPU
	}
	return sum, nil
}

// PeakMemory is the sum of the largest resident sizes of a process and its
// children, in KiB. Pages that they share count in each.
func PeakMemory(pid int) (int, error) {
	members, err := Family(pid)
	if err != nil {
		return 0, err
	}
	sum := 0
	for id := range members {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", id))
		if err != nil {
			return 0, err
		}
		sum += parseSize(b, "VmHWM:")
	}
	return sum, nil
}

// ResetPeak makes the resident size of now the largest of one process, so that
// PeakMemory tells what comes after.
func ResetPeak(pid int) error {
	// 5 is the value for VmHWM: proc_pid_clear_refs(5).
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}

// parseSize finds a size such as "VmHWM:   1234 kB".
func parseSize(status []byte, name string) int {
	for _, line := range strings.Split(string(status), "\n") {
		if value, ok := strings.CutPrefix(line, name); ok {
			n, _ := strconv.Atoi(strings.Fields(value)[0])
			return n
		}
	}
	return 0
}

// Memory is the resident size of one process in KiB.
func Memory(pid int) (int, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	return parseSize(b, "VmRSS:"), nil
}

// Descriptors is the number of files and sockets that a process has open.
func Descriptors(pid int) (int, error) {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(entries), err
}

// Sockets is how many of them are sockets. A Go program opens descriptors of its
// runtime's when it likes.
func Sockets(pid int) (int, error) {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	count := 0
	for _, entry := range entries {
		// One that was closed since has no target.
		if target, _ := os.Readlink(filepath.Join(dir, entry.Name())); strings.HasPrefix(target, "socket:") {
			count++
		}
	}
	return count, err
}
