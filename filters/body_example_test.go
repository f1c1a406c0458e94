package filters_test

import (
	"hash/crc32"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/filters/filtertest"
)

// What follows up to the tests are the examples of docs/filters.md, whole.

// Footer puts a line behind every page.
type Footer struct {
	// Text is the line.
	Text string `yaml:"text"`
}

// OnResponse says, before the head is sent, that its length will not hold.
func (f *Footer) OnResponse(ctx *filters.Context) filters.Verdict {
	ctx.BodyChanges()
	ctx.Response.Del("ETag")
	return filters.Continue
}

// OnResponseBody leaves all pieces as they are and adds a tail to the last.
func (f *Footer) OnResponseBody(ctx *filters.Context, piece []byte, last bool) {
	if last {
		ctx.ReplaceBody(append(append([]byte(nil), piece...), f.Text...))
	}
}

// Checksum lets requests through whose body has the CRC-32 that they name.
type Checksum struct{}

// OnRequest asks for the body of requests that name one.
func (Checksum) OnRequest(ctx *filters.Context) filters.Verdict {
	if ctx.Request.GetName("X-CRC") != nil {
		ctx.HoldBody()
	}
	return filters.Continue
}

// OnWholeRequest reads the body before an upstream is chosen.
func (Checksum) OnWholeRequest(ctx *filters.Context, body filters.Body) filters.Verdict {
	sum := uint32(0)
	for n := int64(0); n < body.Len(); {
		piece := body.At(n)
		sum = crc32.Update(sum, crc32.IEEETable, piece)
		n += int64(len(piece))
	}
	if strconv.FormatUint(uint64(sum), 16) != string(ctx.Request.GetName("X-CRC")) {
		return ctx.Fail(codec.BadRequest, "the checksum is wrong")
	}
	return filters.Continue
}

func TestFooter(t *testing.T) {
	for _, tt := range []struct {
		pieces []string
		want   string
	}{{nil, "bye"}, {[]string{"a"}, "abye"}, {[]string{"a", "b"}, "abbye"}} {
		x := get(t)
		x.NewResponse("HTTP/1.1 200 OK", "Content-Length: 9", "ETag: x")
		chain := chainOf(&Footer{Text: "bye"})
		chain.Response(&x.Context, 0)
		got, _ := x.SendResponseBody(chain, tt.pieces...)
		assert.Equal(t, tt.want, got)
		assert.NotContains(t, filtertest.Fields(x.Response), "ETag: x")
	}
}

func TestChecksum(t *testing.T) {
	for _, tt := range []struct {
		crc  string
		want filters.Verdict
	}{{"3610a686", filters.Continue}, {"0", filters.Respond}} {
		x := filtertest.New(t, "POST / HTTP/1.1", "Host: a.example", "Content-Length: 5", "X-CRC: "+tt.crc)
		chainOf(Checksum{}).Request(&x.Context, 0)
		assert.Equal(t, tt.want, x.SendWholeBody("he", "llo"))
	}
	x := get(t)
	chainOf(Checksum{}).Request(&x.Context, 0)
	holds, _ := x.Holds()
	assert.False(t, holds, "nobody asked")
}

// TestBodiesAreInTheDocumentation keeps docs/filters.md the same as this file.
func TestBodiesAreInTheDocumentation(t *testing.T) {
	source, page := read(t, "body_example_test.go"), read(t, "../docs/filters.md")
	example := between(t, source, "// Footer puts", "func TestFooter(")
	require.True(t, strings.Contains(page, strings.TrimSpace(example)), "copy the examples from here to there")
}
