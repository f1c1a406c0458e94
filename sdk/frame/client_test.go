package frame_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/sdk/frame"
)

func hi() *frame.Message { return &frame.Message{Call: frame.Key("k"), Body: []byte("hi")} }

// TestClientByHand: what a client sends, and what it makes of an answer.
func TestClientByHand(t *testing.T) {
	o := listen(t)
	c := o.client()
	tests := []struct {
		m    frame.Message
		want raw
	}{
		{frame.Message{Call: frame.Path("GET", "/a?b"), Body: []byte("x")}, raw{kRequest, 0, 0, 1, []string{":path", "/a?b", ":verb", "GET"}, "x"}},
		{frame.Message{Call: frame.Call{Interface: "I", Method: "m", Group: "g", Version: "v", Authority: "h"}}, raw{kRequest, 0, 0, 2, []string{":interface", "I", ":method", "m", ":group", "g", ":version", "v", ":authority", "h"}, ""}},
		{frame.Message{Call: frame.Key("17"), Metadata: frame.Metadata{{Name: "a", Value: "b"}}}, raw{kRequest, 0, 0, 3, []string{":key", "17", "a", "b"}, ""}},
	}
	var p *peer
	for _, tt := range tests {
		done := later(t, c, context.Background(), &tt.m)
		if p == nil {
			p = o.accept()
		}
		p.want(tt.want)
		p.send(raw{kResponse, fMore, 201, tt.want.id, []string{"c", "d"}, "on"}, raw{kResponse, fCont, 0, tt.want.id, []string{"e", "f"}, "e"})
		got := await(t, done)
		require.NoError(t, got.err)
		assert.Equal(t, &frame.Response{
			Status: 201, Metadata: frame.Metadata{{Name: "c", Value: "d"}},
			Trailers: frame.Metadata{{Name: "e", Value: "f"}}, Body: []byte("one"),
		}, got.r)
	}
	require.NoError(t, c.OneWay(context.Background(), hi()))
	p.want(raw{kOneWay, 0, 0, 4, []string{":key", "k"}, "hi"})
}

