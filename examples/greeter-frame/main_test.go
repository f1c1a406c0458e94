package main

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/sdk/frame"
)

func TestGreeter(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &frame.Server{Handler: greeter()}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	c := &frame.Client{Network: "tcp", Address: l.Addr().String()}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	defer func() {
		assert.NoError(t, c.Close())
		assert.NoError(t, s.Shutdown(ctx))
		assert.ErrorIs(t, <-served, frame.ErrServerClosed)
	}()

	tests := []struct {
		name   string
		m      frame.Message
		status int
		body   string
		fields frame.Metadata
	}{
		{"hello", frame.Message{Call: frame.Method("Greeter", "Hello"), Body: []byte("you")}, 200, "hello, you", nil},
		{"by path", frame.Message{Call: frame.Path("GET", "/Greeter/Hello?a=b"), Body: []byte("you")}, 200, "hello, you", nil},
		{"echo", frame.Message{Call: frame.Method("Greeter", "Echo"), Metadata: frame.Metadata{{Name: "x-a", Value: "b"}, {Name: "c", Value: "d"}}, Body: []byte("e")}, 200, "e", frame.Metadata{{Name: "x-a", Value: "b"}}},
		{"slow", frame.Message{Call: frame.Method("Greeter", "Slow"), Metadata: frame.Metadata{{Name: "x-delay", Value: "1ms"}}}, 200, "done", nil},
		{"slow by no known time", frame.Message{Call: frame.Method("Greeter", "Slow"), Metadata: frame.Metadata{{Name: "x-delay", Value: "x"}}}, 400, `x-delay: time: invalid duration "x"`, nil},
		{"fail", frame.Message{Call: frame.Method("Greeter", "Fail")}, 500, "the handler failed", nil},
		{"fail with", frame.Message{Call: frame.Method("Greeter", "Fail"), Metadata: frame.Metadata{{Name: "x-status", Value: "418"}}}, 418, "asked to fail with 418", nil},
		{"unknown", frame.Message{Call: frame.Method("Greeter", "Sing")}, 404, "Greeter/Sing is not known here", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := c.Call(ctx, &tt.m)
			require.NoError(t, err)
			assert.Equal(t, tt.status, r.Status)
			assert.Equal(t, tt.body, string(r.Body))
			for _, f := range tt.fields {
				assert.Equal(t, f.Value, r.Metadata.Get(f.Name))
			}
			assert.Empty(t, r.Metadata.Get("c"))
		})
	}
}

func TestStream(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &frame.Server{Handler: greeter()}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	c := &frame.Client{Network: "tcp", Address: l.Addr().String()}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()

	st, err := c.Stream(ctx, &frame.Message{Call: frame.Method("Greeter", "Stream")})
	require.NoError(t, err)
	_, err = st.Write([]byte("one\ntw"))
	require.NoError(t, err)
	line := make([]byte, 4)
	_, err = io.ReadFull(st, line)
	require.NoError(t, err)
	assert.Equal(t, "one\n", string(line), "the first line comes before the second is sent")
	_, err = st.Write([]byte("o\n"))
	require.NoError(t, err)
	require.NoError(t, st.CloseWrite())
	rest, err := io.ReadAll(st)
	require.NoError(t, err)
	assert.Equal(t, "two\n", string(rest))
	assert.Equal(t, "2", st.Trailers().Get("lines"))

	require.NoError(t, st.Close())
	require.NoError(t, c.Close())
	require.NoError(t, s.Shutdown(ctx))
	assert.ErrorIs(t, <-served, frame.ErrServerClosed)
}
