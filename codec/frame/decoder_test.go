package frame

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/codec/codectest"
)

var (
	requests  = codectest.Kit{Protocol: Protocol{}, Role: codec.Requests, Limits: codec.MessageLimits{Head: 4 << 10, HeadFields: 20, Body: 1 << 20}}
	responses = codectest.Kit{Protocol: Protocol{}, Role: codec.Responses, Limits: requests.Limits}
)

// frame writes one frame.
func frame(h Header, metadata []byte, body string) string {
	h.Metadata, h.Body = uint32(len(metadata)), uint32(len(body))
	return string(AppendHeader(nil, &h)) + string(metadata) + body
}

// Frames written out by hand, one of each kind.
const (
	hexByPath = `434c 01 01 0000 0000 0000000000000001 00000035 00000005
		0005 0006 3a70617468 2f613f623d63
		0005 0003 3a76657262 505554
		0008 0002 3a74696d656f7574 3530
		0001 0001 61 62
		0001 0001 63 64
		68656c6c6f`
	hexByMethod = `434c 01 01 0004 0000 0000000000000102 00000048 00000001
		000a 0003 3a617574686f72697479 612e62
		000a 0003 3a696e74657266616365 412e42
		0007 0001 3a6d6574686f64 63
		0006 0001 3a67726f7570 67
		0008 0003 3a76657273696f6e 312e30
		28`
	hexByKey = `434c 01 03 0000 0000 0000000000000003 0000000a 00000000
		0004 0002 3a6b6579 c3a4`
	hexResponse = `434c 01 02 0001 00c9 0000000000000001 00000006 00000002
		0001 0001 61 62
		6f6b
		434c 01 02 0003 0000 0000000000000001 00000000 00000001
		21
		434c 01 02 0002 0000 0000000000000001 00000006 00000001
		0001 0001 74 75
		3f`
)

func TestRequestsByHand(t *testing.T) {
	tests := []struct{ name, hex, want string }{
		{
			"by path", hexByPath,
			"begin 1\nhead 1\ncall 0: PUT 4 \"/a?b=c\" \"/a\" \"b=c\" true \"\"\nframing 1 length 5\n" +
				"a: \"b\" ()\nc: \"d\" ()\nX-Corelane-Timeout-Ms: \"50\" (X-Corelane-Timeout-Ms)\n\n" +
				"body of 1 up to here: \"hello\"\nend 1",
		},
		{
			"by method", hexByMethod,
			"begin 258\nhead 258\ncall 1: POST 3 \"/A.B/c\" \"/A.B/c\" \"\" false \"a.b\"\nframing 1 length 1\n" +
				"Host: \"a.b\" (Host)\nX-Rpc-Group: \"g\" (X-Rpc-Group)\nX-Rpc-Version: \"1.0\" (X-Rpc-Version)\n" +
				"Content-Encoding: \"zstd\" (Content-Encoding)\n\n" +
				"body of 258 up to here: \"(\"\nend 258",
		},
		{
			"by key, one-way", hexByKey,
			"begin 3, one-way\nhead 3\ncall 2: POST 3 \"ä\" \"/%C3%A4\" \"\" false \"\"\nframing 0 length -1\n\nend 3",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := unhex(t, tt.hex)
			got := requests.Splits(t, b)
			require.Nil(t, got.Err)
			require.Equal(t, tt.want, strings.Join(got.Events, "\n"))
			requests.Truncated(t, b)
		})
	}
}

func TestResponseByHand(t *testing.T) {
	b := unhex(t, hexResponse)
	got := responses.Splits(t, b)
	require.Nil(t, got.Err)
	require.Equal(t, "begin 1\nhead 1\n201 \"Created\"\nframing 2 length -1\na: \"b\" ()\n\n"+
		"body of 1 up to here: \"ok!?\"\ntrailers of 1\nend 1\nt: \"u\" ()\n", strings.Join(got.Events, "\n"))
	responses.Truncated(t, b)
}

