// Package histogram counts durations in buckets whose width grows with the
// value, as HdrHistogram does (Gil Tene, hdrhistogram.org): the room is fixed,
// recording allocates nothing, and every figure read is at most 1/128 too high.
package histogram

import (
	"math/bits"
	"time"
)

const (
	// subBits is the number of bits of a value that a bucket keeps below the
	// first: 128 buckets for each power of two.
	subBits = 7
	sub     = 1 << subBits
	// octaves is how many powers of two are kept beyond the exact values.
	octaves = 33
	// highest is what is recorded of everything above it: 18 minutes.
	highest = 1<<(octaves+subBits) - 1
)

// Histogram counts durations from 0 to 18 minutes; the zero value is empty. It
// belongs to one goroutine.
type Histogram struct {
	counts [(octaves + 1) * sub]int64
	count  int64
	most   time.Duration
}

// Record counts one duration. One below 0 counts as 0, one above 18 minutes as
// that.
func (h *Histogram) Record(d time.Duration) {
	v := min(max(d, 0), highest)
	h.counts[bucket(uint64(v))]++
	h.count++
	h.most = max(h.most, d)
}

// bucket of a value: below sub the value itself, then its subBits bits behind
// the first.
func bucket(v uint64) int {
	if v < sub {
		return int(v)
	}
	shift := bits.Len64(v) - 1 - subBits
	return (shift+1)<<subBits + int(v>>shift) - sub
}

// ceiling is the largest value of a bucket.
func ceiling(i int) time.Duration {
	if i < sub {
		return time.Duration(i)
	}
	shift := i>>subBits - 1
	return time.Duration((i&(sub-1)+sub+1)<<shift - 1)
}

// Count is how many durations were recorded.
func (h *Histogram) Count() int { return int(h.count) }

// Max is the longest, as it was recorded.
func (h *Histogram) Max() time.Duration { return h.most }

// Quantile is the duration that the share q of all, 0 to 1, does not exceed; 0
// of an empty histogram.
func (h *Histogram) Quantile(q float64) time.Duration {
	// As many as that share, and at least one, must lie at or below it.
	rank := max(1, int64(q*float64(h.count)+0.999999))
	var seen int64
	for i, n := range h.counts {
		if seen += n; seen >= rank {
			return min(ceiling(i), h.most)
		}
	}
	return h.most
}

// Micros is Quantile in microseconds, which is what reports tell.
func (h *Histogram) Micros(q float64) float64 {
	return float64(h.Quantile(q).Nanoseconds()) / 1000
}
