package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/bench/wire"
)

// script is what a fake service does with each request: it appends to out what
// the client gets. false ends the connection.
type script func(p wire.Protocol, out []byte, m *wire.Message) ([]byte, bool)

func echo(p wire.Protocol, out []byte, m *wire.Message) ([]byte, bool) {
	return p.AppendResponse(out, m.ID, m.Body, len(m.Body)), true
}

// serve answers by a script until the test ends. Each connection is served by a
// goroutine, so a script must not keep state of its own.
func serve(t *testing.T, p wire.Protocol, s script) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go answer(c, p, s)
		}
	}()
	return ln.Addr().String()
}

func answer(c net.Conn, p wire.Protocol, s script) {
	defer c.Close()
	var in, out []byte
	piece := make([]byte, 4096)
	for open := true; open; {
		n, err := c.Read(piece)
		if err != nil {
			return
		}
		in, out = append(in, piece[:n]...), out[:0]
		for open {
			var m wire.Message
			n, err := p.Next(in, &m)
			if err != nil {
				return
			}
			if n == 0 {
				break
			}
			if m.Kind == wire.Request {
				out, open = s(p, out, &m)
			}
			in = in[n:]
		}
		if _, err := c.Write(out); err != nil {
			return
		}
	}
}

func flagged(t *testing.T, address string, args ...string) options {
	t.Helper()
	o, err := parse(append(append([]string{"-duration=10s", "-connections=2", "-streams=3"}, args...), address))
	require.NoError(t, err)
	return o
}

func TestEveryAnswerIsRight(t *testing.T) {
	for _, args := range [][]string{
		{"-requests=500"},
		{"-requests=500", "-protocol=dubbo"},
		{"-requests=200", "-rate=20000"},
		{"-requests=100", "-size=3000", "-path=/3000"},
		{"-requests=1", "-connections=1", "-streams=1"},
	} {
		protocol := wire.Protocol(wire.Frame{})
		if strings.Contains(strings.Join(args, " "), "dubbo") {
			protocol = wire.Dubbo{}
		}
		o := flagged(t, serve(t, protocol, echo), args...)
		r, err := run(t.Context(), o)
		require.NoError(t, err)
		assert.Equal(t, o.requests, r.Requests, args)
		assert.Zero(t, r.Failures, "%v: %v", args, r.Errors)
		assert.LessOrEqual(t, r.P50, r.P99)
		assert.LessOrEqual(t, r.P99, r.Max)
		assert.Positive(t, r.Seconds)
	}
}

func TestWarmUpDoesNotCount(t *testing.T) {
	o := flagged(t, serve(t, wire.Frame{}, echo), "-duration=50ms", "-warmup=50ms", "-rate=1000")
	r, err := run(t.Context(), o)
	require.NoError(t, err)
	assert.Equal(t, 50, r.Requests, "those due after the warm-up, all of them")
	assert.Empty(t, r.Errors)
}

func TestFailuresByKind(t *testing.T) {
	frame := wire.Frame{}
	tests := []struct {
		name   string
		script script
		want   string
	}{
		{"status", func(p wire.Protocol, out []byte, m *wire.Message) ([]byte, bool) {
			at := len(out)
			out, _ = echo(p, out, m)
			out[at+6], out[at+7] = 1, 0xf7 // 503
			return out, true
		}, "status"},
		{"length", func(p wire.Protocol, out []byte, m *wire.Message) ([]byte, bool) {
			return p.AppendResponse(out, m.ID, m.Body, len(m.Body)+1), true
		}, "length"},
		{"nonce", func(p wire.Protocol, out []byte, m *wire.Message) ([]byte, bool) {
			other := wire.Nonce(12345)
			return p.AppendResponse(out, m.ID, other[:], len(other)), true
		}, "nonce"},
		{"twice", func(p wire.Protocol, out []byte, m *wire.Message) ([]byte, bool) {
			out, _ = echo(p, out, m)
			return echo(p, out, m)
		}, "unknown_id"},
		{"cancel", func(p wire.Protocol, out []byte, m *wire.Message) ([]byte, bool) {
			if m.ID > 1 {
				return echo(p, out, m)
			}
			at := len(out)
			out = p.AppendResponse(out, m.ID, nil, 0)
			out[at+3] = 6
			return out, true
		}, "cancelled"},
		{"silence", func(p wire.Protocol, out []byte, m *wire.Message) ([]byte, bool) {
			if m.ID == 2 {
				return out, true
			}
			return echo(p, out, m)
		}, "unanswered"},
		{"nonsense", func(p wire.Protocol, out []byte, m *wire.Message) ([]byte, bool) {
			if m.ID == 4 {
				return append(out, strings.Repeat("?", 24)...), true
			}
			return echo(p, out, m)
		}, "protocol"},
		{"close", func(p wire.Protocol, out []byte, m *wire.Message) ([]byte, bool) {
			out, _ = echo(p, out, m)
			return out, m.ID%5 != 0
		}, "closed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := flagged(t, serve(t, frame, tt.script), "-requests=60", "-duration=300ms", "-grace=0")
			r, err := run(t.Context(), o)
			require.NoError(t, err)
			assert.Positive(t, r.Errors[tt.want], "%v", r.Errors)
			assert.Contains(t, r.String(), tt.want)
		})
	}
}

