package http1

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
)

func TestForwardingDoesNotAllocate(t *testing.T) {
	var d Decoder
	var h codec.Head
	var out []byte
	in := []byte(tenFields)
	name, client := []byte("X-Forwarded-For"), []byte("10.1.2.3")
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if _, done, err := d.Request(&h, in, nil); !done || err != nil {
			t.Fatal(err)
		}
		h.DropHopByHop(false)
		h.Set(name, client)
		h.AddString("X-Forwarded-Proto", "http")
		h.SetPath(client)
		h.SetAuthority(client)
		out = AppendRequest(out[:0], &h)
	}), "request")

	in = []byte(smallResponse)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if _, done, err := d.Response(&h, in, nil, codec.GET); !done || err != nil {
			t.Fatal(err)
		}
		h.DropHopByHop(false)
		out = AppendResponse(out[:0], &h, ResponseOptions{Close: true})
	}), "response")
}

func TestPiecesAndErrorsDoNotAllocate(t *testing.T) {
	var d Decoder
	var h codec.Head
	in, bad := []byte(tenFields), []byte("GET / HTTP/1.1\r\nX : 1\r\n\r\n")
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		for i := range in {
			if _, _, err := d.Request(&h, in[i:i+1], nil); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := d.Request(&h, bad, nil); err == nil {
			t.Fatal("accepted")
		}
		d.Reset()
	}))
}

func TestChunksDoNotAllocate(t *testing.T) {
	var d Body
	var trailers codec.Head
	var out []byte
	in := []byte("5;a=b\r\nhello\r\n1\r\n!\r\n0\r\nX-Sum: 1\r\n\r\n")
	for _, into := range []*codec.Head{nil, &trailers} {
		assert.Zero(t, testing.AllocsPerRun(100, func() {
			d.Start(codec.FramingChunked, 0)
			out = out[:0]
			for rest := in; !d.Done(); {
				data, n, _, err := d.Next(rest, into)
				if err != nil {
					t.Fatal(err)
				}
				out = append(AppendChunk(out, len(data)), data...)
				rest = rest[n:]
			}
			out = AppendLastChunk(out, into)
		}))
	}
	require.NotEmpty(t, out)
}