// TestWhatCannotBeSent never reaches the peer.
func TestWhatCannotBeSent(t *testing.T) {
	c := serve(t, echo).client()
	tests := []struct {
		name string
		m    frame.Message
	}{
		{"a path that is none", frame.Message{Call: frame.Path("GET", "a")}},
		{"a method without a name", frame.Message{Call: frame.Call{Interface: "I"}}},
		{"a name with a space", frame.Message{Call: frame.Key("k"), Metadata: frame.Metadata{{Name: "a b"}}}},
		{"a pseudo name", frame.Message{Call: frame.Key("k"), Metadata: frame.Metadata{{Name: ":key"}}}},
		{"a length of its own", frame.Message{Call: frame.Key("k"), Metadata: frame.Metadata{{Name: "Content-Length", Value: "3"}}}},
		{"a value with a line end", frame.Message{Call: frame.Key("k"), Metadata: frame.Metadata{{Name: "a", Value: "b\r\nc"}}}},
		{"a long name", frame.Message{Call: frame.Key("k"), Metadata: frame.Metadata{{Name: strings.Repeat("x", 256)}}}},
		{"a long key", frame.Message{Call: frame.Key(strings.Repeat("x", 1<<16))}},
		{"too much metadata", frame.Message{Call: frame.Key("k"), Metadata: frame.Metadata{{Name: "a", Value: strings.Repeat("x", 1<<16-10)}, {Name: "a", Value: "0123456789"}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := c.Call(patient(t), &tt.m)
			assert.ErrorIs(t, err, &frame.Error{Kind: frame.Invalid})
			assert.ErrorIs(t, c.OneWay(patient(t), &tt.m), &frame.Error{Kind: frame.Invalid})
		})
	}
	r, err := c.Call(patient(t), hi())
	require.NoError(t, err, "the connection is as it was")
	assert.Equal(t, "hi", string(r.Body))
}

// TestBadAnswers: each of them is the end of the connection, with the peer named.
func TestBadAnswers(t *testing.T) {
	tests := []struct {
		name string
		send []byte
		kind frame.Kind
		text string
	}{
		{"no frame", []byte("HTTP/1.1 400 Bad Request\r\n\r\n"), frame.Malformed, ""},
		{"a request", raw{kind: kRequest, id: 1, meta: []string{":key", "k"}}.bytes(), frame.Malformed, "a request where"},
		{"an answer to what was not sent", raw{kind: kResponse, status: 200, id: 2}.bytes(), frame.Malformed, "not sent"},
		{"two answers", append(raw{kind: kResponse, flags: fMore, status: 200, id: 1}.bytes(), raw{kind: kResponse, status: 200, id: 1}.bytes()...), frame.Malformed, "second response"},
		{"pseudo names", raw{kind: kResponse, status: 200, id: 1, meta: []string{":key", "k"}}.bytes(), frame.Malformed, ""},
		{"no status", raw{kind: kResponse, id: 1}.bytes(), frame.Malformed, ""},
		{"metadata bomb", raw{kind: kResponse, status: 200, id: 1, meta: []string{"a", strings.Repeat("x", 65000), "b", strings.Repeat("x", 65000)}}.bytes(), frame.Malformed, "over the limit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := listen(t)
			done := later(t, o.client(), context.Background(), hi())
			p := o.accept()
			p.next()
			p.sendBytes(tt.send)
			err := await(t, done).err
			assert.ErrorIs(t, err, &frame.Error{Kind: tt.kind})
			assert.ErrorContains(t, err, o.l.Addr().String())
			assert.ErrorContains(t, err, tt.text)
			f := p.next()
			assert.Equal(t, kGoAway, f.kind, "the peer is told")
			assert.GreaterOrEqual(t, f.status, 400)
		})
	}
	t.Run("the end", func(t *testing.T) {
		o := listen(t)
		done := later(t, o.client(), context.Background(), hi())
		p := o.accept()
		p.next()
		p.send(raw{kind: kResponse, flags: fMore, status: 200, id: 1, body: "hal"})
		p.c.Close()
		err := await(t, done).err
		assert.ErrorIs(t, err, &frame.Error{Kind: frame.Disconnected})
		assert.ErrorContains(t, err, o.l.Addr().String())
	})
	t.Run("a cancel", func(t *testing.T) {
		o := listen(t)
		done := later(t, o.client(), context.Background(), hi())
		p := o.accept()
		p.next()
		p.send(raw{kCancel, 0, 503, 1, []string{"x-corelane-reason", "overloaded"}, "come again"})
		var e *frame.Error
		require.ErrorAs(t, await(t, done).err, &e)
		assert.Equal(t, frame.Error{Kind: frame.Cancelled, Peer: o.l.Addr().String(), Status: 503, Reason: "overloaded", Text: "come again"}, *e)
		assert.Equal(t, "frame: cancelled: "+e.Peer+": status 503 overloaded: come again", e.Error())
	})
	t.Run("more than the credit", func(t *testing.T) {
		o := listen(t)
		c := o.client()
		done := later(t, c, context.Background(), hi())
		p := o.accept()
		p.next()
		p.send(raw{kind: kResponse, status: 200, id: 1, body: strings.Repeat("x", window+1)})
		assert.ErrorIs(t, await(t, done).err, &frame.Error{Kind: frame.Malformed})
		assert.Equal(t, kCancel, p.next().kind)
		done = later(t, c, context.Background(), hi())
		p.next()
		p.send(raw{kind: kResponse, status: 200, id: 2})
		assert.NoError(t, await(t, done).err, "the connection goes on")
	})
}

