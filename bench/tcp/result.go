package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/corelane/corelane/bench/machine"
	"github.com/corelane/corelane/bench/process"
	"github.com/corelane/corelane/bench/spread"
)

// result is everything a run found, as it is written in JSON.
type result struct {
	Time     time.Time     `json:"time"`
	Command  string        `json:"command"`
	Machine  machine.Facts `json:"machine"`
	Versions []string      `json:"versions"`
	Rounds   int           `json:"rounds"`
	Slice    string        `json:"slice"`
	Lanes    []found       `json:"lanes"`
}

// found is what a lane found: a figure of each rival in each round.
type found struct {
	lane   lane
	Title  string      `json:"title"`
	Unit   string      `json:"unit"`
	Rivals []string    `json:"rivals"`
	Values [][]float64 `json:"values"` // by rival and round
}

func newResult(o options) (*result, error) {
	r := &result{
		Time: time.Now().UTC().Truncate(time.Second), Rounds: o.rounds, Slice: o.slice.String(), Versions: versions(),
		Machine: machine.This(fmt.Sprintf("proxies on CPU %d, load and service on CPU %d", o.proxyCPU, o.loadCPU)),
	}
	lanes, err := o.makeLanes()
	names := strings.Split(o.rivals, ",")
	for _, l := range lanes {
		r.Lanes = append(r.Lanes, found{lane: l, Title: l.title(), Unit: l.unit(), Rivals: names, Values: make([][]float64, len(names))})
	}
	return r, err
}

// versions are those of the rivals that are there.
func versions() (all []string) {
	for _, program := range []string{"haproxy", "nginx"} {
		if text, err := exec.Command(program, "-v").CombinedOutput(); err == nil {
			line, _, _ := strings.Cut(string(text), "\n")
			all = append(all, line)
		}
	}
	return all
}

// measure takes all rounds. The rival that comes first moves on by one each round.
func (r *result) measure(ctx context.Context, started []*process.Process, o options) error {
	for round := range o.rounds {
		for i := range r.Lanes {
			f := &r.Lanes[i]
			for k := range started {
				at := (k + round) % len(started)
				v, err := f.lane.measure(ctx, started[at], o.slice)
				if err != nil {
					return fmt.Errorf("%s, lane %s: %w", f.Rivals[at], f.lane.name, errors.Join(err, started[at].Alive()))
				}
				f.Values[at] = append(f.Values[at], v)
			}
		}
	}
	return nil
}

// write prints each rival's figure, and the first one's over it.
func (f *found) write(w io.Writer) {
	fmt.Fprintf(w, "| %s | %s | %s ÷ it |\n|---|---|---|\n", f.Title, f.Unit, f.Rivals[0])
	for i, name := range f.Rivals {
		ratios := make([]float64, len(f.Values[i]))
		for round := range ratios {
			ratios[round] = f.Values[0][round] / f.Values[i][round]
		}
		fmt.Fprintf(w, "| %s | %s | %s |\n", name, spread.Of(f.Values[i]), spread.Of(ratios))
	}
	fmt.Fprintln(w)
}

// publish prints the page and writes both files of the result.
func (r *result) publish(o options, out io.Writer) error {
	var page bytes.Buffer
	fmt.Fprintf(&page, "# Connections passed through, %s\n\nCommand: `%s`\n\nMachine: %v.\n\n", r.Time.Format("2006-01-02 15:04 UTC"), r.Command, r.Machine)
	fmt.Fprintf(&page, "%s. %d rounds of slices of %s; the median with the quartiles, ratios within each round.\n\n", strings.Join(r.Versions, "; "), r.Rounds, r.Slice)
	for i := range r.Lanes {
		r.Lanes[i].write(&page)
	}
	if _, err := out.Write(page.Bytes()); err != nil || o.out == "" {
		return err
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	file := filepath.Join(o.path(o.out), r.Time.Format("2006-01-02-150405")+"-tcp")
	return errors.Join(
		os.MkdirAll(filepath.Dir(file), 0o755),
		os.WriteFile(file+".json", append(data, '\n'), 0o644),
		os.WriteFile(file+".md", page.Bytes(), 0o644),
	)
}