func TestFramings(t *testing.T) {
	ok := metadata(":path", "/")
	tests := []struct {
		name    string
		kit     codectest.Kit
		wire    string
		framing codec.Framing
		length  int64
	}{
		{"request without a body", requests, frame(Header{Kind: Request, ID: 1}, ok, ""), codec.FramingNone, -1},
		{"request", requests, frame(Header{Kind: Request, ID: 1}, ok, "abc"), codec.FramingLength, 3},
		{"request in frames", requests, frame(Header{Kind: Request, Flags: More, ID: 1}, ok, ""), codec.FramingChunked, -1},
		{"empty response", responses, frame(Header{Kind: Response, Status: 200, ID: 1}, nil, ""), codec.FramingLength, 0},
		{"204", responses, frame(Header{Kind: Response, Status: 204, ID: 1}, nil, ""), codec.FramingNone, -1},
		{"304", responses, frame(Header{Kind: Response, Status: 304, ID: 1}, nil, ""), codec.FramingNone, -1},
		{"response", responses, frame(Header{Kind: Response, Status: 599, ID: 1}, nil, "a"), codec.FramingLength, 1},
		{"response in frames", responses, frame(Header{Kind: Response, Flags: More, Status: 500, ID: 1}, nil, "a"), codec.FramingChunked, -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.kit.Splits(t, []byte(tt.wire))
			require.Nil(t, got.Err)
			h := got.Messages[0].Head
			assert.Equal(t, tt.framing, h.Framing())
			assert.Equal(t, tt.length, h.ContentLength())
			assert.True(t, h.KeepAlive())
			assert.Equal(t, 1, h.Minor())
		})
	}
}

// Frames of two messages alternate, controls and additions come between them, and
// the rest of a message that nobody knows is told as it is.
func TestInterleavedMessages(t *testing.T) {
	wire := frame(Header{Kind: Request, Flags: More, ID: 1}, metadata(":key", "a"), "1") +
		frame(Header{Kind: OneWay, Flags: More, ID: 2}, metadata(":key", "b"), "") +
		frame(Header{Kind: 100, Flags: More}, metadata("x", "y"), "later") +
		frame(Header{Kind: Request, Flags: Continues | More, ID: 1}, nil, "2") +
		frame(Header{Kind: Heartbeat, ID: 9}, nil, "") +
		frame(Header{Kind: Heartbeat, Flags: Reply, ID: 8}, nil, "") +
		frame(Header{Kind: OneWay, Flags: Continues, ID: 2}, nil, "x") +
		string(AppendCredit(nil, 1, 77)) +
		frame(Header{Kind: Request, Flags: Continues, ID: 99}, nil, "late") +
		string(AppendDetail(nil, Cancel, 1, 504, "total_timeout", "too late")) +
		string(AppendDetail(nil, GoAway, 5, 0, "", "")) +
		frame(Header{Kind: Request, Flags: Continues, ID: 1}, nil, "")
	got := requests.Splits(t, []byte(wire))
	require.Nil(t, got.Err)
	var events []string
	for _, e := range got.Events {
		e, _, _ = strings.Cut(e, "\n")
		events = append(events, e)
	}
	require.Equal(t, []string{
		"begin 1", "head 1", `body of 1 up to here: "1"`, "begin 2, one-way", "head 2", `body of 1 up to here: "12"`,
		"heartbeat 9", "heartbeat reply 8", `body of 2 up to here: "x"`, "end 2", "credit 77 of 1", `body of 99 up to here: "late"`,
		"end 99", "cancel 1", "go-away 5", "end 1",
	}, events)
	requests.Truncated(t, []byte(wire))
}

func TestSkippedMessages(t *testing.T) {
	kit := requests
	kit.Skips = true
	wire := frame(Header{Kind: Request, Flags: More, ID: 1}, metadata("no", "call"), "ab") +
		frame(Header{Kind: Request, Flags: Continues, ID: 1}, metadata("t", "u"), "c") +
		frame(Header{Kind: Request, ID: 2}, nil, "")
	got := kit.Splits(t, []byte(wire))
	require.Nil(t, got.Err)
	require.Equal(t, []string{"begin 1", `body of 1 up to here: "abc"`, "trailers of 1", "end 1", "begin 2", "end 2"}, got.Events)
}

