package reactor

// style: time.Now allowed: this file is the only clock of the package; loops read it once a turn

import "time"

var processStart = time.Now()

// Monotonic returns the nanoseconds since the process started, the scale of Loop.Now. It never goes
// backwards. Any goroutine; code that runs on a loop uses Loop.Now instead.
func Monotonic() int64 {
	return int64(time.Since(processStart))
}

// wallOffset is what added to Monotonic gives the unix time in nanoseconds. It changes when the
// system's clock is set.
func wallOffset() int64 {
	return time.Now().UnixNano() - Monotonic()
}
