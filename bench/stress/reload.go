package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/corelane/corelane/bench/process"
)

// generationTimeout bounds the wait for a change to be in force.
const generationTimeout = time.Minute

// askEvery is the pause between two looks at the generation in force: asking
// costs the CPU that is shared with the load.
const askEvery = 20 * time.Millisecond

// reload changes one route, which stands in a document of its own beside a table
// of many, again and again under honest traffic.
func reload(ctx context.Context, b *bench, out io.Writer) error {
	began := time.Now()
	err := b.start(ctx, setup{
		loops: "1", cpus: b.cpus(), documents: map[string]string{"many.yaml": manyRoutes(b.o.routes), "own.yaml": ownRoute(0)},
	})
	if err != nil {
		return err
	}
	took := time.Since(began)
	memory, err := process.Memory(b.gateway.PID())
	if err != nil {
		return err
	}
	peak, err := b.peak(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d routes of %.1f MB: %.2f s from the start of the program to its first connection, %d MiB resident.\n\n",
		b.o.routes, float64(len(manyRoutes(b.o.routes)))/1e6, took.Seconds(), memory>>10)
	c := &changes{b: b}
	all, err := b.pairs(ctx, peak*loadShare, c.begin)
	if err != nil {
		return err
	}
	table(out, peak*loadShare, all)
	fmt.Fprintf(out, "\n%d changes of one route in each troubled slice; from the saved file to the new generation in force: median %.0f ms, longest %.0f ms.\n",
		b.o.changes, median(c.took), c.longest())
	after, err := process.Memory(b.gateway.PID())
	fmt.Fprintf(out, "Resident after %d changes: %d MiB.\n", c.count, after>>10)
	return err
}

// cpus lets the control side run where the load does, the loop on the first CPU.
func (b *bench) cpus() string {
	if b.o.loadCPU < 0 || b.o.proxyCPU == "" {
		return b.o.proxyCPU
	}
	return fmt.Sprintf("%s,%d", b.o.proxyCPU, b.o.loadCPU)
}

func manyRoutes(n int) string {
	var text strings.Builder
	text.WriteString("routes:\n")
	for i := range n {
		fmt.Fprintf(&text, "  - {id: route-%d, match: {path: /api/v1/app-%d/order-%d/detail}, service: origin, metadata: {group: g%d}}\n", i, i%500, i, i%50)
	}
	return text.String()
}

func ownRoute(version int) string {
	return fmt.Sprintf("routes:\n  - {id: own, match: {path: /own}, service: origin, timeouts: {total: %ds}}\n", version+1)
}

// changes writes a new version of the document, waits until it is in force, and
// goes on at an even pace.
type changes struct {
	b     *bench
	count int
	took  []float64 // milliseconds
}

func (c *changes) begin() (func() error, error) {
	done := make(chan error, 1)
	go func() { done <- c.run() }()
	return func() error { return <-done }, nil
}

func (c *changes) run() error {
	pace := time.NewTicker(c.b.o.slice / time.Duration(c.b.o.changes+1))
	defer pace.Stop()
	for range c.b.o.changes {
		<-pace.C
		before, err := c.b.generation()
		if err != nil {
			return err
		}
		c.count++
		began := time.Now()
		if err := c.b.write("own.yaml", ownRoute(c.count)); err != nil {
			return err
		}
		if err := c.await(before, began); err != nil {
			return err
		}
		c.took = append(c.took, float64(time.Since(began).Microseconds())/1000)
	}
	return nil
}

func (c *changes) await(before uint64, began time.Time) error {
	for {
		now, err := c.b.generation()
		if err != nil || now > before {
			return err
		}
		if time.Since(began) > generationTimeout {
			return fmt.Errorf("change %d is not in force", c.count)
		}
		time.Sleep(askEvery)
	}
}

func (c *changes) longest() float64 {
	most := 0.0
	for _, ms := range c.took {
		most = max(most, ms)
	}
	return most
}

// generation is the one that all loops have taken up.
func (b *bench) generation() (uint64, error) {
	res, err := http.Get("http://" + b.admin + "/readyz")
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	var answer struct {
		Generation uint64 `json:"generation"`
	}
	return answer.Generation, json.NewDecoder(res.Body).Decode(&answer)
}