// A receiver may give a message up while its head comes: nothing is written into
// what it took away, and the next message is whole.
func TestHeadsThatAreTakenAway(t *testing.T) {
	d := Protocol{}.NewDecoder(codec.Requests, requests.Limits)
	wire := []byte(usual(1) + usual(2))
	var e codec.Event
	var h codec.Head
	n, err := d.Next(wire[:100], &e)
	require.NoError(t, err)
	require.Equal(t, codec.MessageBegin, e.Kind)
	e.Head = &h
	_, err = d.Next(wire[n:100], &e)
	require.NoError(t, err)
	require.Equal(t, codec.NeedMore, e.Kind)
	h.Reset()
	e.Head = nil
	var kinds []codec.EventKind
	for rest := wire[100:]; ; {
		n, err := d.Next(rest, &e)
		require.NoError(t, err)
		rest = rest[n:]
		if e.Kind == codec.NeedMore {
			break
		}
		require.Empty(t, h.Bytes())
		if kinds = append(kinds, e.Kind); e.Kind == codec.MessageBegin {
			e.Head = new(codec.Head)
		}
	}
	require.Equal(t, []codec.EventKind{
		codec.MessageData, codec.MessageEnd,
		codec.MessageBegin, codec.MessageHead, codec.MessageData, codec.MessageEnd,
	}, kinds)
	require.Equal(t, "find", string(e.Head.ProcedureName()))
}

// Trailers keep what may stand there; long ones do not stay in memory.
func TestTrailers(t *testing.T) {
	first := frame(Header{Kind: Request, Flags: More, ID: 1}, metadata(":key", "a"), "")
	got := requests.Splits(t, []byte(first+frame(Header{Kind: Request, Flags: Continues, ID: 1},
		metadata("X-Sum", " 1\t", "Set-Cookie", "a=b", "connection", "close", "ETag", "e"), "body")))
	require.Nil(t, got.Err)
	require.Equal(t, "X-Sum: \"1\" ()\nETag: \"e\" (ETag)\n", codectest.DescribeFields(got.Messages[0].Trailers))
	require.Equal(t, "body", string(got.Messages[0].Body))

	d := &decoder{}
	var e codec.Event
	var h codec.Head
	for b := []byte(first + frame(Header{Kind: Request, Flags: Continues, ID: 1}, metadata("a", strings.Repeat("b", 60000)), "")); len(b) > 0; {
		n, err := d.Next(b, &e)
		require.NoError(t, err)
		b, e.Head = b[n:], &h
	}
	require.Greater(t, cap(d.held), 60000)
	for e.Kind != codec.NeedMore {
		_, err := d.Next(nil, &e)
		require.NoError(t, err)
	}
	require.Zero(t, cap(d.held))
}

func TestErrorsOfConnections(t *testing.T) {
	ok := metadata(":path", "/")
	long := metadata("a", strings.Repeat("b", 4<<10))
	many := []string{}
	for range 20 {
		many = append(many, "a", "b")
	}
	tests := []struct {
		name string
		kit  codectest.Kit
		wire string
		err  string
	}{
		{"HTTP", requests, "GET / HTTP/1.1\r\n", "bad_request: a frame does not begin with CL"},
		{"another version", requests, "CL\x02", "version_not_supported: the version of a frame is not 1"},
		{"a service that speaks HTTP", responses, "HTTP/1.1 400", "upstream_bad_response: a frame does not begin with CL"},
		{"a service of another version", responses, "CL\x02", "upstream_bad_response: the version of a frame is not 1"},
		{"kind 200", requests, frame(Header{Kind: 200}, nil, ""), "bad_request: the kind of a frame is 0 or over 127"},
		{"response from a client", requests, frame(Header{Kind: Response, Status: 200, ID: 1}, nil, ""), "bad_request: a frame of this kind travels the other way"},
		{"request from a service", responses, frame(Header{Kind: Request, ID: 1}, ok, ""), "upstream_bad_response: a frame of this kind travels the other way"},
		{"one-way request from a service", responses, frame(Header{Kind: OneWay, ID: 1}, ok, ""), "upstream_bad_response: a frame of this kind travels the other way"},
		{"long trailers", responses, frame(Header{Kind: Response, Flags: Continues, ID: 1}, long, ""), "upstream_bad_response: the metadata of a frame is over its limit"},
		{"many trailers", requests, frame(Header{Kind: Request, Flags: Continues, ID: 1}, metadata(append(many, "a", "b")...), ""), "headers_too_large: the metadata has more pairs than allowed"},
		{"pseudo name in trailers", requests, frame(Header{Kind: Request, Flags: Continues, ID: 1}, ok, ""), "bad_request: a pseudo name is not known, or not allowed here"},
		{"no credit", requests, frame(Header{Kind: Credit, ID: 1}, nil, "\x00\x00\x00\x00"), "bad_framing: a credit is 0 or over 2147483647 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.kit.Refuses(t, []byte(tt.wire), tt.err)
			tt.kit.Refuses(t, []byte(frame(Header{Kind: Heartbeat}, nil, "")+tt.wire), tt.err)
		})
	}
	d := requests.Protocol.NewDecoder(codec.Requests, requests.Limits)
	var e codec.Event
	_, err := d.Next([]byte("GET"), &e)
	require.Error(t, err)
	_, again := d.Next([]byte("CL"), &e)
	require.Equal(t, err, again, "an error is final")
}

