//go:build unix && !linux

package reactor

import "time"

// openEpoll falls back to the poller that this system has, so that a default configuration runs.
func openEpoll(time.Duration) (Poller, error) { return openGnet() }
