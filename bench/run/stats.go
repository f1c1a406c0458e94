package main

import (
	"math"
	"slices"
)

// spread is a median with its quartiles.
type spread struct {
	Q1     float64 `json:"q1"`
	Median float64 `json:"median"`
	Q3     float64 `json:"q3"`
}

// spreadOf interpolates between the two nearest values; NaN values are left out.
func spreadOf(values []float64) spread {
	values = slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(values) == 0 {
		return spread{}
	}
	slices.Sort(values)
	return spread{Q1: quantile(values, 0.25), Median: quantile(values, 0.5), Q3: quantile(values, 0.75)}
}

func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (sorted[high]-sorted[low])*(at-float64(low))
}

// metric is one figure of a sample.
type metric struct {
	name string
	of   func(s sample) float64
}

var metrics = []metric{
	{"cpu_us_per_request", func(s sample) float64 { return s.CPU }},
	{"requests_per_second", func(s sample) float64 { return s.Rate }},
	{"p50_us", func(s sample) float64 { return s.P50 }},
	{"p99_us", func(s sample) float64 { return s.P99 }},
}

// values lists a metric of one proxy, round by round.
func values(rounds []map[string]sample, name string, m metric) []float64 {
	var list []float64
	for _, round := range rounds {
		list = append(list, m.of(round[name]))
	}
	return list
}

// ratios lists a metric of one proxy over that of another, each within its round.
func ratios(rounds []map[string]sample, name, base string, m metric) []float64 {
	var list []float64
	for _, round := range rounds {
		ratio := math.NaN()
		if under := m.of(round[base]); under > 0 {
			ratio = m.of(round[name]) / under
		}
		list = append(list, ratio)
	}
	return list
}