// TestLateAnswers to what was given up are dropped.
func TestLateAnswers(t *testing.T) {
	o := listen(t)
	c := o.client()
	ctx, cancel := context.WithCancel(context.Background())
	done := later(t, c, ctx, hi())
	p := o.accept()
	p.next()
	cancel()
	p.want(raw{kind: kCancel, id: 1})
	err := await(t, done).err
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorIs(t, err, &frame.Error{Kind: frame.Expired, Peer: ""}, "kinds are asked for without a cause")

	p.send(raw{kind: kResponse, flags: fMore, status: 200, id: 1, body: "la"}, raw{kind: kResponse, flags: fCont, id: 1, body: "te"})
	done = later(t, c, context.Background(), hi())
	p.next()
	p.send(raw{kind: kResponse, status: 200, id: 2, body: "good"})
	got := await(t, done)
	require.NoError(t, got.err)
	assert.Equal(t, "good", string(got.r.Body))
}

func TestDeadlinesAreTold(t *testing.T) {
	o := listen(t)
	c := o.client()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	done := later(t, c, ctx, hi())
	p := o.accept()
	f := p.next()
	require.Equal(t, ":timeout", f.meta[2])
	ms, err := strconv.Atoi(f.meta[3])
	require.NoError(t, err)
	assert.InDelta(t, 3600e3, ms, 60e3)
	p.send(raw{kind: kResponse, status: 200, id: 1})
	require.NoError(t, await(t, done).err)

	past, cancel := context.WithDeadline(context.Background(), time.Unix(1, 0))
	defer cancel()
	_, err = c.Call(past, hi())
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	short, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	_, err = c.Call(short, hi())
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}

// TestGoAway: calls that were not looked at are repeated on a new connection, the
// others are answered on the old one.
func TestGoAway(t *testing.T) {
	o := listen(t)
	c := o.client()
	first := later(t, c, context.Background(), hi())
	p := o.accept()
	p.next()
	second := later(t, c, context.Background(), hi())
	p.next()
	p.send(raw{kind: kGoAway, id: 1})
	q := o.accept()
	q.want(raw{kRequest, 0, 0, 1, []string{":key", "k"}, "hi"})
	third := later(t, c, context.Background(), hi())
	q.want(raw{kRequest, 0, 0, 2, []string{":key", "k"}, "hi"})
	p.send(raw{kind: kResponse, status: 200, id: 1, body: "first"})
	p.ends()
	q.send(raw{kind: kResponse, status: 200, id: 2, body: "third"}, raw{kind: kResponse, status: 200, id: 1, body: "second"})
	for want, done := range map[string]<-chan outcome{"first": first, "second": second, "third": third} {
		got := await(t, done)
		require.NoError(t, got.err)
		assert.Equal(t, want, string(got.r.Body))
	}
}

// TestGoAwayForEver does not go on for ever.
func TestGoAwayForEver(t *testing.T) {
	o := listen(t)
	done := later(t, o.client(), context.Background(), hi())
	for range 3 {
		p := o.accept()
		p.next()
		p.send(raw{kGoAway, 0, 503, 0, nil, "full"})
	}
	err := await(t, done).err
	assert.ErrorIs(t, err, &frame.Error{Kind: frame.GoneAway})
	assert.ErrorContains(t, err, "full")
}

// TestGoAwayThatSaysNothing leaves what is under way to the end of the connection.
func TestGoAwayThatSaysNothing(t *testing.T) {
	o := listen(t)
	done := later(t, o.client(), context.Background(), hi())
	p := o.accept()
	p.next()
	p.send(raw{kind: kGoAway, status: 400, id: 1<<64 - 1, body: "bad"}, raw{kind: kResponse, status: 200, id: 1})
	assert.NoError(t, await(t, done).err)
}

func TestReconnects(t *testing.T) {
	o := listen(t)
	c := o.client()
	for range 3 {
		done := later(t, c, context.Background(), hi())
		p := o.accept()
		p.next()
		p.c.Close()
		assert.ErrorIs(t, await(t, done).err, &frame.Error{Kind: frame.Disconnected})
	}
}

func TestNobodyThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	l.Close()
	c := newClient(t, "tcp", address)
	_, err = c.Call(patient(t), hi())
	assert.ErrorIs(t, err, &frame.Error{Kind: frame.Unreachable, Peer: ""})
	assert.ErrorContains(t, err, address)
	_, err = c.Stream(patient(t), hi())
	assert.Error(t, err)
}

