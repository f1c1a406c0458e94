package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/corelane/corelane/bench/process"
)

// idleSteps are the numbers of clients that memory is read at.
var idleSteps = []int{0, 1000, 5000, 10_000, 15_000, 20_000, 50_000, 100_000, 200_000}

// idle opens keep-alive clients from many addresses of 127.0.0.0/8, lets each
// make one request, and reads the gateway's memory as their number grows.
func idle(ctx context.Context, b *bench, out io.Writer) error {
	if err := b.start(ctx, setup{loops: "1", cpus: b.o.proxyCPU}); err != nil {
		return err
	}
	var clients []net.Conn
	defer func() {
		for _, c := range clients {
			_ = c.Close()
		}
	}()
	fmt.Fprint(out, "| idle clients | resident KiB | bytes a client since the step before |\n|---|---|---|\n")
	last, lastCount := 0, 0
	for _, step := range append(idleSteps, b.o.clients) {
		if step > b.o.clients || step < lastCount || step == lastCount && step > 0 {
			continue
		}
		for len(clients) < step {
			c, err := idleClient(b.gateway.Address, len(clients))
			if err != nil {
				return errors.Join(fmt.Errorf("client %d: %w", len(clients), err), b.gateway.Alive())
			}
			clients = append(clients, c)
		}
		kib, err := steadyMemory(ctx, b.gateway.PID())
		if err != nil {
			return err
		}
		slope := 0
		if step > lastCount {
			slope = (kib - last) << 10 / (step - lastCount)
		}
		fmt.Fprintf(out, "| %d | %d | %d |\n", step, kib, slope)
		last, lastCount = kib, step
	}
	return nil
}

// idleClient makes one request from the i-th source address and stays.
func idleClient(address string, i int) (net.Conn, error) {
	source := net.IPv4(127, 1, byte(i>>8), byte(i)|1)
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: source}, Timeout: time.Minute}
	c, err := d.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(c, "GET /128 HTTP/1.1\r\nHost: idle.example\r\n\r\n"); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	res, err := http.ReadResponse(bufio.NewReaderSize(c, 1024), nil)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", res.StatusCode)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, res.Body)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// steadyMemory is the resident size once it has stopped moving.
func steadyMemory(ctx context.Context, pid int) (int, error) {
	last := -1
	for range 50 {
		kib, err := process.Memory(pid)
		if err != nil || kib == last {
			return kib, err
		}
		last = kib
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(300 * time.Millisecond):
		}
	}
	return last, nil
}
