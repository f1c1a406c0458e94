package reactor

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// maxCPU is the largest CPU number that a list may name.
const maxCPU = 4095

// ParseCPUList reads "0,2,4-7": CPUs in the order written, each at most once.
func ParseCPUList(s string) ([]int, error) {
	var cpus []int
	seen := map[int]bool{}
	for part := range strings.SplitSeq(s, ",") {
		first, last, err := parseCPURange(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("CPU list %q: %w", s, err)
		}
		for cpu := first; cpu <= last; cpu++ {
			if seen[cpu] {
				return nil, fmt.Errorf("CPU list %q: %d is named twice", s, cpu)
			}
			seen[cpu] = true
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

func parseCPURange(s string) (first, last int, err error) {
	from, to, ranged := strings.Cut(s, "-")
	if first, err = parseCPU(from); err != nil || !ranged {
		return first, first, err
	}
	if last, err = parseCPU(to); err == nil && last < first {
		err = fmt.Errorf("range %q runs backwards", s)
	}
	return first, last, err
}

func parseCPU(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n > maxCPU {
		return 0, fmt.Errorf("%q is no CPU number", s)
	}
	return int(n), nil
}

// QuotaCPUs is how many CPUs' worth of time the control group of the process may use, from cgroup v2 or
// v1; 0 means no quota. Any goroutine; it reads files.
func QuotaCPUs() float64 { return quotaCPUs("/") }

// quotaCPUs takes the smallest quota on the way from the process's group to the root.
func quotaCPUs(root string) float64 {
	groups, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return 0
	}
	quota := 0.0
	for line := range strings.Lines(string(groups)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}
		switch {
		case fields[1] == "":
			quota = smaller(quota, climb(filepath.Join(root, "sys/fs/cgroup"), fields[2], quotaV2))
		case hasController(fields[1], "cpu"):
			quota = smaller(quota, climb(filepath.Join(root, "sys/fs/cgroup/cpu"), fields[2], quotaV1))
		}
	}
	return quota
}

func hasController(list, name string) bool {
	for c := range strings.SplitSeq(list, ",") {
		if c == name {
			return true
		}
	}
	return false
}

// climb reads the quota of group and of all groups above it.
func climb(mount, group string, read func(dir string) float64) float64 {
	quota := 0.0
	for dir := filepath.Clean("/" + group); ; dir = filepath.Dir(dir) {
		quota = smaller(quota, read(filepath.Join(mount, dir)))
		if dir == "/" {
			return quota
		}
	}
}

// smaller is the stricter of two quotas, of which 0 is none.
func smaller(a, b float64) float64 {
	if a == 0 || (b != 0 && b < a) {
		return b
	}
	return a
}

func quotaV2(dir string) float64 {
	data, err := os.ReadFile(filepath.Join(dir, "cpu.max"))
	if err != nil {
		return 0
	}
	quota, period, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
	return ratio(quota, period)
}

func quotaV1(dir string) float64 {
	quota, err := os.ReadFile(filepath.Join(dir, "cpu.cfs_quota_us"))
	if err != nil {
		return 0
	}
	period, err := os.ReadFile(filepath.Join(dir, "cpu.cfs_period_us"))
	if err != nil {
		return 0
	}
	return ratio(strings.TrimSpace(string(quota)), strings.TrimSpace(string(period)))
}

// ratio is 0 for "max", for -1 and for what is no number.
func ratio(quota, period string) float64 {
	q, errQ := strconv.ParseFloat(quota, 64)
	p, errP := strconv.ParseFloat(period, 64)
	if errQ != nil || errP != nil || q <= 0 || p <= 0 {
		return 0
	}
	return q / p
}