func TestClosedClients(t *testing.T) {
	o := listen(t)
	c := o.client()
	done := later(t, c, context.Background(), hi())
	p := o.accept()
	p.next()
	require.NoError(t, c.Close())
	assert.ErrorIs(t, await(t, done).err, &frame.Error{Kind: frame.Closed})
	p.ends()
	_, err := c.Call(context.Background(), hi())
	assert.ErrorIs(t, err, &frame.Error{Kind: frame.Closed})
	assert.NoError(t, (&frame.Client{}).Close())
}

func TestConnectionsTakeTurns(t *testing.T) {
	s := serve(t, func(_ context.Context, r *frame.Request, w *frame.Responder) error {
		return w.Reply([]byte(r.Peer))
	})
	c := s.client(func(c *frame.Client) { c.Connections = 3 })
	peers := map[string]int{}
	for range 9 {
		r, err := c.Call(patient(t), hi())
		require.NoError(t, err)
		peers[string(r.Body)]++
	}
	assert.Len(t, peers, 3)
	for _, n := range peers {
		assert.Equal(t, 3, n)
	}
}

func TestTooManyCalls(t *testing.T) {
	o := listen(t)
	c := o.client(func(c *frame.Client) { c.Options.Limits.Live = 2 })
	var calls []<-chan outcome
	var p *peer
	for range 2 {
		calls = append(calls, later(t, c, context.Background(), hi()))
		if p == nil {
			p = o.accept()
		}
		p.next()
	}
	_, err := c.Call(patient(t), hi())
	assert.ErrorIs(t, err, &frame.Error{Kind: frame.Overloaded, Peer: ""})
	p.send(raw{kind: kResponse, status: 200, id: 1}, raw{kind: kResponse, status: 200, id: 2})
	for _, done := range calls {
		assert.NoError(t, await(t, done).err)
	}
}

// TestManyCalls are answered each with its own, from many goroutines over one
// connection, on every kind of server and socket.
func TestManyCalls(t *testing.T) {
	for name, start := range map[string]func() *service{
		"tcp":          func() *service { return serve(t, echo) },
		"tcp, inline":  func() *service { return serve(t, echo, inline) },
		"unix":         func() *service { return serveOn(t, "unix", socket(t), echo) },
		"unix, inline": func() *service { return serveOn(t, "unix", socket(t), echo, inline) },
	} {
		t.Run(name, func(t *testing.T) {
			c := start().client()
			var wg sync.WaitGroup
			errs := make(chan error, 64)
			for g := range 64 {
				wg.Go(func() {
					for i := range 50 {
						want := fmt.Sprintf("%d/%d %s", g, i, strings.Repeat("x", i*37))
						r, err := c.Call(patient(t), &frame.Message{Call: frame.Method("I", "m"), Body: []byte(want)})
						if err == nil && string(r.Body) != want {
							err = errors.New("the answer of somebody else")
						}
						if err != nil {
							errs <- err
							return
						}
					}
				})
			}
			wg.Wait()
			close(errs)
			assert.NoError(t, <-errs)
		})
	}
}

func TestLargeOneWays(t *testing.T) {
	got := make(chan int, 1)
	s := serve(t, func(_ context.Context, r *frame.Request, w *frame.Responder) error {
		b, err := r.Body.Bytes()
		got <- len(b)
		_, werr := w.Write(b)
		return errors.Join(err, werr, w.Flush(), w.Reply(nil))
	})
	c := s.client()
	require.NoError(t, c.OneWay(patient(t), &frame.Message{Call: frame.Key("k"), Body: make([]byte, 1<<20)}))
	assert.Equal(t, 1<<20, await(t, got))
	require.NoError(t, c.OneWay(patient(t), hi()))
	assert.Equal(t, 2, await(t, got))
	assert.NotContains(t, s.log.String(), "ERROR")
}
