package main

import (
	"math"
)

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
