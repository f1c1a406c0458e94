package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// idField carries the number of a request there and back.
const idField = "X-Soak-Id"

// maxEcho bounds the bodies that an origin keeps.
const maxEcho = 1 << 20

// origins are the endpoints behind the gateway.
type origins struct {
	list []*origin
	// lastDeath and dead say when requests may have been disturbed.
	lastDeath atomic.Int64
	dead      atomic.Int64
	deaths    int
}

// origin is one endpoint, which can die and come back at its address.
type origin struct {
	address string
	mu      sync.Mutex
	server  *http.Server
	tunnels map[net.Conn]bool
}

func startOrigins(n int) (*origins, error) {
	all := new(origins)
	for range n {
		o := &origin{address: "127.0.0.1:0", tunnels: map[net.Conn]bool{}}
		if err := o.start(); err != nil {
			all.stop()
			return nil, err
		}
		all.list = append(all.list, o)
	}
	return all, nil
}

func (all *origins) stop() {
	for _, o := range all.list {
		o.die()
	}
}

// rotate lets one endpoint after the other die and return until ctx ends.
func (all *origins) rotate(ctx context.Context, every time.Duration) error {
	for i := 0; ; i++ {
		if !pause(ctx, every) {
			return nil
		}
		o := all.list[i%len(all.list)]
		all.dead.Add(1)
		all.lastDeath.Store(time.Now().UnixNano())
		o.die()
		all.deaths++
		pause(ctx, every/4)
		if err := o.start(); err != nil {
			return err
		}
		all.lastDeath.Store(time.Now().UnixNano())
		all.dead.Add(-1)
	}
}

// disturbed says whether an endpoint was dead since then, or just before.
func (all *origins) disturbed(since time.Time) bool {
	return all.dead.Load() > 0 || all.lastDeath.Load() > since.Add(-time.Second).UnixNano()
}

func (o *origin) start() error {
	ln, err := net.Listen("tcp", o.address)
	if err != nil {
		return fmt.Errorf("an origin does not come back: %w", err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.address = ln.Addr().String()
	o.server = &http.Server{Handler: o.routes(), ReadHeaderTimeout: time.Minute}
	go func(s *http.Server) { _ = s.Serve(ln) }(o.server)
	return nil
}

// die closes the listener and every connection.
func (o *origin) die() {
	o.mu.Lock()
	defer o.mu.Unlock()
	_ = o.server.Close()
	for c := range o.tunnels {
		_ = c.Close()
	}
	clear(o.tunnels)
}

func (o *origin) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /data/{size}", serveData)
	mux.HandleFunc("POST /echo", serveEcho)
	mux.HandleFunc("PUT /sum", serveSum)
	mux.HandleFunc("GET /tunnel", o.serveTunnel)
	return mux
}

// serveData answers with a pattern, chunked if asked so.
func serveData(w http.ResponseWriter, r *http.Request) {
	size, err := strconv.Atoi(r.PathValue("size"))
	id, err2 := strconv.ParseUint(r.Header.Get(idField), 10, 64)
	if err != nil || err2 != nil {
		http.Error(w, "bad size or id", http.StatusBadRequest)
		return
	}
	w.Header().Set(idField, r.Header.Get(idField))
	if r.URL.Query().Get("chunked") == "" {
		w.Header().Set("Content-Length", strconv.Itoa(size))
	} else {
		w.(http.Flusher).Flush()
	}
	_, _ = io.CopyN(w, newPattern(id), int64(size))
}

// serveEcho sends a body back with the length it had.
func serveEcho(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(io.LimitReader(r.Body, maxEcho))
	if err != nil {
		return
	}
	w.Header().Set(idField, r.Header.Get(idField))
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	_, _ = w.Write(b)
}

// serveSum answers with the digest of a body of any length.
func serveSum(w http.ResponseWriter, r *http.Request) {
	h := sha256.New()
	if _, err := io.Copy(h, r.Body); err != nil {
		return
	}
	w.Header().Set(idField, r.Header.Get(idField))
	_, _ = io.WriteString(w, hex.EncodeToString(h.Sum(nil)))
}

// serveTunnel changes to a protocol that echoes, and ends when the client does.
func (o *origin) serveTunnel(w http.ResponseWriter, _ *http.Request) {
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	o.mu.Lock()
	o.tunnels[conn] = true
	o.mu.Unlock()
	defer func() {
		o.mu.Lock()
		delete(o.tunnels, conn)
		o.mu.Unlock()
		_ = conn.Close()
	}()
	_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	_, _ = io.Copy(conn, rw)
}

// pause waits; false means that ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
