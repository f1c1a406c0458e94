package frame_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/sdk/frame"
)

// BenchmarkServer answers 64 requests that come in one write, as from a gateway
// with 64 streams on a connection. An op is one request.
func BenchmarkServer(b *testing.B) {
	for name, in := range map[string]bool{"inline": true, "goroutines": false} {
		b.Run(name, func(b *testing.B) {
			body := []byte("hello, world")
			s := &frame.Server{Inline: in, Handler: frame.HandlerFunc(func(_ context.Context, _ *frame.Request, w *frame.Responder) error {
				return w.Reply(body)
			})}
			s.Options.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(b, err)
			served := make(chan error, 1)
			go func() { served <- s.Serve(l) }()
			c, err := net.Dial("tcp", l.Addr().String())
			require.NoError(b, err)
			var requests []byte
			for id := range uint64(64) {
				requests = append(requests, raw{
					kind: kRequest, id: id + 1, body: "hi",
					meta: []string{":path", "/orders/7", ":timeout", "5000", "traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "accept", "*/*"},
				}.bytes()...)
			}
			answers := make([]byte, 64*(24+len(body)))
			b.ReportAllocs()
			b.ResetTimer()
			for i := 0; i < b.N; i += 64 {
				_, err = c.Write(requests)
				require.NoError(b, err)
				_, err = io.ReadFull(c, answers)
				require.NoError(b, err)
			}
			b.StopTimer()
			c.Close()
			require.NoError(b, s.Shutdown(context.Background()))
			<-served
		})
	}
}

// BenchmarkCalls are made by 64 goroutines over one connection.
func BenchmarkCalls(b *testing.B) {
	s := &frame.Server{Inline: true, Handler: frame.HandlerFunc(echo)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	c := &frame.Client{Network: "tcp", Address: l.Addr().String()}
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		m := &frame.Message{Call: frame.Method("Greeter", "Echo"), Body: []byte("hi")}
		for pb.Next() {
			if _, err := c.Call(context.Background(), m); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.StopTimer()
	c.Close()
	require.NoError(b, s.Shutdown(context.Background()))
	<-served
}
