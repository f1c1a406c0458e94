package main

import (
	"context"
	"fmt"
	"io"
)

// pair is one quiet slice and one with trouble, at the same rate.
type pair struct{ quiet, troubled report }

// pairs measures; trouble begins what disturbs and returns what ends it. Which
// slice comes first changes from pair to pair.
func (b *bench) pairs(ctx context.Context, rate float64, trouble func() (end func() error, err error)) ([]pair, error) {
	var all []pair
	for i := range b.o.rounds {
		var p pair
		var err error
		for _, troubled := range [2]bool{i%2 == 1, i%2 == 0} {
			if troubled {
				p.troubled, err = b.disturbed(ctx, rate, trouble)
			} else {
				p.quiet, err = b.send(ctx, rate, b.o.slice)
			}
			if err != nil {
				return all, err
			}
		}
		all = append(all, p)
	}
	return all, nil
}

func (b *bench) disturbed(ctx context.Context, rate float64, trouble func() (func() error, error)) (report, error) {
	end, err := trouble()
	if err != nil {
		return report{}, err
	}
	r, err := b.send(ctx, rate, b.o.slice)
	if failed := end(); err == nil {
		err = failed
	}
	return r, err
}

// table writes the pairs and the median of their ratios.
func table(out io.Writer, rate float64, all []pair) {
	fmt.Fprintf(out, "Honest traffic: %.0f requests a second, 70 %% of the peak. Microseconds.\n\n", rate)
	fmt.Fprint(out, "| pair | quiet p50 | p99 | max | troubled p50 | p99 | max | p99 ratio |\n|---|---|---|---|---|---|---|---|\n")
	var ratios []float64
	for i, p := range all {
		ratio := p.troubled.P99 / p.quiet.P99
		ratios = append(ratios, ratio)
		fmt.Fprintf(out, "| %d | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %.2f |\n", i+1,
			p.quiet.P50, p.quiet.P99, p.quiet.Max, p.troubled.P50, p.troubled.P99, p.troubled.Max, ratio)
	}
	low, high := quartiles(ratios)
	fmt.Fprintf(out, "\np99 with trouble ÷ quiet, median of %d pairs: **%.2f** [%.2f–%.2f]\n", len(all), median(ratios), low, high)
}
