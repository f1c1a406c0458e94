package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/corelane/corelane/bench/machine"
	"github.com/corelane/corelane/bench/process"
	"github.com/corelane/corelane/bench/spread"
)

// bases are the proxies that the others are compared with.
var bases = []string{"nginx", "nginx-large", "haproxy", "haproxy-large"}

// result is everything a run found, as it is written in JSON.
type result struct {
	Time    time.Time        `json:"time"`
	Command string           `json:"command"`
	Mode    string           `json:"mode"`
	Log     bool             `json:"access_logs"`
	Seconds float64          `json:"slice_seconds"`
	Machine machine.Facts    `json:"machine"`
	Order   []string         `json:"order"`
	Proxies map[string]about `json:"proxies"`
	Cells   []cellResult     `json:"cells"`
}

// about is what is known of a proxy besides the rounds.
type about struct {
	Version  string             `json:"version,omitempty"`
	PeakKiB  int                `json:"peak_kib"`
	Syscalls map[string]float64 `json:"syscalls_per_request,omitempty"`
	Note     string             `json:"note,omitempty"`
}

// cellResult is one load and its rounds; the summaries are filled in at the end.
type cellResult struct {
	cell
	AskedRate float64             `json:"asked_rate,omitempty"`
	Rounds    []map[string]sample `json:"rounds"`
	// Medians is proxy → metric, Ratios is proxy → base → metric.
	Medians map[string]map[string]spread.Spread            `json:"medians"`
	Ratios  map[string]map[string]map[string]spread.Spread `json:"ratios"`
}

func newResult(ctx context.Context, s *session) *result {
	r := &result{
		Time: time.Now().UTC().Truncate(time.Second), Command: s.o.command, Mode: s.o.mode, Log: s.o.log,
		Seconds: s.o.duration.Seconds(), Machine: machine.This(s.o.pinned()), Order: s.o.rivals, Proxies: map[string]about{},
	}
	out, _ := process.Pinned(ctx, -1, "wrk", "--version").CombinedOutput()
	r.Machine.Wrk = versionPattern.FindString(string(out))
	for _, c := range s.contenders {
		r.Proxies[c.Name] = about{Version: c.rival.tellVersion(ctx, c.place.binary)}
	}
	return r
}

// summarise fills the medians and the ratios of every cell.
func (r *result) summarise() {
	for i := range r.Cells {
		c := &r.Cells[i]
		c.Medians, c.Ratios = map[string]map[string]spread.Spread{}, map[string]map[string]map[string]spread.Spread{}
		for _, name := range r.Order {
			c.Medians[name] = map[string]spread.Spread{}
			c.Ratios[name] = map[string]map[string]spread.Spread{}
			for _, m := range metrics {
				c.Medians[name][m.name] = spread.Of(values(c.Rounds, name, m))
			}
			for _, base := range r.bases() {
				c.Ratios[name][base] = map[string]spread.Spread{}
				for _, m := range metrics {
					c.Ratios[name][base][m.name] = spread.Of(ratios(c.Rounds, name, base, m))
				}
			}
		}
	}
}

// bases are those that took part, unless there is nothing to compare.
func (r *result) bases() []string {
	if len(r.Order) < 2 {
		return nil
	}
	var list []string
	for _, base := range bases {
		if slices.Contains(r.Order, base) {
			list = append(list, base)
		}
	}
	return list
}

// failures counts failed requests of one proxy in a cell.
func (c *cellResult) failures(name string) int {
	sum := 0
	for _, round := range c.Rounds {
		sum += round[name].Failures
	}
	return sum
}

// publish prints the tables and writes both files of the result.
func publish(o *options, r *result) error {
	r.summarise()
	var page bytes.Buffer
	writePage(&page, r)
	_, _ = os.Stdout.Write(page.Bytes())
	if o.out == "" {
		return nil
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	dir := o.path(o.out)
	name := r.Time.Format("2006-01-02-150405") + "-" + r.Mode
	if r.Log {
		name += "-log"
	}
	return errors.Join(
		os.MkdirAll(dir, 0o755),
		os.WriteFile(filepath.Join(dir, name+".json"), append(data, '\n'), 0o644),
		os.WriteFile(filepath.Join(dir, name+".md"), page.Bytes(), 0o644),
	)
}
