package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/corelane/corelane/bench/process"
)

// cost is one slice of one gateway.
type cost struct{ rate, micros float64 }

// scale compares one loop with two on the same two CPUs, which origin and load
// share. At a fixed rate the CPU time of a request tells what a second loop
// costs; at the peak, what it brings where the machine has a CPU left for it.
func scale(ctx context.Context, b *bench, out io.Writer) error {
	b.o.loadCPU = -1
	var fixed float64
	columns := map[string][]float64{}
	for round := range b.o.rounds {
		for _, loops := range []string{"1", "2"} {
			if err := b.start(ctx, setup{loops: loops}); err != nil {
				return err
			}
			if fixed == 0 {
				peak, err := b.peak(ctx)
				if err != nil {
					return err
				}
				fixed = peak * loadShare / 2
			}
			for what, rate := range map[string]float64{"fixed": fixed, "peak": 0} {
				c, err := b.cost(ctx, rate)
				if err != nil {
					return fmt.Errorf("round %d: %w", round+1, err)
				}
				columns[what+loops+"rate"] = append(columns[what+loops+"rate"], c.rate)
				columns[what+loops+"cpu"] = append(columns[what+loops+"cpu"], c.micros)
			}
		}
	}
	fmt.Fprint(out, "| | requests a second, 1 loop | 2 loops | ratio | gateway's CPU µs a request, 1 loop | 2 loops | ratio |\n|---|---|---|---|---|---|---|\n")
	for _, what := range []string{"fixed", "peak"} {
		fmt.Fprintf(out, "| %s |", what)
		for _, column := range []string{"rate", "cpu"} {
			one, two := columns[what+"1"+column], columns[what+"2"+column]
			ratios := make([]float64, len(one))
			for i := range one {
				ratios[i] = two[i] / one[i]
			}
			fmt.Fprintf(out, " %.1f | %.1f | %.2f |", median(one), median(two), median(ratios))
		}
		fmt.Fprintln(out)
	}
	return nil
}

func (b *bench) cost(ctx context.Context, rate float64) (cost, error) {
	if _, err := b.send(ctx, rate, b.o.slice/3); err != nil {
		return cost{}, err
	}
	before, err := process.CPUTime(b.gateway.PID())
	if err != nil {
		return cost{}, err
	}
	r, err := b.send(ctx, rate, b.o.slice)
	if err != nil {
		return cost{}, err
	}
	after, err := process.CPUTime(b.gateway.PID())
	return cost{rate: r.rate(), micros: float64(after-before) / float64(time.Microsecond) / float64(r.Requests)}, err
}
