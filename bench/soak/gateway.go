package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/corelane/corelane/bench/loopback"
	"github.com/corelane/corelane/bench/process"
)

// token is the admin token of the gateway under test.
const token = "soak"

// gateway is the program under test with its configuration.
type gateway struct {
	*process.Process
	folder, admin string
	endpoints     []string
	reloads       int
}

func startGateway(ctx context.Context, program, folder string, endpoints []string) (*gateway, error) {
	addresses, err := loopback.FreeAddresses(2)
	if err != nil {
		return nil, err
	}
	g := &gateway{folder: folder, admin: addresses[1], endpoints: endpoints}
	if err := g.write(addresses[0]); err != nil {
		return nil, err
	}
	if program, err = filepath.Abs(program); err != nil {
		return nil, err
	}
	cmd := process.Pinned(ctx, -1, program, "run", "-c", g.config())
	cmd.Dir = folder
	if g.Process, err = process.Start(ctx, "corelane", cmd, addresses[0], filepath.Join(folder, "corelane.log")); err != nil {
		return nil, err
	}
	return g, g.awaitReady(ctx)
}

// awaitReady waits until everything of the gateway runs: what it holds before
// its first client is counted then.
func (g *gateway) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ioTimeout)
	defer cancel()
	for {
		_, err := g.ask(http.MethodGet, "/readyz")
		if err == nil {
			return nil
		}
		if !pause(ctx, 20*time.Millisecond) {
			return errors.Join(err, g.Alive())
		}
	}
}

func (g *gateway) config() string { return filepath.Join(g.folder, "corelane.yaml") }

// write saves the configuration of one generation. Weights and a route change
// with each, so every one is a change of a service and of routes.
func (g *gateway) write(listen string) error {
	var b strings.Builder
	fmt.Fprintf(&b, `node: {id: soak}
engine: {loops: 2, drain_timeout: 5s}
listeners: [{name: web, address: "%s"}]
admin: {address: "%s", token: %s}
log: {access: {path: none}}
config: {cache: %s/cache}
services:
  - name: origin
    pool: {max_connections: 64, idle: 2s}
    retries: {attempts: 2}
    health: {passive: {eject: 500ms}}
    endpoints:
`, listen, g.admin, token, g.folder)
	for i, e := range g.endpoints {
		fmt.Fprintf(&b, "      - {address: \"%s\", weight: %d}\n", e, 1+(g.reloads+i)%3)
	}
	fmt.Fprintf(&b, `routes:
  - {id: data, match: {prefix: /data}, service: origin}
  - {id: echo, match: {path: /echo}, service: origin}
  - {id: sum, match: {path: /sum}, service: origin}
  - {id: tunnel, match: {path: /tunnel}, service: origin}
  - {id: generation-%d, match: {path: /generation/%d}, service: origin}
`, g.reloads, g.reloads)
	next := g.config() + ".next"
	if err := os.WriteFile(next, []byte(b.String()), 0o600); err != nil {
		return err
	}
	return os.Rename(next, g.config())
}

// change publishes a new generation after another until ctx ends.
func (g *gateway) change(ctx context.Context, every time.Duration) error {
	for pause(ctx, every) {
		g.reloads++
		if err := g.write(g.Address); err != nil {
			return err
		}
		if _, err := g.ask(http.MethodPost, "/api/v1/reload"); err != nil {
			return fmt.Errorf("change %d of the configuration: %w", g.reloads, err)
		}
	}
	return nil
}

// ask calls the admin server on a connection of its own, so that none is left
// to be counted.
func (g *gateway) ask(method, path string) (string, error) {
	req, err := http.NewRequest(method, "http://"+g.admin+path, nil)
	if err != nil {
		return "", err
	}
	req.Close = true
	req.Header.Set("Authorization", "Bearer "+token)
	ctx, cancel := context.WithTimeout(context.Background(), ioTimeout)
	defer cancel()
	res, err := http.DefaultClient.Do(req.WithContext(ctx))
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", res.StatusCode, text)
	}
	return string(text), err
}

// reading is what the gateway holds at one moment.
type reading struct {
	at                      time.Duration
	rssKiB                  int
	descriptors, goroutines int
}

// read takes a reading.
func (g *gateway) read(at time.Duration) (reading, error) {
	r := reading{at: at}
	metrics, err := g.ask(http.MethodGet, "/metrics")
	if err != nil {
		return r, err
	}
	if r.goroutines, err = gauge(metrics, "go_goroutines"); err != nil {
		return r, err
	}
	if r.rssKiB, err = process.Memory(g.PID()); err != nil {
		return r, err
	}
	r.descriptors, err = process.Descriptors(g.PID())
	return r, err
}

// gauge finds an unlabelled metric.
func gauge(metrics, name string) (int, error) {
	lines := bufio.NewScanner(strings.NewReader(metrics))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			f, err := strconv.ParseFloat(value, 64)
			return int(f), err
		}
	}
	return 0, fmt.Errorf("no metric %s", name)
}
