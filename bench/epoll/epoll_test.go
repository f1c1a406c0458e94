package epoll

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lines echoes whole lines and remembers how connections ended.
type lines struct {
	got   [][]byte
	ended []error
}

var errBad = errors.New("bad line")

func (h *lines) Data(c *Conn, b []byte) (int, error) {
	end := bytes.LastIndexByte(b, '\n') + 1
	if bytes.HasPrefix(b, []byte("bad")) {
		return end, errBad
	}
	h.got = append(h.got, bytes.Clone(b[:end]))
	c.Out = append(c.Out, b[:end]...)
	return end, nil
}

func (h *lines) Closed(_ *Conn, err error) { h.ended = append(h.ended, err) }

// serve runs a loop until the test ends; what the handler saw may be read after
// stop.
func serve(t *testing.T) (address string, h *lines, stop func()) {
	t.Helper()
	h = &lines{}
	l, err := New(h)
	require.NoError(t, err)
	address, err = l.Listen("127.0.0.1:0")
	require.NoError(t, err)
	quit, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-quit:
				l.Close()
				done <- nil
				return
			default:
			}
			if err := l.Turn(5 * time.Millisecond); err != nil {
				done <- err
				return
			}
		}
	}()
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			close(quit)
			require.NoError(t, <-done)
		}
	}
	t.Cleanup(stop)
	return address, h, stop
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(10*time.Second)))
	return c
}

func TestPiecesAreJoined(t *testing.T) {
	address, h, stop := serve(t)
	c := dial(t, address)
	for _, step := range []struct{ sent, back string }{{"one\ntw", "one\n"}, {"o\nthree\n", "two\nthree\n"}} {
		_, err := io.WriteString(c, step.sent)
		require.NoError(t, err)
		back := make([]byte, len(step.back))
		_, err = io.ReadFull(c, back)
		require.NoError(t, err)
		assert.Equal(t, step.back, string(back))
	}
	_ = c.Close()
	stop()
	assert.Equal(t, "one\ntwo\nthree\n", string(bytes.Join(h.got, nil)))
}

func TestErrorsCloseTheConnection(t *testing.T) {
	address, h, stop := serve(t)
	bad := dial(t, address)
	_, err := io.WriteString(bad, "bad\n")
	require.NoError(t, err)
	_, err = bad.Read(make([]byte, 1))
	require.Error(t, err)
	stop()
	assert.Equal(t, []error{errBad}, h.ended)
}

// TestSlowReader sends far more than the sockets hold before it reads.
func TestSlowReader(t *testing.T) {
	address, _, _ := serve(t)
	c := dial(t, address)
	line := append(bytes.Repeat([]byte("x"), 64<<10-1), '\n')
	const count = 256
	sent := make(chan error, 1)
	go func() {
		for range count {
			if _, err := c.Write(line); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	require.NoError(t, <-sent)
	back, err := io.ReadAll(io.LimitReader(c, count<<16))
	require.NoError(t, err)
	assert.Len(t, back, count<<16)
}

func TestDialled(t *testing.T) {
	address, _, _ := serve(t)
	h := &lines{}
	l, err := New(h)
	require.NoError(t, err)
	defer l.Close()
	c, err := l.Dial(address)
	require.NoError(t, err)
	assert.True(t, c.Open())
	c.Out = append(c.Out, "bad\n"...)
	c.Flush()
	for len(h.ended) == 0 {
		require.NoError(t, l.Turn(-1))
	}
	assert.False(t, c.Open())
	c.Close()
	require.NoError(t, l.Turn(0))
	require.NoError(t, l.Turn(time.Millisecond))
}

func TestNobodyThere(t *testing.T) {
	l, err := New(&lines{})
	require.NoError(t, err)
	defer l.Close()
	_, err = l.Dial("127.0.0.1:1")
	require.ErrorContains(t, err, "connect to 127.0.0.1:1")
	_, err = l.Dial("odd")
	require.Error(t, err)
	_, err = l.Listen("odd")
	require.Error(t, err)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	_, err = l.Listen(taken.Addr().String())
	require.ErrorContains(t, err, "listen on")
}
