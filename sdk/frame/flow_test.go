package frame_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/sdk/frame"
)

const window = 256 << 10

func credit(id uint64, n int) raw {
	return raw{kind: kCredit, id: id, body: string(binary.BigEndian.AppendUint32(nil, uint32(n)))}
}

func large(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * 7 / 5)
	}
	return b
}

// TestLargeBodies go both ways, beyond every window, on all kinds of servers.
func TestLargeBodies(t *testing.T) {
	for name, change := range map[string]func(*frame.Server){"goroutines": func(*frame.Server) {}, "inline": inline} {
		for _, size := range []int{0, 1, window - 1, window, window + 1, 5 << 20} {
			s := serve(t, echo, change)
			body := large(size)
			r, err := s.client().Call(patient(t), &frame.Message{Call: frame.Key("k"), Body: body})
			require.NoError(t, err, "%s %d", name, size)
			assert.True(t, bytes.Equal(body, r.Body), "%s %d", name, size)
		}
	}
}

// TestResponsesWaitForCredit: after 256 KiB a server says nothing more of a
// response until it is asked.
func TestResponsesWaitForCredit(t *testing.T) {
	for name, change := range map[string]func(*frame.Server){"goroutines": func(*frame.Server) {}, "inline": inline} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(_ context.Context, _ *frame.Request, w *frame.Responder) error {
				w.Trailers.Add("t", "end")
				return w.Reply(large(window + 10))
			}, change)
			p := s.dial()
			p.send(raw{kind: kRequest, id: 1, meta: []string{":key", "k"}})
			got := 0
			for got < window {
				f := p.next()
				require.Equal(t, kResponse, f.kind)
				require.NotZero(t, f.flags&fMore)
				got += len(f.body)
			}
			assert.Equal(t, window, got)
			// Nothing but the answer to a heartbeat stands between credit and body.
			p.send(raw{kind: kHeartbeat, id: 5})
			p.want(raw{kind: kHeartbeat, flags: fReply, id: 5})
			p.send(credit(1, 4))
			f := p.next()
			assert.Equal(t, raw{kind: kResponse, flags: fCont | fMore, id: 1, body: string(large(window + 4)[window:])}, f)
			p.send(credit(1, 100))
			f = p.next()
			assert.Equal(t, raw{kind: kResponse, flags: fCont, id: 1, meta: []string{"t", "end"}, body: string(large(window + 10)[window+4:])}, f)
		})
	}
}

// TestRequestsGetCredit for what the handler has read, and not before.
func TestRequestsGetCredit(t *testing.T) {
	read := make(chan int)
	s := serve(t, func(_ context.Context, r *frame.Request, w *frame.Responder) error {
		for n := range read {
			if _, err := io.ReadFull(&r.Body, make([]byte, n)); err != nil {
				return err
			}
		}
		_, err := io.Copy(io.Discard, &r.Body)
		return err
	})
	p := s.dial()
	p.send(raw{kind: kRequest, flags: fMore, id: 1, meta: []string{":key", "k"}, body: strings.Repeat("x", window)})
	read <- window/2 - 1
	p.send(raw{kind: kHeartbeat, id: 5})
	p.want(raw{kind: kHeartbeat, flags: fReply, id: 5})
	read <- 1
	p.want(credit(1, window/2))
	p.send(raw{kind: kRequest, flags: fCont | fMore, id: 1, body: strings.Repeat("y", window/4)})
	close(read)
	p.want(credit(1, window/2))
	p.send(raw{kind: kRequest, flags: fCont, id: 1})
	p.want(raw{kind: kResponse, status: 200, id: 1})
}

