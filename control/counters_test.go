package control

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestLoopBusy(t *testing.T) {
	at := time.Unix(1000, 0)
	b := loopBusy{}.next(at, 5e8)
	assert.Zero(t, b.share, "one look is no measure")
	b = b.next(at.Add(2*time.Second), 15e8)
	assert.InDelta(t, 0.5, b.share, 1e-9)
	b = b.next(at.Add(3*time.Second), 30e8)
	assert.InDelta(t, 1, b.share, 1e-9)
	assert.Zero(t, b.next(at.Add(3*time.Second), 30e8).share, "no time has passed")
}

func TestSkew(t *testing.T) {
	c := &counters{busy: []loopBusy{{share: 0.6}, {share: 0.2}}}
	shares, skew := c.shares()
	assert.Equal(t, []float64{0.6, 0.2}, shares)
	assert.InDelta(t, 1.5, skew, 1e-9)
	_, skew = (&counters{busy: make([]loopBusy, 2)}).shares()
	assert.InDelta(t, 1, skew, 1e-9)
}
