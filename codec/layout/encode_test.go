package layout

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
)

// decoded returns the head of a frame.
func decoded(t testing.TB, p *Protocol, r codec.Role, frame []byte) *codec.Head {
	t.Helper()
	d := p.NewDecoder(r, limits)
	h, e := new(codec.Head), codec.Event{}
	h.Reset()
	_, err := d.Next(frame, &e)
	require.NoError(t, err)
	e.Head = h
	_, err = d.Next(frame, &e)
	require.NoError(t, err)
	require.Equal(t, codec.MessageHead, e.Kind)
	return h
}

func TestANativeMessageKeepsItsHeaderButForTheID(t *testing.T) {
	p, in := mustNew(t, withIDs()), unhex(t, request)
	in[3] = 0x55 // something that no layout speaks of
	h := decoded(t, p, codec.Requests, in)
	h.AddString("X-Added", "by a filter")
	body := in[16:]
	out, err := p.Encode([]byte("before"), &codec.Piece{ID: 99, Head: h, Body: body, Last: true, Native: true})
	require.NoError(t, err)
	require.Equal(t, "before", string(out[:6]))
	require.Equal(t, unhex(t, "dabb c2 55 0000000000000063 0000000b"), out[6:])
}

// foreign is a head of another protocol.
func foreign(path string) *codec.Head {
	h := new(codec.Head)
	h.Reset()
	h.SetMethod([]byte("POST"))
	h.SetPath([]byte(path))
	return h
}

func answer(status int) *codec.Head {
	h := new(codec.Head)
	h.Reset()
	h.SetStatus(status)
	return h
}

func TestMessagesOfOtherProtocols(t *testing.T) {
	call := foreign("/")
	call.SetKeyCall([]byte("a b/\xff"))
	noFailure := withIDs()
	noFailure.Failure = nil
	plainFailure := withIDs()
	plainFailure.Failure.Kind = nil
	small := withIDs()
	small.Length.Max = 20
	narrow := odd(KeyInteger, 1)
	narrow.Length.Width = 1
	narrow.Length.Max = 64
	tests := []struct {
		name   string
		layout Layout
		piece  codec.Piece
		want   string
		err    string
	}{
		{"a request", withIDs(), codec.Piece{ID: 1, Head: foreign("/orders"), Body: []byte("xyz")}, "dabb c2 00 0000000000000001 00000003", ""},
		{"one-way", withIDs(), codec.Piece{ID: 1, Head: foreign("/"), OneWay: true}, "dabb 82 00 0000000000000001 00000000", ""},
		{"one-way where there is none", least(), codec.Piece{Head: foreign("/"), OneWay: true}, "", "without a response"},
		{"a response", withIDs(), codec.Piece{Role: codec.Responses, ID: 2, Head: answer(201)}, "dabb 02 00 0000000000000002 00000000", ""},
		{"a failed response", withIDs(), codec.Piece{Role: codec.Responses, ID: 2, Head: answer(404)}, "dabb 03 46 0000000000000002 00000000", ""},
		{"a failed response, no kind", plainFailure, codec.Piece{Role: codec.Responses, ID: 2, Head: answer(404)}, "dabb 02 46 0000000000000002 00000000", ""},
		{"a failed response that cannot be said", noFailure, codec.Piece{Role: codec.Responses, ID: 2, Head: answer(404)}, "", "no words"},
		{"a status", odd(KeyBytes, 8), codec.Piece{Role: codec.Responses, Head: answer(503)}, "58 100000 0000 f701 0000000000000000", ""},
		{"counts the rest", withoutIDs(), codec.Piece{Head: foreign("/"), Body: []byte("xy")}, "00000006 00000001", ""},
		{"a key of bytes", odd(KeyBytes, 4), codec.Piece{Head: call}, "58 100000 0000 0000 6120622f 00000000", "longer"},
		{"a key of more bytes", odd(KeyBytes, 8), codec.Piece{Head: call}, "58 100000 0000 0000 6120622fff 000000", ""},
		{"a key with an escape", odd(KeyBytes, 8), codec.Piece{Head: foreign("/a%2Fb")}, "58 100000 0000 0000 612f62 0000000000", ""},
		{"a bad escape", odd(KeyBytes, 8), codec.Piece{Head: foreign("/a%2")}, "", "escape"},
		{"another bad escape", odd(KeyBytes, 8), codec.Piece{Head: foreign("/a%2g")}, "", "escape"},
		{"an integer key", odd(KeyInteger, 2), codec.Piece{Head: foreign("/65535")}, "58 100000 0000 0000 ffff 000000000000", ""},
		{"an integer key that does not fit", odd(KeyInteger, 2), codec.Piece{Head: foreign("/65536")}, "", "integer"},
		{"an integer key of letters", odd(KeyInteger, 8), codec.Piece{Head: foreign("/x")}, "", "integer"},
		{"no integer key", odd(KeyInteger, 8), codec.Piece{Head: foreign("/")}, "", "integer"},
		{"an id that does not fit", odd(KeyBytes, 8), codec.Piece{ID: 1 << 16, Head: foreign("/")}, "", "wider"},
		{"a body over the limit", small, codec.Piece{Head: foreign("/"), Body: make([]byte, 5)}, "", "longer"},
		{"no head", least(), codec.Piece{}, "", "head"},
		{"a body that the length cannot say", least(), codec.Piece{Head: foreign("/"), Body: make([]byte, 256)}, "", "longer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.piece.Last = true
			out, err := mustNew(t, tt.layout).Encode([]byte("b"), &tt.piece)
			if tt.err != "" {
				var fault *codec.Error
				require.ErrorAs(t, err, &fault)
				require.Contains(t, fault.Detail, tt.err)
				require.Equal(t, "b", string(out), "nothing is left of it")
				return
			}
			require.NoError(t, err)
			require.Equal(t, unhex(t, "62"+tt.want), out)
		})
	}
}

