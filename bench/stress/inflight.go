package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"time"

	"github.com/corelane/corelane/bench/loopback"
	"github.com/corelane/corelane/bench/process"
)

const (
	// maxInflight is what the ids of one upstream connection reach for.
	maxInflight = 60_000
	// streamsEach is the number of requests on one client connection at most;
	// the gateway takes 4,096.
	streamsEach = 1000
	// inflightTimeout bounds a round.
	inflightTimeout = time.Minute
)

// heldService is the one that answers when all have come.
const heldService = `  - {name: held, protocol: frame, endpoints: [{address: "%s"}], pool: {max_connections: 1, idle: 5m}}
`

const heldRoute = `  - {id: held, match: {rpc: {interface: bench.Echo, method: echo}}, service: held}
`

// inflight sends so many frames that all are in flight on the gateway's one
// connection to their service: it answers none before all have come, and then
// in random order. Every answer is checked against its request, and the
// gateway's memory is read at its highest.
func inflight(ctx context.Context, b *bench, out io.Writer) error {
	origin, err := b.startHeld(ctx)
	if err != nil {
		return err
	}
	defer origin.Stop()
	err = b.start(ctx, setup{
		loops: "1", cpus: b.o.proxyCPU, protocol: "frame", services: fmt.Sprintf(heldService, origin.Address), routes: heldRoute,
	})
	if err != nil {
		return err
	}
	before, err := steadyMemory(ctx, b.gateway.PID())
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d requests in flight on one upstream connection, answered in random order; %d KiB resident before.\n\n", b.o.inflight, before)
	fmt.Fprint(out, "| round | all answered after ms | wrong | resident KiB at the most | bytes a request over before | resident KiB after |\n|---|---|---|---|---|---|\n")
	for round := range b.o.rounds {
		if err := b.inflightRound(ctx, out, round+1, before); err != nil {
			return errors.Join(err, b.gateway.Alive(), origin.Alive())
		}
	}
	// One is its listener.
	sockets, err := process.Sockets(origin.PID())
	if err == nil && sockets != 2 {
		err = fmt.Errorf("the service has %d connections, not 1", sockets-1)
	}
	return err
}

// startHeld builds the programs that speak frames and starts the service.
func (b *bench) startHeld(ctx context.Context) (*process.Process, error) {
	for _, name := range []string{"frameload", "frameorigin"} {
		if err := process.Build(ctx, filepath.Join(b.folder, name), "github.com/corelane/corelane/bench/"+name); err != nil {
			return nil, err
		}
	}
	free, err := loopback.FreeAddresses(1)
	if err != nil {
		return nil, err
	}
	cmd := process.Pinned(ctx, b.o.loadCPU, filepath.Join(b.folder, "frameorigin"), "-listen", free[0], "-hold", strconv.Itoa(b.o.inflight))
	return process.Start(ctx, "held", cmd, free[0], filepath.Join(b.folder, "held.log"))
}

func (b *bench) inflightRound(ctx context.Context, out io.Writer, round, before int) error {
	if err := process.ResetPeak(b.gateway.PID()); err != nil {
		return err
	}
	connections := (b.o.inflight + streamsEach - 1) / streamsEach
	ctx, cancel := context.WithTimeout(ctx, inflightTimeout)
	defer cancel()
	text, err := process.Pinned(ctx, b.o.loadCPU, filepath.Join(b.folder, "frameload"),
		"-connections", strconv.Itoa(connections), "-streams", strconv.Itoa(streamsEach), "-requests", strconv.Itoa(b.o.inflight),
		"-duration", (inflightTimeout / 2).String(), b.gateway.Address).CombinedOutput()
	if err != nil {
		return fmt.Errorf("frameload: %w\n%s", err, text)
	}
	_, line, ok := bytes.Cut(text, []byte("REPORT "))
	line, _, _ = bytes.Cut(line, []byte("\n"))
	var r report
	if !ok || json.Unmarshal(line, &r) != nil {
		return fmt.Errorf("frameload printed %q", text)
	}
	if r.Failures > 0 || r.Requests != b.o.inflight {
		return fmt.Errorf("round %d: %s", round, text)
	}
	peak, err := process.PeakMemory(b.gateway.PID())
	if err != nil {
		return err
	}
	after, err := process.Memory(b.gateway.PID())
	fmt.Fprintf(out, "| %d | %.0f | %d | %d | %d | %d |\n", round, r.Seconds*1000, r.Failures, peak, (peak-before)<<10/b.o.inflight, after)
	return err
}
