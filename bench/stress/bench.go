package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/corelane/corelane/bench/loopback"
	"github.com/corelane/corelane/bench/process"
)

// loadShare is the share of the peak that honest traffic runs at.
const loadShare = 0.7

// bench holds what a scenario needs: the origin, the load program, and one
// gateway at a time.
type bench struct {
	o            options
	folder, load string
	origin       *process.Process
	gateway      *process.Process
	admin        string
}

func newBench(ctx context.Context, o options) (*bench, error) {
	folder, err := os.MkdirTemp("", "corelane-stress-")
	if err != nil {
		return nil, err
	}
	b := &bench{o: o, folder: folder}
	if err := b.prepare(ctx); err != nil {
		b.stop()
		return nil, err
	}
	return b, nil
}

func (b *bench) prepare(ctx context.Context) error {
	var err error
	if b.o.gateway, err = filepath.Abs(b.o.gateway); err != nil {
		return err
	}
	b.load = filepath.Join(b.folder, "load")
	origin := filepath.Join(b.folder, "origin")
	for program, folder := range map[string]string{b.load: "load", origin: "origin"} {
		if err := process.Build(ctx, program, "github.com/corelane/corelane/bench/"+folder); err != nil {
			return err
		}
	}
	free, err := loopback.FreeAddresses(1)
	if err != nil {
		return err
	}
	cmd := process.Pinned(ctx, b.o.loadCPU, origin, "-listen", free[0])
	b.origin, err = process.Start(ctx, "origin", cmd, free[0], filepath.Join(b.folder, "origin.log"))
	return err
}

func (b *bench) stop() {
	b.stopGateway()
	if b.origin != nil {
		b.origin.Stop()
	}
	_ = os.RemoveAll(b.folder)
}

func (b *bench) stopGateway() {
	if b.gateway != nil {
		b.gateway.Stop()
		b.gateway = nil
	}
}

// setup is the configuration of a gateway.
type setup struct {
	loops string
	cpus  string
	// protocol of the listener; empty: http.
	protocol string
	// services and routes are YAML lists behind those that every setup has.
	services, routes string
	// documents are more files of the same folder.
	documents map[string]string
}

// config is the folder that the gateway's configuration stands in.
func (b *bench) config() string { return filepath.Join(b.folder, "config") }

// start runs a gateway in place of the one before.
func (b *bench) start(ctx context.Context, s setup) error {
	b.stopGateway()
	addresses, err := loopback.FreeAddresses(2)
	if err != nil {
		return err
	}
	b.admin = addresses[1]
	text := fmt.Sprintf(`node: {id: stress}
engine: {loops: %s}
listeners: [{name: web, address: "%s", protocol: %s}]
admin: {address: "%s", token: stress}
log: {access: {path: none}, level: warn}
config: {cache: %s/cache}
services:
  - {name: origin, endpoints: [{address: "%s"}], pool: {max_connections: 1024, idle: 5m}}
%sroutes:
  - {id: all, match: {prefix: /}, service: origin}
%s`, s.loops, addresses[0], cmp.Or(s.protocol, "http"), b.admin, b.folder, b.origin.Address, s.services, s.routes)
	if err := os.RemoveAll(b.config()); err != nil {
		return err
	}
	if err := os.MkdirAll(b.config(), 0o700); err != nil {
		return err
	}
	if err := b.write("gateway.yaml", text); err != nil {
		return err
	}
	for name, text := range s.documents {
		if err := b.write(name, text); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, b.o.gateway, "run", "-c", b.config())
	if s.cpus != "" {
		cmd = exec.CommandContext(ctx, "taskset", "-c", s.cpus, b.o.gateway, "run", "-c", b.config())
	}
	b.gateway, err = process.Start(ctx, "corelane", cmd, addresses[0], filepath.Join(b.folder, "corelane.log"))
	return err
}

// write saves one document as an editor does.
func (b *bench) write(name, text string) error {
	next := filepath.Join(b.folder, name+".next")
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(next, filepath.Join(b.config(), name))
}

func (b *bench) url(path string) string { return "http://" + b.gateway.Address + path }

// report is what bench/load prints.
type report struct {
	Requests int     `json:"requests"`
	Seconds  float64 `json:"seconds"`
	P50      float64 `json:"p50"`
	P99      float64 `json:"p99"`
	Max      float64 `json:"max"`
	Failures int     `json:"failures"`
}

func (r report) rate() float64 { return float64(r.Requests) / r.Seconds }

// send runs honest traffic for a time; rate 0 is as fast as it is answered.
func (b *bench) send(ctx context.Context, rate float64, duration time.Duration) (report, error) {
	cmd := process.Pinned(ctx, b.o.loadCPU, b.load, "-rate", strconv.FormatFloat(rate, 'f', 0, 64),
		"-connections", strconv.Itoa(b.o.connections), "-duration", duration.String(), b.url("/128"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return report{}, fmt.Errorf("load: %w\n%s", errors.Join(err, b.gateway.Alive()), out)
	}
	_, line, ok := bytes.Cut(out, []byte("REPORT "))
	var r report
	if !ok || json.Unmarshal(line, &r) != nil {
		return r, fmt.Errorf("load printed %q", out)
	}
	if r.Failures > 0 || r.Requests == 0 {
		return r, fmt.Errorf("honest traffic: %d of %d requests failed", r.Failures, r.Failures+r.Requests)
	}
	return r, nil
}

// peak is the rate that the gateway answers at most.
func (b *bench) peak(ctx context.Context) (float64, error) {
	if _, err := b.send(ctx, 0, b.o.slice/2); err != nil {
		return 0, err
	}
	r, err := b.send(ctx, 0, b.o.slice)
	return r.rate(), err
}

// metric reads one sample from the gateway.
func (b *bench) metric(name string) (float64, error) {
	res, err := http.Get("http://" + b.admin + "/metrics")
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(res.Body); err != nil {
		return 0, err
	}
	for line := range strings.Lines(text.String()) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("no metric %s", name)
}

// median of a copy.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return 0
	}
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// quartiles are the values at a quarter and three quarters.
func quartiles(values []float64) (low, high float64) {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/4], sorted[len(sorted)*3/4]
}
