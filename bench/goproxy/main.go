// Command goproxy is a rival of the benchmark: a proxy on cloudwego/netpoll in
// the style that Go programs usually have, one goroutine a request that waits
// for the upstream's answer. It does the least a proxy can do: a pool of
// upstream connections, hop-by-hop fields removed, X-Forwarded-* added, bodies
// of a known length streamed.
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"log"
	"net"
	"os"
	"sync"
	"time"

	"github.com/cloudwego/netpoll"

	"github.com/corelane/corelane/bench/message"
)

const (
	connectTimeout = 3 * time.Second
	answerTimeout  = 30 * time.Second
	maxIdle        = 1024
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "address to serve on")
	upstream := flag.String("upstream", "127.0.0.1:9000", "address of the service")
	access := flag.String("access-log", "", "file for access log lines")
	flag.Parse()
	if err := run(*listen, *upstream, *access); err != nil {
		log.Fatal(err)
	}
}

func run(listen, upstream, access string) error {
	p := &proxy{upstream: upstream}
	if access != "" {
		file, err := os.OpenFile(access, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		defer file.Close()
		p.log = newAccessLog(file)
	}
	listener, err := netpoll.CreateListener("tcp", listen)
	if err != nil {
		return err
	}
	loop, err := netpoll.NewEventLoop(p.onRequest)
	if err != nil {
		return err
	}
	return loop.Serve(listener)
}

// proxy forwards every request to one upstream address.
type proxy struct {
	upstream string
	log      *accessLog // nil: off

	mu   sync.Mutex
	idle []netpoll.Connection // newest last
}

// onRequest serves the requests that have arrived on a client's connection.
func (p *proxy) onRequest(_ context.Context, client netpoll.Connection) error {
	for client.Reader().Len() > 0 {
		if err := p.exchange(client); err != nil {
			return client.Close()
		}
	}
	return nil
}

func (p *proxy) exchange(client netpoll.Connection) error {
	head, err := message.ReadHead(client.Reader())
	if err != nil {
		return err
	}
	start := p.log.start()
	length, err := message.ContentLength(head)
	if err != nil {
		return err
	}
	up, answer, err := p.send(client, head, length)
	if err != nil {
		_, _ = client.Writer().WriteString("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		return errors.Join(err, client.Writer().Flush())
	}
	bytes, err := relay(client, up, answer)
	if err != nil {
		return errors.Join(err, up.Close())
	}
	p.put(up)
	p.log.record(start, client.RemoteAddr(), head, bytes)
	return client.Reader().Release()
}

// send forwards a request and waits for the head of its answer. A pooled
// connection may have been closed by the service just now: that request is sent
// once more on a fresh one, unless its body is gone.
func (p *proxy) send(client netpoll.Connection, head []byte, length int) (netpoll.Connection, []byte, error) {
	up, reused, err := p.get()
	if err != nil {
		return nil, nil, err
	}
	answer, err := try(client, up, head, length)
	if err != nil && reused && length == 0 {
		_ = up.Close()
		if up, err = dial(p.upstream); err != nil {
			return nil, nil, err
		}
		answer, err = try(client, up, head, length)
	}
	if err != nil {
		_ = up.Close()
		return nil, nil, err
	}
	return up, answer, nil
}

func try(client, up netpoll.Connection, head []byte, length int) ([]byte, error) {
	w := up.Writer()
	if err := writeRequest(w, head, client.RemoteAddr()); err != nil {
		return nil, err
	}
	if err := copyBody(w, client.Reader(), length); err != nil {
		return nil, err
	}
	return message.ReadHead(up.Reader())
}

// relay sends an answer to the client and returns the length of its body.
func relay(client, up netpoll.Connection, answer []byte) (int, error) {
	length, err := message.ContentLength(answer)
	if err != nil {
		return 0, err
	}
	if err := writeResponse(client.Writer(), answer); err != nil {
		return 0, err
	}
	if err := copyBody(client.Writer(), up.Reader(), length); err != nil {
		return 0, err
	}
	return length, up.Reader().Release()
}

// copyBody flushes the head that was written before together with the first
// part of the body, and then every part as it arrives.
func copyBody(w netpoll.Writer, r netpoll.Reader, length int) error {
	for length > 0 {
		b, err := r.Next(min(length, max(1, r.Len())))
		if err != nil {
			return err
		}
		if _, err := w.WriteBinary(b); err != nil {
			return err
		}
		if length -= len(b); length > 0 {
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}

// get takes the newest idle connection, or opens one.
func (p *proxy) get() (up netpoll.Connection, reused bool, err error) {
	for {
		p.mu.Lock()
		n := len(p.idle)
		if n == 0 {
			p.mu.Unlock()
			up, err = dial(p.upstream)
			return up, false, err
		}
		up = p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		if up.IsActive() {
			return up, true, nil
		}
	}
}

func (p *proxy) put(up netpoll.Connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) < maxIdle {
		p.idle = append(p.idle, up)
		return
	}
	_ = up.Close()
}

func dial(address string) (netpoll.Connection, error) {
	up, err := netpoll.DialConnection("tcp", address, connectTimeout)
	if err != nil {
		return nil, err
	}
	return up, up.SetReadTimeout(answerTimeout)
}

// accessLog writes one line a request.
type accessLog struct {
	mu  sync.Mutex
	out io.Writer
	buf []byte
}

func newAccessLog(out io.Writer) *accessLog {
	return &accessLog{out: out}
}

func (l *accessLog) start() time.Time {
	if l == nil {
		return time.Time{}
	}
	return time.Now()
}

// logBuffer is what is collected before a write, as nginx with `buffer=64k`.
const logBuffer = 64 << 10

func (l *accessLog) record(start time.Time, client net.Addr, head []byte, bytes int) {
	if l == nil {
		return
	}
	now := time.Now()
	first, _ := message.Lines(head)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = appendRecord(l.buf, now, now.Sub(start), client, first, bytes)
	if len(l.buf) >= logBuffer {
		_, _ = l.out.Write(l.buf)
		l.buf = l.buf[:0]
	}
}
