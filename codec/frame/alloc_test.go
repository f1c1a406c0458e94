package frame

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
)

// usual is a request as services send it.
func usual(id uint64) string {
	return frame(Header{Kind: Request, ID: id}, metadata(
		":interface", "com.example.Order", ":method", "find", ":version", "1.0.0", ":authority", "orders", ":timeout", "3000",
		"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "content-type", "application/json", "x-tenant", "a",
	), strings.Repeat("x", 128))
}

// inFrames is a request in three frames with trailers.
func inFrames(id uint64) string {
	return frame(Header{Kind: Request, Flags: More | Zstd, ID: id}, metadata(":path", "/a/b?c", ":verb", "PUT", "x-tenant", "a"), "x") +
		frame(Header{Kind: Request, Flags: Continues | More, ID: id}, nil, "y") +
		frame(Header{Kind: Request, Flags: Continues, ID: id}, metadata("x-sum", "1"), "z")
}

func usualResponse(id uint64) string {
	return frame(Header{Kind: Response, Status: 200, ID: id}, metadata("content-type", "application/json", "server", "orders"), strings.Repeat("x", 128))
}

func TestDecodingDoesNotAllocate(t *testing.T) {
	assert.Zero(t, requests.Allocations(t, []byte(usual(1))), "request")
	assert.Zero(t, requests.Allocations(t, []byte(inFrames(1)+frame(Header{Kind: OneWay, ID: 2}, metadata(":key", "a"), ""))), "requests in frames")
	assert.Zero(t, responses.Allocations(t, []byte(usualResponse(1)+string(AppendCredit(nil, 1, 5)))), "response")
	p := Protocol{}.NewDecoder(codec.Requests, requests.Limits)
	wire := []byte(inFrames(1))
	var e codec.Event
	var h codec.Head
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		for i := 0; i < len(wire); {
			n, err := p.Next(wire[i:i+1], &e)
			if err != nil {
				t.Fatal(err)
			}
			if i += n; e.Kind == codec.MessageBegin || e.Kind == codec.MessageTrailers {
				h.Reset()
				e.Head = &h
			}
		}
	}), "byte by byte")
}

func TestEncodingDoesNotAllocate(t *testing.T) {
	var dst, tail []byte
	all := requests.Decode(t, []byte(usual(1)+inFrames(2))).Messages
	p := codec.Piece{ID: 9, Body: all[0].Body, Last: true}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		for _, m := range all {
			p.Head, p.Trailers, p.Tail, p.Timeout = m.Head, m.Trailers, tail[:0], 2500
			var err error
			if dst, err = (Protocol{}).Encode(dst[:0], &p); err != nil {
				t.Fatal(err)
			}
			tail = p.Tail
		}
	}))
	require.NotEmpty(t, tail)

	f := codec.Failure{ID: 1, Status: 503, Reason: codec.Overloaded, Message: []byte("too \"much\""), Request: all[0].Head}
	c := codec.Control{Kind: codec.Cancel, ID: 1, Reason: codec.TotalTimeout, Detail: "too late"}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		dst = Protocol{}.AppendFailure(dst[:0], &f)
		dst = Protocol{}.AppendControl(dst, &c)
	}))
}

func benchmarkDecode(b *testing.B, role codec.Role, wire string) {
	d := Protocol{}.NewDecoder(role, codec.MessageLimits{Head: 64 << 10, HeadFields: 200, Body: 1 << 20})
	in := []byte(wire)
	var e codec.Event
	var h codec.Head
	b.ReportAllocs()
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		for rest := in; ; {
			n, err := d.Next(rest, &e)
			if err != nil {
				b.Fatal(err)
			}
			if rest = rest[n:]; e.Kind == codec.NeedMore {
				break
			}
			if e.Kind == codec.MessageBegin {
				h.Reset()
				e.Head = &h
			}
		}
	}
}

func BenchmarkDecodeRequest(b *testing.B)  { benchmarkDecode(b, codec.Requests, usual(1)) }
func BenchmarkDecodeResponse(b *testing.B) { benchmarkDecode(b, codec.Responses, usualResponse(1)) }

func BenchmarkEncodeRequest(b *testing.B) {
	m := requests.Decode(b, []byte(usual(1))).Messages[0]
	p := codec.Piece{ID: 9, Head: m.Head, Last: true, Native: true, Timeout: 2500}
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		p.Body = m.Body
		var err error
		if dst, err = (Protocol{}).Encode(dst[:0], &p); err != nil {
			b.Fatal(err)
		}
	}
}
