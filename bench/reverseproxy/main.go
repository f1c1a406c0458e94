// Command reverseproxy is a rival of the benchmark: net/http/httputil's
// ReverseProxy with a transport that keeps enough idle connections, and a pool
// of copy buffers. It is what most Go gateways are built on.
package main

import (
	"flag"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"sync"
	"time"
)

const (
	maxIdle    = 1024
	copyBuffer = 32 << 10
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "address to serve on")
	upstream := flag.String("upstream", "127.0.0.1:9000", "address of the service")
	access := flag.String("access-log", "", "file for access log lines")
	flag.Parse()
	handler, err := newHandler(*upstream, *access)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal((&http.Server{Addr: *listen, Handler: handler, ReadHeaderTimeout: 10 * time.Second}).ListenAndServe())
}

func newHandler(upstream, access string) (http.Handler, error) {
	target := &url.URL{Scheme: "http", Host: upstream}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
			r.SetXForwarded()
		},
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: 3 * time.Second}).DialContext,
			MaxIdleConns:        maxIdle,
			MaxIdleConnsPerHost: maxIdle,
			IdleConnTimeout:     5 * time.Minute,
			DisableCompression:  true,
		},
		BufferPool: &buffers{},
	}
	if access == "" {
		return proxy, nil
	}
	file, err := os.OpenFile(access, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	return logged(proxy, file), nil
}

// logged writes one line a request to out.
func logged(next http.Handler, out io.Writer) http.Handler {
	logger := slog.New(slog.NewJSONHandler(out, nil))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		counted := &countingWriter{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(counted, r)
		logger.LogAttrs(r.Context(), slog.LevelInfo, "access",
			slog.String("client", r.RemoteAddr), slog.String("method", r.Method), slog.String("path", r.URL.Path),
			slog.Int("status", counted.status), slog.Int("bytes", counted.bytes),
			slog.Float64("ms", float64(time.Since(start).Microseconds())/1000))
	})
}

// countingWriter remembers what the access log tells of a response.
type countingWriter struct {
	http.ResponseWriter
	status, bytes int
}

// WriteHeader implements http.ResponseWriter.
func (w *countingWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *countingWriter) Write(b []byte) (int, error) {
	n, err := w.ResponseWriter.Write(b)
	w.bytes += n
	return n, err
}

// Unwrap lets http.ResponseController reach the writer below.
func (w *countingWriter) Unwrap() http.ResponseWriter {
	return w.ResponseWriter
}

// buffers implements httputil.BufferPool.
type buffers struct{ pool sync.Pool }

// Get returns a buffer of copyBuffer bytes.
func (b *buffers) Get() []byte {
	if p, ok := b.pool.Get().(*[]byte); ok {
		return *p
	}
	return make([]byte, copyBuffer)
}

// Put takes a buffer back.
func (b *buffers) Put(p []byte) {
	b.pool.Put(&p)
}
