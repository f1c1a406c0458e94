package main

import (
	"fmt"
	"slices"
	"time"
)

// start is what was measured of one process.
type start struct {
	ready       time.Duration // from exec to /readyz 200
	first, next figures
	worstFirst  int // which of the first requests took longest, from 1
}

// figures are of the latencies of one kind of requests.
type figures struct{ p50, p99, max time.Duration }

func figuresOf(latencies []time.Duration) figures {
	sorted := slices.Sorted(slices.Values(latencies))
	at := func(share float64) time.Duration { return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)] }
	return figures{p50: at(0.5), p99: at(0.99), max: sorted[len(sorted)-1]}
}

func newStart(ready time.Duration, first, next []time.Duration) start {
	return start{
		ready: ready, first: figuresOf(first), next: figuresOf(next),
		worstFirst: slices.Index(first, slices.Max(first)) + 1,
	}
}

const heading = `| start | ready ms | first: p50 µs | p99 | max | worst was | next: p50 µs | p99 | max |
|---|---|---|---|---|---|---|---|---|`

func (s *start) row(name string) string {
	return fmt.Sprintf("| %s | %.1f | %d | %d | %d | %d. | %d | %d | %d |", name, float64(s.ready.Microseconds())/1000,
		s.first.p50.Microseconds(), s.first.p99.Microseconds(), s.first.max.Microseconds(), s.worstFirst,
		s.next.p50.Microseconds(), s.next.p99.Microseconds(), s.next.max.Microseconds())
}

// median is a row of the medians, each column by itself, with the ratios of the
// first requests to the next, which are medians of the ratios.
func median(all []start) string {
	var m start
	for of, into := range map[*time.Duration]func(*start) time.Duration{
		&m.ready:     func(s *start) time.Duration { return s.ready },
		&m.first.p50: func(s *start) time.Duration { return s.first.p50 },
		&m.first.p99: func(s *start) time.Duration { return s.first.p99 },
		&m.first.max: func(s *start) time.Duration { return s.first.max },
		&m.next.p50:  func(s *start) time.Duration { return s.next.p50 },
		&m.next.p99:  func(s *start) time.Duration { return s.next.p99 },
		&m.next.max:  func(s *start) time.Duration { return s.next.max },
	} {
		*of = middle(all, func(s *start) float64 { return float64(into(s)) }, func(v float64) time.Duration { return time.Duration(v) })
	}
	m.worstFirst = middle(all, func(s *start) float64 { return float64(s.worstFirst) }, func(v float64) int { return int(v) })
	ratio := func(of func(*figures) time.Duration) float64 {
		return middle(all, func(s *start) float64 { return float64(of(&s.first)) / float64(of(&s.next)) }, func(v float64) float64 { return v })
	}
	return m.row("median") + fmt.Sprintf("\n\nfirst ÷ next: p50 %.2f, p99 %.2f, max %.2f\n",
		ratio(func(f *figures) time.Duration { return f.p50 }),
		ratio(func(f *figures) time.Duration { return f.p99 }),
		ratio(func(f *figures) time.Duration { return f.max }))
}

func middle[T any](all []start, of func(*start) float64, as func(float64) T) T {
	var values []float64
	for i := range all {
		values = append(values, of(&all[i]))
	}
	slices.Sort(values)
	return as(values[len(values)/2])
}
