package http1

import (
	"testing"

	"github.com/corelane/corelane/codec"
)

// tenFields is a request as a browser sends it: ten fields.
const tenFields = "GET /api/v1/orders/12345?expand=items&lang=en HTTP/1.1\r\n" +
	"Host: shop.example.com\r\n" +
	"User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\n" +
	"Accept: text/html,application/json;q=0.9,*/*;q=0.8\r\n" +
	"Accept-Language: en-GB,en;q=0.5\r\n" +
	"Accept-Encoding: gzip, deflate, br\r\n" +
	"Referer: https://shop.example.com/orders\r\n" +
	"Cookie: session=0123456789abcdef; theme=dark\r\n" +
	"Connection: keep-alive\r\n" +
	"X-Request-Id: 7f9c2ba4e88f827d616045507605853e\r\n" +
	"Cache-Control: no-cache\r\n" +
	"\r\n"

// wrkRequest is what wrk sends.
const wrkRequest = "GET /echo HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"

const smallResponse = "HTTP/1.1 200 OK\r\n" +
	"Server: origin\r\n" +
	"Date: Mon, 02 Jan 2006 15:04:05 GMT\r\n" +
	"Content-Type: application/json\r\n" +
	"Content-Length: 128\r\n" +
	"\r\n"

func benchmarkRequest(b *testing.B, wire string) {
	var d Decoder
	var h codec.Head
	in := []byte(wire)
	lim := &Limits{RequestLine: 8 << 10, Headers: 64 << 10, HeaderCount: 200}
	b.ReportAllocs()
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		if _, done, err := d.Request(&h, in, lim); !done || err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRequestTenFields(b *testing.B) { benchmarkRequest(b, tenFields) }
func BenchmarkRequestWrk(b *testing.B)       { benchmarkRequest(b, wrkRequest) }

func BenchmarkResponse(b *testing.B) {
	var d Decoder
	var h codec.Head
	in := []byte(smallResponse)
	b.ReportAllocs()
	for b.Loop() {
		if _, done, err := d.Response(&h, in, nil, codec.GET); !done || err != nil {
			b.Fatal(err)
		}
	}
}

func decodeRequest(tb testing.TB, wire string) *codec.Head {
	tb.Helper()
	var d Decoder
	h := new(codec.Head)
	if _, done, err := d.Request(h, []byte(wire), nil); !done || err != nil {
		tb.Fatal(done, err)
	}
	return h
}

func BenchmarkAppendRequest(b *testing.B) {
	h := decodeRequest(b, tenFields)
	h.DropHopByHop(false)
	h.AddString("X-Forwarded-For", "10.1.2.3")
	h.AddString("X-Forwarded-Proto", "http")
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		out = AppendRequest(out[:0], h)
	}
}

func BenchmarkAppendResponse(b *testing.B) {
	var d Decoder
	var h codec.Head
	if _, _, err := d.Response(&h, []byte(smallResponse), nil, codec.GET); err != nil {
		b.Fatal(err)
	}
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		out = AppendResponse(out[:0], &h, ResponseOptions{})
	}
}

// BenchmarkForward is the whole work on a request head: decode, drop, set, write.
func BenchmarkForward(b *testing.B) {
	var d Decoder
	var h codec.Head
	in, client := []byte(tenFields), []byte("10.1.2.3")
	name, proto := []byte("X-Forwarded-For"), []byte("X-Forwarded-Proto")
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := d.Request(&h, in, nil); err != nil {
			b.Fatal(err)
		}
		h.DropHopByHop(false)
		h.Set(name, client)
		h.Set(proto, in[:4])
		out = AppendRequest(out[:0], &h)
	}
}

func BenchmarkChunks(b *testing.B) {
	var d Body
	in := []byte("400\r\n" + string(make([]byte, 1024)) + "\r\n0\r\n\r\n")
	b.ReportAllocs()
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		d.Start(codec.FramingChunked, 0)
		for rest := in; !d.Done(); {
			_, n, _, err := d.Next(rest, nil)
			if err != nil {
				b.Fatal(err)
			}
			rest = rest[n:]
		}
	}
}
