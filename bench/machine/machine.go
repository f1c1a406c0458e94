// Package machine tells what a benchmark ran on.
package machine

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Facts say where a run was made, without naming the host.
type Facts struct {
	CPU    string `json:"cpu"`
	CPUs   int    `json:"cpus"`
	Memory string `json:"memory"`
	Kernel string `json:"kernel"`
	System string `json:"system"`
	Go     string `json:"go"`
	Wrk    string `json:"wrk,omitempty"`
	Pinned string `json:"pinned"`
}

// This reads the facts of this machine; pinned says in words what ran where. Wrk
// is left to the caller.
func This(pinned string) Facts {
	return Facts{
		CPU:    procField("/proc/cpuinfo", "model name"),
		CPUs:   runtime.NumCPU(),
		Memory: gibibytes(procField("/proc/meminfo", "MemTotal")),
		Kernel: strings.TrimSpace(readString("/proc/sys/kernel/osrelease")),
		System: strings.Trim(procField("/etc/os-release", "PRETTY_NAME"), `"`),
		Go:     runtime.Version() + " " + runtime.GOARCH,
		Pinned: pinned,
	}
}

// String is what a page says of it.
func (f Facts) String() string {
	return fmt.Sprintf("%s, %d CPUs, %s, %s, kernel %s, %s, wrk %s; %s", f.CPU, f.CPUs, f.Memory, f.System, f.Kernel, f.Go, f.Wrk, f.Pinned)
}

// procField finds "name : value" or "NAME=value".
func procField(path, name string) string {
	for _, line := range strings.Split(readString(path), "\n") {
		if rest, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(strings.TrimLeft(rest, " \t:="))
		}
	}
	return ""
}

func readString(path string) string {
	b, _ := os.ReadFile(path)
	return string(b)
}

// gibibytes turns "24689012 kB" into "23.5 GiB".
func gibibytes(s string) string {
	kib, err := strconv.ParseFloat(strings.TrimSuffix(s, " kB"), 64)
	if err != nil {
		return s
	}
	return fmt.Sprintf("%.1f GiB", kib/(1<<20))
}
