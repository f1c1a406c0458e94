package frame_test

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/sdk/frame"
)

func inline(s *frame.Server) { s.Inline = true }

// TestByHand holds both ways of running handlers against bytes that were written
// down by hand.
func TestByHand(t *testing.T) {
	for _, mode := range []struct {
		name   string
		change func(*frame.Server)
	}{{"on goroutines", func(*frame.Server) {}}, {"inline", inline}} {
		t.Run(mode.name, func(t *testing.T) {
			s := serve(t, func(_ context.Context, r *frame.Request, w *frame.Responder) error {
				b, err := r.Body.Bytes()
				w.Metadata.Add("x", r.Metadata.Get("A"))
				return errors.Join(err, w.Reply([]byte(r.Call.String()+" "+string(b))))
			}, mode.change)
			p := s.dial()
			request, err := hex.DecodeString(strings.ReplaceAll(
				"434c 01 01 0000 0000 0000000000000007 00000010 00000002"+
					"0004 0002"+"3a6b6579"+"6b31"+ // :key: k1
					"0001 0001"+"61"+"62"+ // a: b
					"6869", " ", ""))
			require.NoError(t, err)
			p.sendBytes(request)
			p.want(raw{kResponse, 0, 200, 7, []string{"x", "b"}, `key "k1" hi`})
		})
	}
}

func TestCallsAreUnderstood(t *testing.T) {
	got := make(chan frame.Request, 1)
	s := serve(t, func(_ context.Context, r *frame.Request, w *frame.Responder) error {
		got <- frame.Request{Call: r.Call, Metadata: r.Metadata, OneWay: r.OneWay, ID: r.ID}
		return nil
	})
	p := s.dial()
	tests := []struct {
		name string
		f    raw
		want frame.Request
	}{
		{
			"path",
			raw{kRequest, 0, 0, 1, []string{":path", "/a?b=c", ":verb", "GET", ":authority", "h:1"}, ""},
			frame.Request{ID: 1, Call: frame.Call{Path: "/a?b=c", Verb: "GET", Authority: "h:1"}},
		},
		{
			"method",
			raw{kOneWay, 0, 0, 2, []string{":interface", "I", ":method", "m", ":group", "g", ":version", "2"}, ""},
			frame.Request{ID: 2, OneWay: true, Call: frame.Call{Interface: "I", Method: "m", Group: "g", Version: "2"}},
		},
		{
			"key",
			raw{kRequest, 0, 0, 3, []string{":key", "17", "b", "1", "b", "2"}, ""},
			frame.Request{ID: 3, Call: frame.Key("17"), Metadata: frame.Metadata{{Name: "b", Value: "1"}, {Name: "b", Value: "2"}}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p.send(tt.f)
			r := await(t, got)
			assert.Equal(t, tt.want.Call, r.Call)
			assert.Equal(t, tt.want.ID, r.ID)
			assert.Equal(t, tt.want.OneWay, r.OneWay)
			assert.ElementsMatch(t, tt.want.Metadata, r.Metadata)
			if !tt.want.OneWay {
				p.want(raw{kind: kResponse, status: 200, id: tt.want.ID})
			}
		})
	}
}

