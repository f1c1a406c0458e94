package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/corelane/corelane/bench/process"
)

// download is the length of the answers that nobody reads.
const download = 1 << 30

// stubborn is an origin for stopped transfers: it sends without end and reads
// nothing.
type stubborn struct {
	net.Listener
	sent, streams atomic.Int64
	// released is closed when uploads are read after all: a server that does not
	// read cannot see that its client has gone.
	released atomic.Pointer[chan struct{}]
}

func startStubborn() (*stubborn, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &stubborn{Listener: ln}
	server := &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(ln) }()
	return s, nil
}

func (s *stubborn) serve(w http.ResponseWriter, r *http.Request) {
	s.streams.Add(1)
	defer s.streams.Add(-1)
	if r.Method == http.MethodPut {
		<-*s.released.Load()
		_, _ = io.Copy(io.Discard, r.Body)
		return
	}
	w.Header().Set("Content-Length", fmt.Sprint(download))
	piece := make([]byte, 64<<10)
	for sent := 0; sent < download; sent += len(piece) {
		if _, err := w.Write(piece); err != nil {
			return
		}
		s.sent.Add(int64(len(piece)))
	}
}

// slow holds readers that stop in the middle of downloads, and uploads to an
// upstream that stops, while honest traffic goes on.
func slow(ctx context.Context, b *bench, out io.Writer) error {
	s, err := startStubborn()
	if err != nil {
		return err
	}
	defer s.Close()
	err = b.start(ctx, setup{
		loops: "1", cpus: b.o.proxyCPU,
		services: fmt.Sprintf("  - {name: stubborn, endpoints: [{address: %q}], pool: {max_connections: 0}, timeouts: {first_byte: 10m, idle: 10m}}\n", s.Addr().String()),
		routes:   "  - {id: stubborn, match: {prefix: /stubborn}, service: stubborn}\n",
	})
	if err != nil {
		return err
	}
	peak, err := b.peak(ctx)
	if err != nil {
		return err
	}
	before, err := process.Memory(b.gateway.PID())
	if err != nil {
		return err
	}
	h := &held{b: b, s: s}
	all, err := b.pairs(ctx, peak*loadShare, h.begin)
	if err != nil {
		return err
	}
	table(out, peak*loadShare, all)
	fmt.Fprintf(out, "\n%d readers that stop on %d MiB each, %d uploads of as much to an upstream that stops.\n\n", b.o.stopped, download>>20, b.o.stopped)
	fmt.Fprintf(out, "| | most of all slices |\n|---|---|\n| resident memory before, KiB | %d |\n| resident memory with them, KiB | %d |\n", before, h.memory)
	fmt.Fprintf(out, "| bytes the gateway holds for each transfer | %d |\n", h.buffers/int64(2*b.o.stopped))
	fmt.Fprintf(out, "| bytes that the origin got rid of for each reader, kernel buffers included | %d |\n", h.sent/int64(b.o.stopped))
	fmt.Fprintf(out, "| bytes that a client got rid of for each upload, kernel buffers included | %d |\n", h.uploaded/int64(b.o.stopped))
	return nil
}

// held is the stopped transfers of one slice, and the most that any slice saw.
type held struct {
	b       *bench
	s       *stubborn
	clients []net.Conn
	// most of all slices
	memory                  int
	buffers, sent, uploaded int64
}

// begin opens the transfers and returns when none makes progress any more.
func (h *held) begin() (func() error, error) {
	h.s.sent.Store(0)
	released := make(chan struct{})
	h.s.released.Store(&released)
	var uploaded atomic.Int64
	for i := range 2 * h.b.o.stopped {
		c, err := net.Dial("tcp", h.b.gateway.Address)
		if err != nil {
			return nil, err
		}
		h.clients = append(h.clients, c)
		if i%2 == 0 {
			_, err = io.WriteString(c, "GET /stubborn/d HTTP/1.1\r\nHost: slow.example\r\n\r\n")
		} else {
			_, err = fmt.Fprintf(c, "PUT /stubborn/u HTTP/1.1\r\nHost: slow.example\r\nContent-Length: %d\r\n\r\n", download)
			go upload(c, &uploaded)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := h.standstill(&uploaded); err != nil {
		return nil, err
	}
	return h.end, h.look(&uploaded)
}

// upload sends until the connection is closed.
func upload(c net.Conn, total *atomic.Int64) {
	piece := make([]byte, 64<<10)
	for {
		n, err := c.Write(piece)
		total.Add(int64(n))
		if err != nil {
			return
		}
	}
}

// standstill waits until a whole second brings no byte.
func (h *held) standstill(uploaded *atomic.Int64) error {
	last := int64(-1)
	for range 60 {
		now := h.s.sent.Load() + uploaded.Load()
		if now == last && h.s.streams.Load() == int64(2*h.b.o.stopped) {
			return nil
		}
		last = now
		time.Sleep(time.Second)
	}
	return errors.New("the stopped transfers do not stop: progress is not bounded")
}

func (h *held) look(uploaded *atomic.Int64) error {
	memory, err := process.Memory(h.b.gateway.PID())
	if err != nil {
		return err
	}
	buffers, err := h.b.metric("corelane_buffer_bytes")
	if err != nil {
		return err
	}
	h.memory = max(h.memory, memory)
	h.buffers = max(h.buffers, int64(buffers))
	h.sent = max(h.sent, h.s.sent.Load())
	h.uploaded = max(h.uploaded, uploaded.Load())
	return nil
}

// end lets all go and waits until the gateway has noticed.
func (h *held) end() error {
	for _, c := range h.clients {
		_ = c.Close()
	}
	h.clients = nil
	close(*h.s.released.Load())
	for range 600 {
		if h.s.streams.Load() == 0 {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.New("the gateway keeps transfers whose clients have gone")
}
