package reactor

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// CPUs are the processors that the calling thread may run on, in order; nil if the system does not tell.
func CPUs() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	return listCPUs(&set)
}

func listCPUs(set *unix.CPUSet) []int {
	cpus := make([]int, 0, set.Count())
	for cpu := 0; len(cpus) < cap(cpus); cpu++ {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}

// pinThread keeps the calling thread on one CPU.
func pinThread(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("pin to CPU %d: %w", cpu, os.NewSyscallError("sched_setaffinity", err))
	}
	return nil
}

// KeepOff keeps all threads of the process off cpus, and so the threads that they start. It is called
// before the loops run, which then pin their own threads. It fails, changing nothing, if no CPU would
// be left.
func KeepOff(cpus []int) error {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return os.NewSyscallError("sched_getaffinity", err)
	}
	for _, cpu := range cpus {
		set.Clear(cpu)
	}
	if set.Count() == 0 {
		return errors.New("the loops take all CPUs that the process may use")
	}
	return setProcessAffinity(&set)
}

func setProcessAffinity(set *unix.CPUSet) error {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, t := range threads {
		tid, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		err = unix.SchedSetaffinity(tid, set)
		if err != nil && !errors.Is(err, unix.ESRCH) { // a thread that ended meanwhile is no matter
			return os.NewSyscallError("sched_setaffinity", err)
		}
	}
	return nil
}