// TestMoreThanTheCredit is the message's error, not the connection's.
func TestMoreThanTheCredit(t *testing.T) {
	failed := make(chan error, 1)
	s := serve(t, func(ctx context.Context, r *frame.Request, w *frame.Responder) error {
		if r.ID == 1 {
			<-ctx.Done()
			_, err := r.Body.Bytes()
			failed <- err
			return err
		}
		return w.Reply([]byte("fine"))
	}, func(s *frame.Server) { s.Options.Limits.Buffered = window + 100 })
	key := []string{":key", "k"}
	p := s.dial()
	p.send(raw{kind: kRequest, flags: fMore, id: 1, meta: key, body: strings.Repeat("x", window)})
	p.send(raw{kind: kRequest, flags: fCont, id: 1, body: "x"})
	f := p.next()
	assert.Equal(t, kCancel, f.kind)
	assert.Equal(t, uint64(1), f.id)
	assert.Equal(t, 413, f.status)
	assert.ErrorIs(t, await(t, failed), &frame.Error{Kind: frame.Malformed})

	p.send(raw{kind: kRequest, id: 2, meta: key, body: strings.Repeat("x", window+1)})
	f = p.next()
	assert.Equal(t, kCancel, f.kind)
	assert.Equal(t, uint64(2), f.id)
	p.send(raw{kind: kRequest, flags: fMore, id: 3, meta: key, body: "x"}, raw{kind: kRequest, flags: fCont, id: 3, body: strings.Repeat("x", 1000)})
	p.want(raw{kind: kResponse, status: 200, id: 3, body: "fine"})
}

// TestUnreadBodiesAreBounded: what no handler reads does not fill the memory.
func TestUnreadBodiesAreBounded(t *testing.T) {
	s := serve(t, func(ctx context.Context, r *frame.Request, _ *frame.Responder) error {
		<-ctx.Done()
		return ctx.Err()
	}, func(s *frame.Server) { s.Options.Limits.Buffered = 1000 })
	p := s.dial()
	p.send(
		raw{kind: kRequest, flags: fMore, id: 1, meta: []string{":key", "k"}, body: strings.Repeat("x", 900)},
		raw{kind: kRequest, flags: fMore, id: 2, meta: []string{":key", "k"}, body: strings.Repeat("x", 200)},
	)
	f := p.next()
	assert.Equal(t, kCancel, f.kind)
	assert.Equal(t, uint64(2), f.id)
	// The first gives its place back.
	p.send(raw{kind: kCancel, id: 1}, raw{kind: kHeartbeat, id: 9})
	p.want(raw{kind: kHeartbeat, flags: fReply, id: 9})
}

