//go:build unix && !linux

package reactor

// CPUs is nil: the system does not tell.
func CPUs() []int { return nil }

// pinThread does nothing: the system has no affinity.
func pinThread(int) error { return nil }

// KeepOff does nothing: the system has no affinity.
func KeepOff([]int) error { return nil }
