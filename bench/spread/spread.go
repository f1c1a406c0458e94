// Package spread sums a measurement's rounds up: the median, which one bad round
// does not move, and the quartiles, which tell how far to trust it.
package spread

import (
	"fmt"
	"math"
	"slices"
)

// Spread is a median with its quartiles.
type Spread struct {
	Q1     float64 `json:"q1"`
	Median float64 `json:"median"`
	Q3     float64 `json:"q3"`
}

// Of interpolates between the two nearest values; NaN values are left out.
func Of(values []float64) Spread {
	values = slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(values) == 0 {
		return Spread{}
	}
	slices.Sort(values)
	return Spread{Q1: quantile(values, 0.25), Median: quantile(values, 0.5), Q3: quantile(values, 0.75)}
}

func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (sorted[high]-sorted[low])*(at-float64(low))
}

// String is "median [first–third quartile]".
func (s Spread) String() string {
	return fmt.Sprintf("%.2f [%.2f–%.2f]", s.Median, s.Q1, s.Q3)
}