func TestStreams(t *testing.T) {
	s := serve(t, func(_ context.Context, r *frame.Request, w *frame.Responder) error {
		w.Metadata.Add("first", "head")
		if err := w.Flush(); err != nil {
			return err
		}
		b := make([]byte, 100)
		sum := sha256.New()
		for {
			n, err := r.Body.Read(b)
			sum.Write(b[:n])
			if _, err := w.Write(b[:n]); err != nil {
				return err
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
			if err := w.Flush(); err != nil {
				return err
			}
		}
		w.Trailers.Add("sum", string(sum.Sum(nil)[0]%26+'a'))
		w.Trailers.Add("got", r.Body.Trailers().Get("sent"))
		return nil
	})
	st, err := s.client().Stream(patient(t), &frame.Message{Call: frame.Key("k"), Body: []byte("a")})
	require.NoError(t, err)
	defer st.Close()
	r, err := st.Response()
	require.NoError(t, err)
	assert.Equal(t, "head", r.Metadata.Get("first"), "the head comes before the request ends")
	one := make([]byte, 1)
	_, err = io.ReadFull(st, one)
	require.NoError(t, err)
	body := large(1 << 20)
	sent := make(chan error, 1)
	go func() {
		_, err := st.Write(body)
		sent <- errors.Join(err, st.CloseWrite(frame.Field{Name: "sent", Value: "all"}))
	}()
	got, err := io.ReadAll(st)
	require.NoError(t, err)
	require.NoError(t, await(t, sent))
	assert.True(t, bytes.Equal(body, got))
	assert.Equal(t, "all", st.Trailers().Get("got"))
	assert.NotEmpty(t, st.Trailers().Get("sum"))
}

// TestEarlyAnswers end the sending of a request that the service wants no more of.
func TestEarlyAnswers(t *testing.T) {
	s := serve(t, func(_ context.Context, _ *frame.Request, w *frame.Responder) error {
		w.Status = 413
		return w.Reply([]byte("too much"))
	})
	c := s.client()
	r, err := c.Call(patient(t), &frame.Message{Call: frame.Key("k"), Body: large(4 << 20)})
	require.NoError(t, err)
	assert.Equal(t, 413, r.Status)
	assert.Equal(t, "too much", string(r.Body))

	st, err := c.Stream(patient(t), &frame.Message{Call: frame.Key("k")})
	require.NoError(t, err)
	defer st.Close()
	for err == nil {
		_, err = st.Write(large(window))
	}
	assert.ErrorIs(t, err, &frame.Error{Kind: frame.Cancelled})
	rest, err := io.ReadAll(st)
	require.NoError(t, err)
	assert.Equal(t, "too much", string(rest))
}

// TestPeersThatNeverRead are given up, and handlers do not fill the memory.
func TestPeersThatNeverRead(t *testing.T) {
	t.Run("one that asks on and on", func(t *testing.T) {
		s := serve(t, func(_ context.Context, _ *frame.Request, w *frame.Responder) error {
			return w.Reply(large(200 << 10))
		}, inline, func(s *frame.Server) {
			s.Options.Limits = frame.Limits{Live: 8, Unread: 2 << 20}
		})
		p := s.dial()
		var err error
		for id := uint64(1); err == nil; id++ {
			_, err = p.c.Write(raw{kind: kRequest, id: id, meta: []string{":key", "k"}}.bytes())
		}
		var timeout interface{ Timeout() bool }
		assert.False(t, errors.As(err, &timeout) && timeout.Timeout(), "the server has closed: %v", err)
		assert.Contains(t, s.log.String(), "does not read")
	})
	t.Run("one that is silent", func(t *testing.T) {
		ended := make(chan error, 1)
		s := serve(t, func(ctx context.Context, _ *frame.Request, w *frame.Responder) error {
			_, err := w.Write(large(64 << 20))
			ended <- err
			return err
		}, func(s *frame.Server) { s.Options.WriteTimeout = 50 * time.Millisecond })
		p := s.dial()
		p.send(raw{kind: kRequest, id: 1, meta: []string{":key", "k"}}, credit(1, 1<<30))
		assert.ErrorIs(t, await(t, ended), &frame.Error{Kind: frame.Unresponsive})
	})
}

func TestWritesOfInlineHandlersAreBounded(t *testing.T) {
	s := serve(t, func(_ context.Context, _ *frame.Request, w *frame.Responder) error {
		_, err := w.Write(make([]byte, 1001))
		return err
	}, inline, func(s *frame.Server) { s.Options.Limits.Message = 1000 })
	p := s.dial()
	p.send(raw{kind: kRequest, id: 1, meta: []string{":key", "k"}})
	assert.Equal(t, 413, p.next().status)
}

// TestBrokenTrailers of a large response are known when its body is on the way.
func TestBrokenTrailers(t *testing.T) {
	s := serve(t, func(_ context.Context, _ *frame.Request, w *frame.Responder) error {
		w.Trailers.Add("a b", "c")
		return w.Reply([]byte("x"))
	}, inline)
	_, err := s.client().Call(patient(t), &frame.Message{Call: frame.Key("k")})
	assert.ErrorIs(t, err, &frame.Error{Kind: frame.Cancelled})
	require.NoError(t, s.Shutdown(patient(t)))
	assert.Contains(t, s.log.String(), "invalid")
}

func TestMessagesAreGatheredWithinLimits(t *testing.T) {
	s := serve(t, echo, func(s *frame.Server) { s.Options.Limits.Message = 1000 })
	c := s.client()
	for _, size := range []int{1000, 1001, 300 << 10} {
		r, err := c.Call(patient(t), &frame.Message{Call: frame.Key("k"), Body: make([]byte, size)})
		require.NoError(t, err)
		assert.Equal(t, map[bool]int{true: 200, false: 413}[size <= 1000], r.Status)
	}
	small := s.client(func(c *frame.Client) { c.Options.Limits.Message = 10 })
	_, err := small.Call(patient(t), &frame.Message{Call: frame.Key("k"), Body: make([]byte, 11)})
	assert.ErrorIs(t, err, &frame.Error{Kind: frame.TooLarge})
	assert.ErrorContains(t, err, s.address)
}