// A message whose frame is sound and whose metadata is not goes nowhere; the
// connection goes on.
func TestRefusedMessages(t *testing.T) {
	ok := metadata(":path", "/")
	long := metadata("a", strings.Repeat("b", 4<<10))
	many := []string{}
	for range 20 {
		many = append(many, "a", "b")
	}
	tests := []struct {
		name string
		kit  codectest.Kit
		wire string
		err  string
	}{
		{"long metadata", requests, frame(Header{Kind: Request, ID: 1}, append(ok, long...), ""), "headers_too_large: the metadata of a frame is over its limit"},
		{"many pairs", requests, frame(Header{Kind: Request, ID: 1}, append(ok, metadata(many...)...), ""), "headers_too_large: the metadata has more pairs than allowed"},
		{"pseudo name in a response", responses, frame(Header{Kind: Response, Status: 200, ID: 1}, ok, ""), "upstream_bad_response: a pseudo name is not known, or not allowed here"},
		{"no call", requests, frame(Header{Kind: Request, ID: 1}, nil, "a"), "bad_request: a request has no :path, no :interface with :method and no :key"},
		{"no name", requests, frame(Header{Kind: Request, ID: 1}, metadata(":interface", "a/b", ":method", "c"), ""), "bad_request: the interface or the method is not a name"},
		{"lying pair", requests, frame(Header{Kind: Request, ID: 1}, append(ok, 0, 1, 0xff, 0xff), ""), "bad_request: a pair of the metadata runs beyond its end"},
		{"zstd twice", requests, frame(Header{Kind: Request, Flags: Zstd, ID: 1}, append(ok, metadata("content-encoding", "gzip")...), ""), "bad_request: the flag ZSTD and Content-Encoding stand together"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, 7, 1 << 20} {
				next := frame(Header{Kind: Response, Status: 200, ID: 2}, nil, "")
				if tt.kit.Role == codec.Requests {
					next = usual(2)
				}
				require.Equal(t, []string{tt.err, "whole"}, verdicts(t, tt.kit, tt.wire+next, size))
			}
		})
	}
}

// verdicts are what became of each message, given in pieces of that size.
func verdicts(t *testing.T, kit codectest.Kit, wire string, size int) (all []string) {
	d := kit.Protocol.NewDecoder(kit.Role, kit.Limits)
	var e codec.Event
	var h codec.Head
	for b := []byte(wire); len(b) > 0; {
		piece := b[:min(size, len(b))]
		for {
			n, err := d.Next(piece, &e)
			require.NoError(t, err)
			piece, b = piece[n:], b[n:]
			switch {
			case e.Kind == codec.MessageBegin:
				h.Reset()
				e.Head = &h
			case e.Kind == codec.MessageHead && e.Refused != nil:
				require.Zero(t, h.Len())
				all = append(all, e.Refused.Error())
			case e.Kind == codec.MessageHead:
				all = append(all, "whole")
			}
			if e.Kind == codec.NeedMore {
				break
			}
		}
	}
	return all
}

