package histogram

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestBucketsHoldEveryValueOnce(t *testing.T) {
	for _, v := range []uint64{0, 1, 127, 128, 129, 255, 256, 257, 1000, 1 << 20, 1<<20 + 12345, highest - 1, highest} {
		i := bucket(v)
		assert.GreaterOrEqual(t, uint64(ceiling(i)), v)
		if i > 0 {
			assert.Less(t, uint64(ceiling(i-1)), v, "%d is in the lowest bucket that holds it", v)
		}
		assert.LessOrEqual(t, float64(ceiling(i)), float64(v)*(1+1.0/sub), "bucket of %d is too wide", v)
	}
	assert.Equal(t, len(Histogram{}.counts)-1, bucket(highest), "the last bucket is used")
}

func TestQuantilesAreThoseOfTheSortedValues(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var h Histogram
	var all []time.Duration
	for range 10_000 {
		d := time.Duration(random.ExpFloat64() * float64(time.Millisecond))
		h.Record(d)
		all = append(all, d)
	}
	slices.Sort(all)
	for _, q := range []float64{0.001, 0.5, 0.9, 0.99, 0.999, 1} {
		exact := all[int(q*10_000+0.999999)-1]
		got := h.Quantile(q)
		assert.GreaterOrEqual(t, got, exact, "%v", q)
		assert.LessOrEqual(t, float64(got), float64(exact)*(1+1.0/sub)+1, "%v", q)
	}
	assert.Equal(t, all[len(all)-1], h.Max())
	assert.Equal(t, h.Max(), h.Quantile(1))
	assert.Equal(t, 10_000, h.Count())
}

func TestExtremes(t *testing.T) {
	var h Histogram
	assert.Zero(t, h.Quantile(0.99))
	assert.Zero(t, h.Micros(1))
	h.Record(-time.Second)
	assert.Zero(t, h.Quantile(1))
	h.Record(time.Hour)
	assert.Equal(t, time.Hour, h.Max())
	assert.Equal(t, time.Duration(highest), h.Quantile(1), "an hour counts as the longest that is kept")
	var one Histogram
	one.Record(1500 * time.Nanosecond)
	assert.InDelta(t, 1.5, one.Micros(0), 0)
	assert.Zero(t, testing.AllocsPerRun(100, func() { one.Record(time.Millisecond) }))
}
