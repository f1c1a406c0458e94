package spread

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOf(t *testing.T) {
	assert.Equal(t, Spread{Q1: 2, Median: 3, Q3: 4}, Of([]float64{5, 1, 4, 2, 3}))
	assert.Equal(t, Spread{Q1: 1.25, Median: 1.5, Q3: 1.75}, Of([]float64{2, 1, math.NaN()}))
	assert.Zero(t, Of(nil))
	assert.Equal(t, "1.50 [1.25–1.75]", Of([]float64{1, 2}).String())
}