// TestConnectionErrors: what cannot be understood is answered by a go-away, and
// then by the end.
func TestConnectionErrors(t *testing.T) {
	key := []string{":key", "k"}
	tests := []struct {
		name   string
		bytes  []byte
		status int
		reason string
	}{
		{"another protocol, shorter than a header", []byte("GET /\r\n"), 400, "bad_request"},
		{"another version", append([]byte{'C', 'L', 2, 1}, make([]byte, 20)...), 505, "version_not_supported"},
		{"unknown kind", raw{kind: 200, id: 1}.bytes(), 400, ""},
		{"unknown flag", raw{kind: kRequest, flags: 0x4000, id: 1, meta: key}.bytes(), 400, ""},
		{"id 0", raw{kind: kRequest, meta: key}.bytes(), 400, ""},
		{"no call", raw{kind: kRequest, id: 1}.bytes(), 400, ""},
		{"two calls", raw{kind: kRequest, id: 1, meta: []string{":key", "k", ":path", "/"}}.bytes(), 400, ""},
		{"a response", raw{kind: kResponse, status: 200, id: 1}.bytes(), 400, "bad_request"},
		{"a value with a line feed", raw{kind: kRequest, id: 1, meta: []string{":key", "k", "a", "\n"}}.bytes(), 400, ""},
		{"a pair that runs beyond the metadata", []byte("CL\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x05\x00\x00\x00\x00\x00\xff\x00\xff:"), 400, ""},
		{"metadata over the limit", raw{kind: kRequest, id: 1, meta: []string{":key", strings.Repeat("k", 1100)}}.bytes(), 431, "headers_too_large"},
		{"too many fields", raw{kind: kRequest, id: 1, meta: append([]string{":key", "k"}, strings.Split(strings.Repeat("a,b,", 9)+"a,b", ",")...)}.bytes(), 431, "headers_too_large"},
		{"too many trailers", append(raw{kind: kRequest, flags: fMore, id: 1, meta: key}.bytes(), raw{kind: kRequest, flags: fCont, id: 1, meta: strings.Split(strings.Repeat("a,b,", 9)+"a,b", ",")}.bytes()...), 431, "headers_too_large"},
		{"an id in use", append(raw{kind: kRequest, flags: fMore, id: 1, meta: key}.bytes(), raw{kind: kRequest, id: 1, meta: key}.bytes()...), 400, "bad_request"},
		{"a body of a heartbeat", raw{kind: kHeartbeat, id: 1, body: "x"}.bytes(), 400, ""},
		{"a credit of 0", raw{kind: kCredit, id: 1, body: "\x00\x00\x00\x00"}.bytes(), 400, ""},
		{"a frame of 4 GiB", []byte("CL\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\xff\xff\xff\xff"), 413, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, func(_ context.Context, r *frame.Request, _ *frame.Responder) error {
				_, err := r.Body.Bytes()
				return err
			}, func(s *frame.Server) { s.Options.Limits = frame.Limits{Metadata: 1024, Fields: 8} })
			p := s.dial()
			p.sendBytes(tt.bytes)
			f := p.next()
			assert.Equal(t, kGoAway, f.kind)
			assert.Equal(t, tt.status, f.status, f.body)
			assert.NotEmpty(t, f.body)
			if tt.reason != "" {
				assert.Equal(t, []string{"x-corelane-reason", tt.reason}, f.meta)
			}
			p.ends()
			assert.Contains(t, s.log.String(), p.c.LocalAddr().String(), "the log names the peer")
		})
	}
}

// TestWhatIsIgnored: the connection goes on.
func TestWhatIsIgnored(t *testing.T) {
	tests := []struct {
		name string
		f    raw
	}{
		{"more of a request that is not open", raw{kind: kRequest, flags: fCont, id: 99, body: "x"}},
		{"a cancel of an unknown id", raw{kind: kCancel, id: 99}},
		{"a credit for an unknown id", raw{kind: kCredit, id: 99, body: "\x00\x00\x00\x01"}},
		{"an unknown kind of an addition", raw{kind: 100, id: 5, meta: []string{"a", "b"}, body: "later"}},
		{"an answer to a heartbeat that nobody sent", raw{kind: kHeartbeat, flags: fReply, id: 3}},
		{"a go-away", raw{kind: kGoAway, status: 500, body: "tired"}},
	}
	s := serve(t, echo)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := s.dial()
			p.send(tt.f, raw{kind: kRequest, id: 1, meta: []string{":key", "k"}, body: "still here"})
			p.want(raw{kind: kResponse, status: 200, id: 1, body: "still here"})
		})
	}
}

