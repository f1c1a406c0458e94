package frame_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/sdk/frame"
)

// TestContextsEnd with everything that makes an answer useless.
func TestContextsEnd(t *testing.T) {
	tests := []struct {
		name    string
		timeout string
		end     func(p *peer)
		want    error
	}{
		{"a cancel", "", func(p *peer) { p.send(raw{kind: kCancel, id: 1}) }, context.Canceled},
		{"the client has gone", "", func(p *peer) { p.c.Close() }, context.Canceled},
		{"the deadline", "1", func(*peer) {}, context.DeadlineExceeded},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			began, ended := make(chan struct{}), make(chan error, 1)
			s := serve(t, func(ctx context.Context, r *frame.Request, w *frame.Responder) error {
				deadline, ok := ctx.Deadline()
				assert.Equal(t, tt.timeout != "", ok)
				assert.Equal(t, r.Deadline, deadline)
				assert.Nil(t, ctx.Value(1))
				child, cancel := context.WithCancel(ctx)
				defer cancel()
				close(began)
				<-child.Done()
				<-ctx.Done()
				ended <- ctx.Err()
				return ctx.Err()
			})
			p := s.dial()
			meta := []string{":key", "k"}
			if tt.timeout != "" {
				meta = append(meta, ":timeout", tt.timeout)
			}
			p.send(raw{kind: kRequest, id: 1, meta: meta})
			await(t, began)
			tt.end(p)
			assert.Equal(t, tt.want, await(t, ended))
		})
	}
}

func TestDeadlineWithoutWaiting(t *testing.T) {
	asked := make(chan struct{})
	s := serve(t, func(ctx context.Context, r *frame.Request, _ *frame.Responder) error {
		assert.NoError(t, context.Cause(context.Background()))
		for ctx.Err() == nil {
			asked <- struct{}{}
		}
		return ctx.Err()
	})
	p := s.dial()
	p.send(raw{kind: kRequest, id: 1, meta: []string{":key", "k", ":timeout", "20"}})
	answered := make(chan raw, 1)
	go func() {
		if f, err := readFrame(p.c); err == nil {
			answered <- f
		}
	}()
	for {
		select {
		case <-asked:
		case f := <-answered:
			assert.Equal(t, 504, f.status)
			return
		}
	}
}

// TestAfterACancel nothing is said of the message any more, and its id is free.
func TestAfterACancel(t *testing.T) {
	waiting, go1 := make(chan struct{}), make(chan struct{})
	late := make(chan error, 1)
	s := serve(t, func(_ context.Context, r *frame.Request, w *frame.Responder) error {
		if r.Call.Key == "wait" {
			close(waiting)
			<-go1
			err := w.Reply([]byte("late"))
			late <- err
			return err
		}
		return w.Reply([]byte("again"))
	})
	p := s.dial()
	p.send(raw{kind: kRequest, id: 1, meta: []string{":key", "wait"}})
	await(t, waiting)
	p.send(raw{kind: kCancel, id: 1}, raw{kind: kHeartbeat, id: 3})
	p.want(raw{kind: kHeartbeat, flags: fReply, id: 3})
	close(go1)
	assert.ErrorIs(t, await(t, late), &frame.Error{Kind: frame.Cancelled})
	p.send(raw{kind: kRequest, id: 1, meta: []string{":key", "k"}})
	p.want(raw{kind: kResponse, status: 200, id: 1, body: "again"})
}

// TestBrokenResponses: what has begun and cannot be completed is cancelled.
func TestBrokenResponses(t *testing.T) {
	s := serve(t, func(_ context.Context, _ *frame.Request, w *frame.Responder) error {
		_, err := w.Write([]byte("half"))
		return errors.Join(err, w.Flush(), errors.New("no more"))
	})
	p := s.dial()
	p.send(raw{kind: kRequest, id: 1, meta: []string{":key", "k"}})
	p.want(raw{kind: kResponse, flags: fMore, status: 200, id: 1, body: "half"})
	p.want(raw{kCancel, 0, 500, 1, []string{"x-corelane-reason", "internal_error"}, "the handler failed"})
	_, err := s.client().Call(patient(t), hi())
	assert.ErrorIs(t, err, &frame.Error{Kind: frame.Cancelled, Peer: ""}, "an answer that is cut is none")
}

func TestResponsesAreSaidOnce(t *testing.T) {
	errs := make(chan error, 4)
	s := serve(t, func(_ context.Context, _ *frame.Request, w *frame.Responder) error {
		errs <- w.Reply([]byte("one"))
		errs <- w.Reply([]byte("two"))
		_, err := w.Write([]byte("three"))
		errs <- err
		errs <- w.Flush()
		return errors.New("after the fact")
	})
	p := s.dial()
	p.send(raw{kind: kRequest, id: 1, meta: []string{":key", "k"}}, raw{kind: kHeartbeat, id: 1})
	for _, want := range []bool{true, false, false, false} {
		assert.Equal(t, want, await(t, errs) == nil)
	}
	got := []int{p.next().kind, p.next().kind}
	assert.ElementsMatch(t, []int{kResponse, kHeartbeat}, got)
}

