package control

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// memoryLimit returns the bytes that the process may use: the machine's memory,
// or the control group's limit if that is less. 0: the system does not tell.
func memoryLimit() int64 { return memoryLimitAt("/") }

func memoryLimitAt(root string) int64 {
	limit := machineMemory(filepath.Join(root, "proc/meminfo"))
	groups, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return limit
	}
	for line := range strings.Lines(string(groups)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}
		switch {
		case fields[1] == "":
			limit = lessMemory(limit, groupMemory(filepath.Join(root, "sys/fs/cgroup"), fields[2], "memory.max"))
		case fields[1] == "memory":
			limit = lessMemory(limit, groupMemory(filepath.Join(root, "sys/fs/cgroup/memory"), fields[2], "memory.limit_in_bytes"))
		}
	}
	return limit
}

// machineMemory reads the line `MemTotal: 16384 kB`.
func machineMemory(path string) int64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) >= 2 && fields[0] == "MemTotal:" {
			kilobytes, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return 0
			}
			return kilobytes << 10
		}
	}
	return 0
}

// groupMemory is the smallest limit from a group up to the root. A group that
// is the root of a container's view has its file at the mount itself.
func groupMemory(mount, group, file string) int64 {
	var limit int64
	for dir := filepath.Clean("/" + group); ; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(mount, dir, file))
		if err == nil {
			n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // "max" is no number
			if err == nil && n > 0 {
				limit = lessMemory(limit, n)
			}
		}
		if dir == "/" {
			return limit
		}
	}
}

// lessMemory is the stricter of two limits, of which 0 is none.
func lessMemory(a, b int64) int64 {
	if a == 0 || (b != 0 && b < a) {
		return b
	}
	return a
}
