package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/corelane/corelane/bench/loopback"
	"github.com/corelane/corelane/bench/process"
)

// bench is the origin, and what gateways are started with.
type bench struct {
	o      options
	folder string
	origin *process.Process
}

func newBench(ctx context.Context, o options) (*bench, error) {
	folder, err := os.MkdirTemp("", "corelane-first-")
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
	program := filepath.Join(b.folder, "origin")
	if err := process.Build(ctx, program, "github.com/corelane/corelane/bench/origin"); err != nil {
		return err
	}
	free, err := loopback.FreeAddresses(1)
	if err != nil {
		return err
	}
	cmd := process.Pinned(ctx, b.o.loadCPU, program, "-listen", free[0])
	b.origin, err = process.Start(ctx, "origin", cmd, free[0], filepath.Join(b.folder, "origin.log"))
	return err
}

func (b *bench) stop() {
	if b.origin != nil {
		b.origin.Stop()
	}
	_ = os.RemoveAll(b.folder)
}

// measure is one start.
func (b *bench) measure(ctx context.Context) (start, error) {
	free, err := loopback.FreeAddresses(2)
	if err != nil {
		return start{}, err
	}
	began := time.Now()
	// It waits for the admin server: a connection to the listener would be a first one.
	gateway, err := b.startGateway(ctx, free[0], free[1])
	if err != nil {
		return start{}, err
	}
	defer gateway.Stop()
	if err := loopback.Ready(ctx, free[1]); err != nil {
		return start{}, fmt.Errorf("%w\n%s", err, gateway.Tail())
	}
	ready := time.Since(began)
	if _, err := b.requests(b.origin.Address, b.o.first); err != nil {
		return start{}, err
	}
	gc := debug.SetGCPercent(-1) // the client's own collector is not what is measured
	defer debug.SetGCPercent(gc)
	all, err := b.requests(free[0], b.o.first+b.o.next)
	if err != nil {
		return start{}, err
	}
	return newStart(ready, all[:b.o.first], all[b.o.first:]), nil
}

func (b *bench) startGateway(ctx context.Context, listen, admin string) (*process.Process, error) {
	log := "none"
	if b.o.log {
		log = filepath.Join(b.folder, "access.log")
	}
	text := fmt.Sprintf(`node: {id: first}
engine: {loops: 1}
listeners: [{name: web, address: %q}]
admin: {address: %q}
log: {access: {path: %q}, level: warn}
config: {cache: %q}
services: [{name: origin, endpoints: [{address: %q}], pool: {max_connections: 1024, idle: 5m, min_idle: %d}}]
routes: [{id: all, match: {prefix: /}, service: origin}]
`, listen, admin, log, filepath.Join(b.folder, "cache"), b.origin.Address, b.o.minIdle)
	path := filepath.Join(b.folder, "corelane.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, err
	}
	cmd := process.Pinned(ctx, b.o.proxyCPU, b.o.gateway, "run", "-c", path)
	return process.Start(ctx, "corelane", cmd, admin, filepath.Join(b.folder, "corelane.log"))
}
