package control

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestEvery(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	times := 0
	var last time.Time
	every(ctx, time.Millisecond, func(now time.Time) {
		assert.True(t, now.After(last))
		last = now
		if times++; times == 3 {
			stop()
		}
	})
	assert.GreaterOrEqual(t, times, 3)
}
