package process

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// PinSelf keeps the calling program on one CPU: the threads that it has, and
// those that they will start. CPU -1 is any.
func PinSelf(cpu int) error {
	if cpu < 0 {
		return nil
	}
	var set unix.CPUSet
	set.Set(cpu)
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err != nil {
			return err
		}
		if err := unix.SchedSetaffinity(id, &set); err != nil {
			return os.NewSyscallError("sched_setaffinity", err)
		}
	}
	return nil
}