// TestTooManyRequests are refused one by one; the connection goes on.
func TestTooManyRequests(t *testing.T) {
	release := make(chan struct{})
	s := serve(t, func(_ context.Context, _ *frame.Request, w *frame.Responder) error {
		<-release
		return w.Reply([]byte("done"))
	}, func(s *frame.Server) { s.Options.Limits.Live = 2 })
	p := s.dial()
	for id := uint64(1); id <= 3; id++ {
		p.send(raw{kind: kRequest, id: id, meta: []string{":key", "k"}})
	}
	p.want(raw{kResponse, 0, 503, 3, []string{"x-corelane-reason", "overloaded"}, ""})
	p.send(raw{kind: kOneWay, id: 4, meta: []string{":key", "k"}})
	close(release)
	assert.ElementsMatch(t, []raw{
		{kind: kResponse, status: 200, id: 1, body: "done"},
		{kind: kResponse, status: 200, id: 2, body: "done"},
	}, []raw{p.next(), p.next()})
	p.send(raw{kind: kRequest, id: 5, meta: []string{":key", "k"}})
	p.want(raw{kind: kResponse, status: 200, id: 5, body: "done"})
}

// TestSilentPeers are asked, and given up when they do not answer.
func TestSilentPeers(t *testing.T) {
	quick := func(o *frame.Options) { o.Heartbeat = 20 * time.Millisecond }
	t.Run("client", func(t *testing.T) {
		ended := make(chan struct{})
		s := serve(t, func(ctx context.Context, _ *frame.Request, _ *frame.Responder) error {
			<-ctx.Done()
			close(ended)
			return ctx.Err()
		}, func(s *frame.Server) { quick(&s.Options) })
		p := s.dial()
		p.send(raw{kind: kRequest, id: 1, meta: []string{":key", "k"}})
		for id := uint64(1); id <= 3; id++ {
			p.want(raw{kind: kHeartbeat, id: id})
		}
		await(t, ended)
		p.ends()
		assert.Contains(t, s.log.String(), "heartbeats were not answered")
	})
	t.Run("server", func(t *testing.T) {
		o := listen(t)
		done := later(t, o.client(func(c *frame.Client) { quick(&c.Options) }), context.Background(), hi())
		p := o.accept()
		p.next()
		// An answer to any of them is a sign of life.
		for range 2 {
			f := p.next()
			assert.Equal(t, kHeartbeat, f.kind)
			f.flags = fReply
			p.send(f)
		}
		for range 3 {
			assert.Equal(t, kHeartbeat, p.next().kind)
		}
		assert.ErrorIs(t, await(t, done).err, &frame.Error{Kind: frame.Unresponsive})
	})
}

// TestShutdown waits for what runs, and tells clients to go elsewhere.
func TestShutdown(t *testing.T) {
	began, release := make(chan struct{}), make(chan struct{})
	s := serve(t, func(_ context.Context, _ *frame.Request, w *frame.Responder) error {
		close(began)
		<-release
		return w.Reply([]byte("done"))
	})
	p := s.dial()
	p.send(raw{kind: kRequest, id: 3, meta: []string{":key", "k"}})
	await(t, began)
	down := make(chan error, 1)
	go func() { down <- s.Shutdown(patient(t)) }()
	p.want(raw{kGoAway, 0, 0, 3, []string{"x-corelane-reason", "draining"}, ""})
	_, err := net.Dial("tcp", s.address)
	assert.Error(t, err, "nobody listens")
	p.send(raw{kind: kRequest, id: 4, meta: []string{":key", "k"}}, raw{kind: kHeartbeat, id: 1})
	p.want(raw{kind: kHeartbeat, flags: fReply, id: 1})
	close(release)
	p.want(raw{kind: kResponse, status: 200, id: 3, body: "done"})
	p.ends()
	assert.NoError(t, await(t, down))
}

func TestShutdownInAHurry(t *testing.T) {
	began := make(chan struct{})
	s := serve(t, func(ctx context.Context, _ *frame.Request, _ *frame.Responder) error {
		close(began)
		<-ctx.Done()
		return ctx.Err()
	})
	p := s.dial()
	p.send(raw{kind: kRequest, id: 1, meta: []string{":key", "k"}})
	await(t, began)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	assert.ErrorIs(t, s.Shutdown(ctx), context.Canceled)
	assert.Equal(t, kGoAway, p.next().kind)
	p.ends()
}

// TestServiceIsReplaced: a client notices nothing of it.
func TestServiceIsReplaced(t *testing.T) {
	path := socket(t)
	old := serveOn(t, "unix", path, func(_ context.Context, _ *frame.Request, w *frame.Responder) error { return w.Reply([]byte("old")) })
	c := old.client()
	r, err := c.Call(patient(t), hi())
	require.NoError(t, err)
	assert.Equal(t, "old", string(r.Body))
	require.NoError(t, old.Shutdown(patient(t)))
	_ = os.Remove(path)
	serveOn(t, "unix", path, func(_ context.Context, _ *frame.Request, w *frame.Responder) error { return w.Reply([]byte("new")) })
	r, err = c.Call(patient(t), hi())
	require.NoError(t, err)
	assert.Equal(t, "new", string(r.Body))
}