func TestHeartbeatsAreAnswered(t *testing.T) {
	p := serve(t, echo).dial()
	p.send(raw{kind: kHeartbeat, id: 77})
	p.want(raw{kind: kHeartbeat, flags: fReply, id: 77})
}

// TestAnySplit: a message is the same however its bytes come.
func TestAnySplit(t *testing.T) {
	s := serve(t, func(_ context.Context, r *frame.Request, w *frame.Responder) error {
		b, err := r.Body.Bytes()
		w.Metadata.Add("trailer", r.Body.Trailers().Get("t"))
		return errors.Join(err, w.Reply(b))
	}, inline)
	p := s.dial()
	for id := uint64(1); id < 200; id += 2 {
		b := raw{kind: kRequest, id: id, meta: []string{":key", "k"}, body: "whole"}.bytes()
		b = append(b, raw{kind: kRequest, flags: fMore, id: id + 1, meta: []string{":key", "k"}, body: "pie"}.bytes()...)
		b = append(b, raw{kind: kRequest, flags: fCont, id: id + 1, meta: []string{"t", "end"}, body: "ces"}.bytes()...)
		at := int(id) % len(b)
		p.sendBytes(b[:at])
		p.send() // nothing, on its own
		p.sendBytes(b[at:])
		got := map[uint64]raw{}
		for range 2 {
			f := p.next()
			got[f.id] = f
		}
		assert.Equal(t, raw{kResponse, 0, 200, id, []string{"trailer", ""}, "whole"}, got[id])
		assert.Equal(t, raw{kResponse, 0, 200, id + 1, []string{"trailer", "end"}, "pieces"}, got[id+1])
	}
}

func TestErrorsOfHandlers(t *testing.T) {
	tests := []struct {
		name   string
		h      frame.HandlerFunc
		status int
		body   string
		logged string
	}{
		{"a status", func(context.Context, *frame.Request, *frame.Responder) error {
			return frame.Errorf(409, "%d is taken", 7)
		}, 409, "7 is taken", "call=\"key"},
		{"an error tells nothing to strangers", func(context.Context, *frame.Request, *frame.Responder) error { return errors.New("secret") }, 500, "the handler failed", "secret"},
		{"a panic", func(context.Context, *frame.Request, *frame.Responder) error { panic("boom") }, 500, "the handler failed", "boom"},
		{"a deadline", func(context.Context, *frame.Request, *frame.Responder) error { return context.DeadlineExceeded }, 504, "the deadline of the request has passed", ""},
		{"a status that is none", func(_ context.Context, _ *frame.Request, w *frame.Responder) error {
			w.Status = 99
			return nil
		}, 500, "the handler failed", "200 to 599"},
		{"metadata that is none", func(_ context.Context, _ *frame.Request, w *frame.Responder) error {
			w.Metadata.Add("a b", "c")
			return nil
		}, 500, "the handler failed", "invalid"},
		{"a body where none may be", func(_ context.Context, _ *frame.Request, w *frame.Responder) error {
			w.Status = 204
			return w.Reply([]byte("x"))
		}, 500, "the handler failed", "no body"},
		{"a value that is too long", func(_ context.Context, _ *frame.Request, w *frame.Responder) error {
			w.Metadata.Add("a", strings.Repeat("x", 1<<16))
			return nil
		}, 500, "the handler failed", "over the limit"},
	}
	for _, tt := range tests {
		for _, change := range []func(*frame.Server){inline, func(*frame.Server) {}} {
			t.Run(tt.name, func(t *testing.T) {
				s := serve(t, tt.h, change)
				p := s.dial()
				p.send(raw{kind: kRequest, id: 1, meta: []string{":key", "k"}})
				f := p.next()
				assert.Equal(t, tt.status, f.status)
				assert.Equal(t, tt.body, f.body)
				assert.Contains(t, s.log.String(), tt.logged)
			})
		}
	}
}
