package main

import (
	"fmt"
	"io"

	"github.com/corelane/corelane/bench/syscalls"
)

// writePage writes a result in Markdown.
func writePage(w io.Writer, r *result) {
	fmt.Fprintf(w, "# Benchmark of %s\n\n", r.Time.Format("2006-01-02 15:04 UTC"))
	fmt.Fprintf(w, "Command: `%s`\n\n", r.Command)
	fmt.Fprintf(w, "Machine: %v.\n\n", r.Machine)
	fmt.Fprintf(w, "%s, access logs %s. One worker, thread or loop each. ", modeSentence(r), onOff(r.Log))
	fmt.Fprint(w, "Processor time is that of all threads of a proxy's processes. Ratios are taken within each round; shown is the median with the quartiles in brackets. Below 1 the proxy in the row needs less than the base (for requests/s: does less).\n")
	for i := range r.Cells {
		writeCell(w, r, &r.Cells[i])
	}
	writeProxies(w, r)
}

func modeSentence(r *result) string {
	if r.Mode == modeLatency {
		return fmt.Sprintf("Requests at a fixed rate (open loop, bench/load), slices of %g s", r.Seconds)
	}
	return fmt.Sprintf("Requests as fast as they are answered (wrk), slices of %g s", r.Seconds)
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func writeCell(w io.Writer, r *result, c *cellResult) {
	fmt.Fprintf(w, "\n## %v, %d rounds", c.cell, len(c.Rounds))
	if c.AskedRate > 0 {
		fmt.Fprintf(w, ", %.0f requests/s asked", c.AskedRate)
	}
	fmt.Fprint(w, "\n\n| proxy | requests/s | p50 µs | p99 µs | CPU µs/request | failures |\n|---|---|---|---|---|---|\n")
	for _, name := range r.Order {
		at := func(metric string) float64 { return c.Medians[name][metric].Median }
		fmt.Fprintf(w, "| %s | %.0f | %.0f | %.0f | %.2f | %d |\n", name,
			at("requests_per_second"), at("p50_us"), at("p99_us"), at("cpu_us_per_request"), c.failures(name))
	}
	for _, base := range r.bases() {
		fmt.Fprintf(w, "\n| ÷ %s | CPU/request | requests/s | p50 | p99 |\n|---|---|---|---|---|\n", base)
		for _, name := range r.Order {
			if name == base {
				continue
			}
			fmt.Fprintf(w, "| %s |", name)
			for _, m := range metrics {
				fmt.Fprintf(w, " %v |", c.Ratios[name][base][m.name])
			}
			fmt.Fprintln(w)
		}
	}
}

func writeProxies(w io.Writer, r *result) {
	fmt.Fprint(w, "\n## Proxies\n\n| proxy | version | peak memory MiB | system calls/request | of which |\n|---|---|---|---|---|\n")
	for _, name := range r.Order {
		p := r.Proxies[name]
		total, calls := syscalls.Describe(p.Syscalls)
		if p.Note != "" {
			calls = p.Note
		}
		fmt.Fprintf(w, "| %s | %s | %.1f | %s | %s |\n", name, p.Version, float64(p.PeakKiB)/1024, total, calls)
	}
}