func TestServersThatDoNotServe(t *testing.T) {
	s := &frame.Server{}
	assert.ErrorContains(t, s.ListenAndServe("tcp", "127.0.0.1:0"), "no handler")
	s.Handler = &frame.Mux{}
	assert.Error(t, s.ListenAndServe("tcp", "nowhere"))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	assert.ErrorContains(t, s.Serve(struct{ net.Listener }{l}), "cannot serve")
	assert.NoError(t, s.Shutdown(patient(t)))
	assert.ErrorIs(t, s.ListenAndServe("tcp", "127.0.0.1:0"), frame.ErrServerClosed)
}

func zip(b []byte) []byte {
	e, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	defer e.Close()
	return e.EncodeAll(b, nil)
}

func TestZstd(t *testing.T) {
	compress := func(s *frame.Server) { s.Options.Zstd = true }
	text := strings.Repeat("what is said again and again ", 1000)
	for name, change := range map[string]func(*frame.Server){"goroutines": func(*frame.Server) {}, "inline": inline} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, echo, compress, change)
			for _, asks := range []bool{false, true} {
				c := s.client(func(c *frame.Client) { c.Options.Zstd = asks })
				r, err := c.Call(patient(t), &frame.Message{Call: frame.Key("k"), Body: []byte(text), Zstd: true})
				require.NoError(t, err)
				assert.Equal(t, text, string(r.Body))
			}
			p := s.dial()
			for id, accept := range []string{"gzip", "zstd;q=0", "", "gzip, ZSTD;q=0.5"} {
				p.send(raw{kind: kRequest, id: uint64(id + 1), meta: []string{":key", "k", "accept-encoding", accept}, body: text})
				f := p.next()
				assert.Equal(t, id == 3, f.flags == fZstd, accept)
				assert.Equal(t, id == 3, len(f.body) < len(text))
			}
		})
	}
	t.Run("streams", func(t *testing.T) {
		s := serve(t, func(_ context.Context, r *frame.Request, w *frame.Responder) error {
			for range 10 {
				if _, err := w.Write([]byte(text)); err != nil {
					return err
				}
				if err := w.Flush(); err != nil {
					return err
				}
			}
			w.Trailers.Add("t", "end")
			return nil
		}, compress)
		c := s.client(func(c *frame.Client) { c.Options.Zstd = true })
		r, err := c.Call(patient(t), hi())
		require.NoError(t, err)
		assert.Equal(t, strings.Repeat(text, 10), string(r.Body))
		assert.Equal(t, "end", r.Trailers.Get("t"))

		st, err := c.Stream(patient(t), hi())
		require.NoError(t, err)
		first := make([]byte, len(text))
		_, err = io.ReadFull(st, first)
		require.NoError(t, err)
		rest, err := io.ReadAll(st)
		require.NoError(t, err)
		assert.Equal(t, strings.Repeat(text, 10), string(first)+string(rest))
		require.NoError(t, st.Close())
	})
}

// TestBombs are known before they fill the memory, and what is no zstd is told
// from what is.
func TestBombs(t *testing.T) {
	bomb := zip(make([]byte, 64<<20))
	require.Less(t, len(bomb), window)
	s := serve(t, func(_ context.Context, r *frame.Request, w *frame.Responder) error {
		if r.Call.Key == "piece by piece" {
			_, err := io.Copy(io.Discard, &r.Body)
			return err
		}
		b, err := r.Body.Bytes()
		if err != nil {
			return err
		}
		again, err := r.Body.Bytes()
		assert.Equal(t, b, again)
		return errors.Join(err, w.Reply(b))
	}, func(s *frame.Server) { s.Options.Limits.Decompressed = 1 << 20 })
	p := s.dial()
	tests := []struct {
		name, key, body string
		status          int
	}{
		{"whole", "k", string(bomb), 413},
		{"piece by piece", "piece by piece", string(bomb), 413},
		{"no zstd", "k", "plain text", 400},
		{"no zstd, piece by piece", "piece by piece", "plain text", 400},
		{"cut", "k", string(zip(large(1000))[:100]), 400},
		{"as large as may be", "k", string(zip(make([]byte, 200<<10))), 200},
		{"empty", "k", "", 200},
	}
	for i, tt := range tests {
		p.send(raw{kind: kRequest, flags: fZstd, id: uint64(i + 1), meta: []string{":key", tt.key}, body: tt.body})
		assert.Equal(t, tt.status, p.next().status, tt.name)
	}

	o := listen(t)
	done := later(t, o.client(), context.Background(), hi())
	q := o.accept()
	q.next()
	q.send(raw{kind: kResponse, flags: fZstd, status: 200, id: 1, body: string(bomb)})
	err := await(t, done).err
	assert.ErrorIs(t, err, &frame.Error{Kind: frame.TooLarge})
	assert.ErrorContains(t, err, o.l.Addr().String())
}