// Without limits of its own a decoder has those of the protocol.
func TestHardLimits(t *testing.T) {
	kit := codectest.Kit{Protocol: Protocol{}}
	many := append(metadata(":path", "/"), metadata(strings.Split(strings.Repeat("a,b,", MaxPairs-1), ",")[:2*MaxPairs-2]...)...)
	got := kit.Decode(t, []byte(frame(Header{Kind: Request, ID: 1}, many, "")))
	require.Nil(t, got.Err)
	require.Equal(t, MaxPairs-1, got.Messages[0].Head.Len())
	got = kit.Decode(t, []byte(frame(Header{Kind: Request, ID: 1}, append(many, metadata("a", "b")...), "")))
	require.Error(t, got.Err)
}

// Whatever a header announces costs nothing until it comes.
func TestLyingLengthsAreCheap(t *testing.T) {
	kit := codectest.Kit{Protocol: Protocol{}}
	for name, h := range map[string]Header{
		"metadata": {Kind: Request, ID: 1, Metadata: MaxMetadata, Body: MaxBody},
		"body":     {Kind: Request, Flags: Continues, ID: 1, Body: MaxBody},
		"trailers": {Kind: Request, Flags: Continues, ID: 1, Metadata: MaxMetadata, Body: MaxBody},
		"addition": {Kind: 50, Metadata: MaxMetadata, Body: MaxBody},
	} {
		t.Run(name, func(t *testing.T) {
			kit.Cheap(t, append(AppendHeader(nil, &h), "some"...), 16<<10)
		})
	}
}

func TestAnySplitOfAnyFrames(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		tb := rapidTB{t, r}
		var wire []byte
		for id := range rapid.Uint64Range(1, 4).Draw(r, "messages") {
			wire = append(wire, drawMessage(r, id+1)...)
		}
		got := requests.Pieces(tb, wire, rapid.Uint16().Draw(r, "i"), rapid.Uint16().Draw(r, "j"))
		require.Nil(r, got.Err)
		requests.RoundTrip(tb, wire)
	})
}

// rapidTB lets a kit report to rapid, which then looks for a smaller case.
type rapidTB struct {
	testing.TB
	r *rapid.T
}

func (tb rapidTB) Helper()                      {}
func (tb rapidTB) Fatal(args ...any)            { tb.r.Fatal(args...) }
func (tb rapidTB) Fatalf(f string, args ...any) { tb.r.Fatalf(f, args...) }

// drawMessage draws a request in one to three frames.
func drawMessage(r *rapid.T, id uint64) string {
	call := rapid.SampledFrom([][]byte{
		metadata(":path", "/a?b"), metadata(":path", "*", ":verb", "OPTIONS", ":authority", "a:1"),
		metadata(":timeout", "7", ":interface", "a.B", ":method", "c", ":version", "1"), metadata(":key", "k"),
	}).Draw(r, "call")
	field := rapid.Map(rapid.StringMatching(`x-[a-z]{1,9}`), func(name string) []byte {
		return metadata(name, strings.ToUpper(name))
	})
	fields := func(label string) (all []byte) {
		for _, f := range rapid.SliceOfN(field, 0, 4).Draw(r, label) {
			all = append(all, f...)
		}
		return all
	}
	kind := rapid.SampledFrom([]Kind{Request, OneWay}).Draw(r, "kind")
	body := rapid.StringN(0, 20, 20)
	h := Header{Kind: kind, ID: id, Flags: rapid.SampledFrom([]Flags{0, Zstd}).Draw(r, "zstd")}
	first := append(call, fields("fields")...)
	frames := rapid.IntRange(0, 2).Draw(r, "frames")
	if frames == 0 {
		h.Flags = 0
		return frame(h, first, body.Draw(r, "body"))
	}
	h.Flags |= More
	wire := frame(h, first, body.Draw(r, "body"))
	for h.Flags = Continues | More; frames > 1; frames-- {
		wire += frame(h, nil, body.Draw(r, "more"))
	}
	h.Flags = Continues
	return wire + frame(h, fields("trailers"), body.Draw(r, "last"))
}
