// Command greeter-frame is a service that speaks the frame protocol, as an example
// for sdk/frame and as a peer for tests:
//
//	go run ./examples/greeter-frame -listen 127.0.0.1:7000
//
// It answers calls of the interface Greeter, or by path below /Greeter/, as HTTP
// clients call it through the gateway:
//
//	Hello   "hello, " and the body
//	Echo    the body, with the request's fields that begin with "x-"
//	Stream  each line of the body as it comes; trailer "lines" counts them
//	Slow    "done" after the field "x-delay" (default 1s), or when cancelled not at all
//	Fail    the status in the field "x-status" (default 500)
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/corelane/corelane/sdk/frame"
)

func main() {
	network := flag.String("network", "tcp", "tcp or unix")
	listen := flag.String("listen", "127.0.0.1:7000", "address or path of a socket")
	inline := flag.Bool("inline", false, "answer on the goroutines that read; Slow then stops a connection")
	flag.Parse()

	s := &frame.Server{Handler: greeter(), Inline: *inline, Options: frame.Options{Zstd: true}}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- s.ListenAndServe(*network, *listen) }()
	select {
	case err := <-served:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// greeter is the service.
func greeter() *frame.Mux {
	m := &frame.Mux{}
	for name, f := range map[string]frame.HandlerFunc{
		"Hello": hello, "Echo": echo, "Stream": stream, "Slow": slow, "Fail": fail,
	} {
		m.Handle(frame.Method("Greeter", name), f)
		m.Handle(frame.Path("POST", "/Greeter/"+name), f)
		m.Handle(frame.Path("GET", "/Greeter/"+name), f)
	}
	return m
}

func hello(_ context.Context, r *frame.Request, w *frame.Responder) error {
	name, err := r.Body.Bytes()
	if err != nil {
		return err
	}
	return w.Reply(append([]byte("hello, "), name...))
}

func echo(_ context.Context, r *frame.Request, w *frame.Responder) error {
	body, err := r.Body.Bytes()
	if err != nil {
		return err
	}
	for _, f := range r.Metadata {
		if strings.HasPrefix(f.Name, "x-") || strings.EqualFold(f.Name, "content-type") {
			w.Metadata = append(w.Metadata, f)
		}
	}
	return w.Reply(body)
}

func stream(_ context.Context, r *frame.Request, w *frame.Responder) error {
	lines := 0
	in := bufio.NewScanner(&r.Body)
	for in.Scan() {
		lines++
		if _, err := w.Write(append(bytes.Clone(in.Bytes()), '\n')); err != nil {
			return err
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	w.Trailers.Add("lines", strconv.Itoa(lines))
	return in.Err()
}

func slow(ctx context.Context, r *frame.Request, w *frame.Responder) error {
	delay := time.Second
	if text := r.Metadata.Get("x-delay"); text != "" {
		var err error
		if delay, err = time.ParseDuration(text); err != nil {
			return frame.Errorf(400, "x-delay: %v", err)
		}
	}
	select {
	case <-time.After(delay):
		return w.Reply([]byte("done"))
	case <-ctx.Done():
		return ctx.Err()
	}
}

func fail(_ context.Context, r *frame.Request, _ *frame.Responder) error {
	text := r.Metadata.Get("x-status")
	if text == "" {
		return errors.New("asked to fail")
	}
	status, err := strconv.Atoi(text)
	if err != nil {
		return frame.Errorf(400, "x-status: %v", err)
	}
	return frame.Errorf(status, "asked to fail with %d", status)
}
