package cmd

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// demoAddress is where the built-in service listens: the endpoint of
// examples/quickstart.yaml.
const demoAddress = "127.0.0.1:9901"

// Bounds of the built-in service.
const (
	demoHeadTimeout = 10 * time.Second
	demoBody        = 1 << 20
	demoTicks       = 5
	demoTick        = 200 * time.Millisecond
)

// demo is a small service to try the gateway with. It belongs to nobody in
// production.
type demo struct {
	server   *http.Server
	listener net.Listener
}

// startDemo runs the service until stop.
func startDemo(address string) (*demo, error) {
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("the demo service cannot listen: %w", err)
	}
	d := &demo{server: &http.Server{Handler: demoHandler(), ReadHeaderTimeout: demoHeadTimeout}, listener: ln}
	go func() { _ = d.server.Serve(ln) }() // its only end is stop
	return d, nil
}

func (d *demo) stop() { d.server.Close() }

// demoHandler is what the service can do.
func demoHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", hello)
	mux.HandleFunc("/echo", echo)
	mux.HandleFunc("/stream", stream)
	mux.HandleFunc("/", describe)
	return mux
}

func hello(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprintln(w, "Hello from the service behind the gateway.")
}

// describe shows the request as it arrived.
func describe(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "%s %s\n", r.Method, r.URL.RequestURI())
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Request-Id", "Traceparent"} {
		if v := r.Header.Get(name); v != "" {
			fmt.Fprintf(w, "%s: %s\n", name, v)
		}
	}
}

// echo sends the body back.
func echo(w http.ResponseWriter, r *http.Request) {
	if t := r.Header.Get("Content-Type"); t != "" {
		w.Header().Set("Content-Type", t)
	}
	_, _ = io.Copy(w, http.MaxBytesReader(w, r.Body, demoBody)) // a client that left needs no answer
}

// stream sends a line a tick, each in a chunk of its own.
func stream(w http.ResponseWriter, r *http.Request) {
	out := http.NewResponseController(w)
	for i := range demoTicks {
		if i > 0 {
			select {
			case <-r.Context().Done():
				return
			case <-time.After(demoTick):
			}
		}
		fmt.Fprintf(w, "line %d of %d\n", i+1, demoTicks)
		if out.Flush() != nil {
			return
		}
	}
}

// trial is a line to try with examples/quickstart.yaml, and what to see then.
type trial struct{ curl, shows string }

// trials are true as they stand: a test runs them.
var trials = []trial{
	{"curl -i http://127.0.0.1:8080/hello", "answered by the gateway"},
	{"curl -i http://127.0.0.1:8080/demo/", "forwarded to the demo service"},
	{"curl -N http://127.0.0.1:8080/demo/stream", "streamed, a line at a time"},
	{"curl -d ping http://127.0.0.1:8080/demo/echo", "sent there and back"},
	{"curl -i http://127.0.0.1:8080/users/42", "rewritten to /accounts/42"},
	{"curl -i http://127.0.0.1:8080/nowhere", "404 route_not_found: nobody registered it"},
	{"curl -s http://127.0.0.1:9900/api/v1/status", "what the gateway tells of itself"},
	{"curl -s http://127.0.0.1:9900/metrics", "what it has counted"},
}

// printDemo tells what to try.
func printDemo(w io.Writer) {
	fmt.Fprint(w, "\nTry, in another terminal:\n\n")
	for _, t := range trials {
		fmt.Fprintf(w, "  %-50s # %s\n", t.curl, t.shows)
	}
	fmt.Fprintln(w, "\nCtrl-C ends it.")
}