func TestHeadersOfAnotherLayoutAreNotSent(t *testing.T) {
	h := decoded(t, mustNew(t, withoutIDs()), codec.Requests, unhex(t, thriftCall))
	out, err := mustNew(t, withIDs()).Encode(nil, &codec.Piece{ID: 1, Head: h, Last: true})
	require.NoError(t, err)
	require.Equal(t, unhex(t, "dabb c2 00 0000000000000001 00000000"), out)
}

func TestHeartbeats(t *testing.T) {
	p := mustNew(t, withIDs())
	require.Equal(t, codec.Traits{IDBits: 64, Heartbeats: true}, p.Traits())
	require.Equal(t, unhex(t, "dabb e2 00 0000000000000005 00000000"), p.AppendControl(nil, &codec.Control{Kind: codec.Heartbeat, ID: 5}))
	require.Equal(t, unhex(t, "dabb 22 00 0000000000000005 00000000"), p.AppendControl(nil, &codec.Control{Kind: codec.HeartbeatReply, ID: 5}))
	require.Empty(t, p.AppendControl(nil, &codec.Control{Kind: codec.Cancel, ID: 5}))

	l := withIDs()
	l.Kind.HeartbeatReply = nil
	p = mustNew(t, l)
	require.False(t, p.Traits().Heartbeats, "nobody would answer")
	require.Empty(t, p.AppendControl(nil, &codec.Control{Kind: codec.HeartbeatReply, ID: 5}))

	p = mustNew(t, odd(KeyBytes, 8))
	require.Equal(t, codec.Traits{IDBits: 16}, p.Traits())
	require.Empty(t, p.AppendControl(nil, &codec.Control{Kind: codec.Heartbeat, ID: 5}))
	require.Zero(t, mustNew(t, withoutIDs()).Traits())

	l = withIDs()
	l.ID.Width = 1
	require.Empty(t, mustNew(t, l).AppendControl(nil, &codec.Control{Kind: codec.Heartbeat, ID: 256}), "the id does not fit")
	require.Equal(t, "layout:test", p.Name())
}

func TestFailures(t *testing.T) {
	f := codec.Failure{ID: 7, Status: 404, Reason: codec.RouteNotFound, Message: []byte("no such route"), TraceID: []byte("t1")}
	p := mustNew(t, withIDs())
	text := "404 route_not_found: no such route (t1)"
	require.Equal(t, append(unhex(t, "dabb 03 46 0000000000000007 00000027"), text...), p.AppendFailure(nil, &f))

	l := odd(KeyBytes, 8)
	p = mustNew(t, l)
	f.Request = decoded(t, p, codec.Requests, unhex(t, oddFrame))
	text = `{"error":"route_not_found"}`
	require.Equal(t, append(unhex(t, "58 2b0000 0700 9401 6162000000000000"), text...), p.AppendFailure(nil, &f), "the header is echoed")
	f.Request = answer(200)
	require.Equal(t, append(unhex(t, "58 2b0000 0700 9401 0000000000000000"), text...), p.AppendFailure(nil, &f), "there is nothing to echo")

	l.Length.Max = 20
	require.Equal(t, append(unhex(t, "58 140000 0700 9401 0000000000000000"), text[:4]...), mustNew(t, l).AppendFailure(nil, &f), "what fits is sent")

	f.ID = 1 << 20
	require.Empty(t, p.AppendFailure(nil, &f), "an id that cannot be said")
	require.Empty(t, mustNew(t, withoutIDs()).AppendFailure(nil, &f), "no reply is described")
}

func TestTheHotPathDoesNotAllocate(t *testing.T) {
	p := mustNew(t, withIDs())
	requests, responses := p.NewDecoder(codec.Requests, limits), p.NewDecoder(codec.Responses, limits)
	var h codec.Head
	var out []byte
	var e codec.Event
	var piece codec.Piece
	once := func(d codec.Decoder, r codec.Role, in []byte) {
		e, piece = codec.Event{}, codec.Piece{Role: r, ID: 3, Head: &h, Native: true, Last: true}
		for e.Kind != codec.MessageEnd {
			n, err := d.Next(in, &e)
			if err != nil {
				t.Fatal(err)
			}
			in = in[n:]
			switch e.Kind {
			case codec.MessageBegin:
				h.Reset()
				e.Head = &h
			case codec.MessageData:
				piece.Body = e.Data
			}
		}
		out, _ = p.Encode(out[:0], &piece)
	}
	in, back := unhex(t, request), unhex(t, response)
	require.Zero(t, testing.AllocsPerRun(100, func() { once(requests, codec.Requests, in) }), "request")
	require.Zero(t, testing.AllocsPerRun(100, func() { once(responses, codec.Responses, back) }), "response")
	f := codec.Failure{ID: 7, Status: 404, Reason: codec.RouteNotFound, Request: &h}
	require.Zero(t, testing.AllocsPerRun(100, func() { out = p.AppendFailure(out[:0], &f) }), "failure")
}

func BenchmarkRequest(b *testing.B) {
	p, in := mustNew(b, withIDs()), unhex(b, request)
	d := p.NewDecoder(codec.Requests, limits)
	var h codec.Head
	var out []byte
	var e codec.Event
	b.ReportAllocs()
	for b.Loop() {
		h.Reset()
		_, _ = d.Next(in, &e)
		e.Head = &h
		_, _ = d.Next(in, &e)
		_, _ = d.Next(in, &e)
		out, _ = p.Encode(out[:0], &codec.Piece{ID: 3, Head: &h, Body: e.Data, Native: true, Last: true})
		_, _ = d.Next(nil, &e)
	}
}
