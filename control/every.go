package control

import (
	"context"
	"time"
)

// every calls do once a period until ctx ends.
func every(ctx context.Context, period time.Duration, do func(now time.Time)) {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			do(now)
		}
	}
}