// TestGoAway wants no request lost although each connection takes only three.
func TestGoAway(t *testing.T) {
	o := flagged(t, serve(t, wire.Frame{}, func(p wire.Protocol, out []byte, m *wire.Message) ([]byte, bool) {
		out, _ = echo(p, out, m)
		if m.ID%10 != 3 {
			return out, true
		}
		at := len(out)
		out = p.AppendResponse(out, m.ID, nil, 0)
		out[at+3] = 5
		return out, true
	}), "-requests=60")
	r, err := run(t.Context(), o)
	require.NoError(t, err)
	assert.Equal(t, 60, r.Requests)
	assert.Empty(t, r.Errors)
}

// TestOmissionIsNotCoordinated: there is one place, and the first answer takes
// 50 ms. Everything due meanwhile waited, which a closed loop would not notice.
func TestOmissionIsNotCoordinated(t *testing.T) {
	address := serve(t, wire.Frame{}, func(p wire.Protocol, out []byte, m *wire.Message) ([]byte, bool) {
		if m.ID == 1 {
			<-time.After(50 * time.Millisecond)
		}
		return echo(p, out, m)
	})
	r, err := run(t.Context(), flagged(t, address, "-connections=1", "-streams=1", "-rate=1000", "-requests=100"))
	require.NoError(t, err)
	assert.Equal(t, 100, r.Requests)
	assert.GreaterOrEqual(t, r.Max, 50_000.0)
	assert.GreaterOrEqual(t, r.P90, 40_000.0, "those due in the first 10 ms")
}

func TestUnsent(t *testing.T) {
	address := serve(t, wire.Frame{}, func(p wire.Protocol, out []byte, m *wire.Message) ([]byte, bool) {
		if m.ID > 1 {
			return out, true
		}
		return echo(p, out, m)
	})
	r, err := run(t.Context(), flagged(t, address, "-connections=1", "-streams=1", "-rate=1000", "-duration=300ms", "-grace=0"))
	require.NoError(t, err)
	assert.Equal(t, map[string]int{"unanswered": 1, "unsent": 298}, r.Errors)
}

func TestHeartbeatsAreAnswered(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	beats := make(chan uint64, 1)
	go func() {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		beat := wire.Frame{}.AppendHeartbeatReply(nil, 77)
		beat[5] = 0
		_, _ = c.Write(beat)
		got := make([]byte, 0, 4096)
		for {
			var m wire.Message
			if n, _ := (wire.Frame{}).Next(got, &m); n > 0 {
				got = got[n:]
				if m.Kind == wire.Other {
					beats <- m.ID
					return
				}
				continue
			}
			piece := make([]byte, 4096)
			n, err := c.Read(piece)
			if err != nil {
				return
			}
			got = append(got, piece[:n]...)
		}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	o := flagged(t, ln.Addr().String(), "-connections=1", "-grace=0")
	done := make(chan error, 1)
	go func() { _, err := run(ctx, o); done <- err }()
	assert.EqualValues(t, 77, <-beats)
	cancel()
	require.ErrorContains(t, <-done, "no request was answered")
}

func TestCommand(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, command([]string{"-requests=10", "-cpu=-1", serve(t, wire.Frame{}, echo)}, &out))
	line, text, ok := strings.Cut(out.String(), "\n")
	require.True(t, ok)
	assert.Contains(t, text, "requests/s; p50 ")
	var r Report
	require.NoError(t, json.Unmarshal([]byte(strings.TrimPrefix(line, "REPORT ")), &r))
	assert.Equal(t, 10, r.Requests)
	assert.Contains(t, (&Report{Seconds: 1, Asked: 5}).String(), "of 5 asked")

	for _, args := range [][]string{
		nil,
		{"-odd"},
		{"-protocol=http", "a"},
		{"-connections=0", "a"},
		{"-streams=0", "a"},
		{"-rate=-1", "a"},
		{"-requests=-1", "a"},
		{"-answer=40000", "a"},
		{"-size=3", "127.0.0.1:1"},
		{"127.0.0.1:1"},
		{"-cpu=1023", "127.0.0.1:1"},
	} {
		require.Error(t, command(args, new(bytes.Buffer)), args)
	}
}

func TestIdsWhosePlaceIsTakenArePassedOver(t *testing.T) {
	c := newClient(0, 1)
	assert.Len(t, c.slots, ringFactor)
	first := c.begin(0)
	for range 2 * ringFactor {
		s := c.begin(0)
		assert.NotEqual(t, first.id%ringFactor, s.id%ringFactor)
		assert.Same(t, s, c.find(s.id))
		c.end(s)
		assert.Nil(t, c.find(s.id))
	}
	assert.Same(t, first, c.find(1))
	assert.Equal(t, 1, c.inFlight)
	assert.Nil(t, c.find(0))
}
