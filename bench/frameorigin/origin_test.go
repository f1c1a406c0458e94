package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/bench/wire"
)

// start runs an origin until the test ends.
func start(t *testing.T, args ...string) (string, wire.Protocol) {
	t.Helper()
	o, err := parse(append(args, "-listen=127.0.0.1:0"))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() { done <- run(ctx, o, func(address string) { ready <- address }) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	select {
	case address := <-ready:
		return address, o.protocol
	case err := <-done:
		require.NoError(t, err)
	}
	return "", nil
}

// client is a connection that reads messages.
type client struct {
	net.Conn
	t        *testing.T
	protocol wire.Protocol
	got      []byte
}

func dial(t *testing.T, address string, p wire.Protocol) *client {
	t.Helper()
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(10*time.Second)))
	return &client{Conn: c, t: t, protocol: p}
}

func (c *client) send(b []byte) {
	c.t.Helper()
	_, err := c.Write(b)
	require.NoError(c.t, err)
}

// next reads a message; its body is the caller's.
func (c *client) next() wire.Message {
	c.t.Helper()
	for {
		var m wire.Message
		n, err := c.protocol.Next(c.got, &m)
		require.NoError(c.t, err)
		if n > 0 {
			m.Body = bytes.Clone(m.Body)
			c.got = c.got[n:]
			return m
		}
		piece := make([]byte, 4096)
		n, err = c.Read(piece)
		require.NoError(c.t, err)
		c.got = append(c.got, piece[:n]...)
	}
}

func requests(t *testing.T, p wire.Protocol, ids ...uint64) []byte {
	t.Helper()
	request, err := p.Request(wire.Call{Interface: "bench.Echo", Method: "echo"}, 20)
	require.NoError(t, err)
	var b []byte
	for _, id := range ids {
		nonce := wire.Nonce(id)
		b = request.Append(b, id, &nonce)
	}
	return b
}

func TestEchoes(t *testing.T) {
	for _, name := range []string{"frame", "dubbo"} {
		for answer, length := range map[int]int{-1: 20, 10: 10, 40: 40} {
			address, p := start(t, "-protocol="+name, fmt.Sprintf("-answer=%d", answer))
			c := dial(t, address, p)
			c.send(requests(t, p, 5, 6))
			for id := range uint64(2) {
				m := c.next()
				nonce := wire.Nonce(5 + id)
				assert.Equal(t, wire.Response, m.Kind)
				assert.Equal(t, 5+id, m.ID)
				assert.Equal(t, 200, m.Status)
				assert.Equal(t, (string(nonce[:]) + strings.Repeat("x", 64))[:length], string(m.Body))
			}
		}
	}
}

func TestHeldUntilAllHaveCome(t *testing.T) {
	address, p := start(t, "-hold=4")
	first, second := dial(t, address, p), dial(t, address, p)
	for range 2 {
		first.send(requests(t, p, 1, 2, 3))
		second.send(requests(t, p, 1))
		got := map[uint64]string{}
		for range 3 {
			m := first.next()
			got[m.ID] = string(m.Body[:wire.NonceLength])
		}
		for id := range uint64(3) {
			nonce := wire.Nonce(id + 1)
			assert.Equal(t, string(nonce[:]), got[id+1])
		}
		assert.EqualValues(t, 1, second.next().ID)
	}
}

// frame is one of the frame protocol, written by hand.
func frame(kind, flags byte, id uint64, metadata, body string) []byte {
	b := fmt.Appendf(nil, "CL\x01%c\x00%c\x00\x00", kind, flags)
	b = append(b, 0, 0, 0, 0, 0, 0, 0, byte(id), 0, 0, 0, byte(len(metadata)), 0, 0, 0, byte(len(body)))
	return append(append(b, metadata...), body...)
}

const more, cont = 1, 2

func TestPiecesAndControls(t *testing.T) {
	address, p := start(t)
	c := dial(t, address, p)
	path := "\x00\x05\x00\x02:path/6"
	c.send(frame(1, more, 1, path, "ab"))
	c.send(frame(1, more, 2, path, "ef"))
	c.send(frame(6, 0, 2, "", ""))         // cancelled
	c.send(frame(1, cont, 2, "", "gh"))    // unknown by now
	c.send(frame(3, 0, 3, path, "silent")) // one-way
	c.send(frame(5, 0, 0, "", ""))
	c.send(frame(1, more|cont, 1, "", "cd"))
	c.send(frame(1, cont, 1, "", ""))
	c.send(frame(4, 0, 9, "", ""))
	m := c.next()
	assert.Equal(t, "1 abcdxx", fmt.Sprintf("%d %s", m.ID, m.Body))
	m = c.next()
	assert.Equal(t, "9 answered", fmt.Sprintf("%d %s", m.ID, map[wire.Kind]string{wire.Other: "answered"}[m.Kind]))

	c.send(frame(1, more, 4, path, "ab"))
	c.send([]byte(strings.Repeat("nonsense", 3)))
	_, err := c.Read(make([]byte, 1))
	require.Error(t, err, "the connection is closed")
}

func TestWrongOptions(t *testing.T) {
	for _, args := range [][]string{{"-protocol=http"}, {"-answer=-2"}, {"-hold=-1"}, {"-odd"}, {"-listen=odd"}} {
		require.Error(t, command(args, new(bytes.Buffer)), args)
	}
	require.NoError(t, command([]string{"-h"}, new(bytes.Buffer)))
}
