package http1

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
)

// bodyOutcome is everything a Body said about some bytes.
type bodyOutcome struct {
	data     string
	trailers string
	consumed int
	done     bool
	reason   codec.Reason
	detail   string
}

// readBody feeds the pieces one after the other, the way its callers do.
func readBody(f codec.Framing, n int64, pieces ...[]byte) bodyOutcome {
	var d Body
	var o bodyOutcome
	trailers := new(codec.Head)
	d.Start(f, n)
	for _, p := range pieces {
		piece := append([]byte(nil), p...)
		for rest := piece; len(rest) > 0 && !d.Done(); {
			data, n, _, err := d.Next(rest, trailers)
			if err != nil {
				var e *codec.Error
				errors.As(err, &e)
				return bodyOutcome{data: o.data, reason: e.Reason, detail: e.Detail}
			}
			o.data += string(data)
			o.consumed += n
			rest = rest[n:]
		}
		for i := range piece {
			piece[i] = 0xee
		}
	}
	o.done = d.Done()
	o.trailers = describeFields(trailers)
	return o
}

func checkBodySplits(tb testing.TB, f codec.Framing, n int64, wire string) bodyOutcome {
	tb.Helper()
	b := []byte(wire)
	whole := readBody(f, n, b)
	for i := range b {
		require.Equal(tb, whole, readBody(f, n, b[:i], b[i:]), "split at %d of %q", i, wire)
	}
	single := make([][]byte, len(b))
	for i := range b {
		single[i] = b[i : i+1]
	}
	require.Equal(tb, whole, readBody(f, n, single...), "byte by byte: %q", wire)
	return whole
}

func TestChunkedBodies(t *testing.T) {
	for _, c := range []struct{ wire, data, trailers string }{
		{"0\r\n\r\n", "", ""},
		{"5\r\nhello\r\n0\r\n\r\n", "hello", ""},
		{"005\r\nhello\r\n1\r\n!\r\n000\r\n\r\n", "hello!", ""},
		{"A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789", ""},
		{"5;a\r\nhello\r\n0;b=c\r\n\r\n", "hello", ""},
		{"5 \t;a=\"x;\\\"\xe9\ty\"; b\r\nhello\r\n0\r\n\r\n", "hello", ""},
		{"7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n", "\r\n0\r\n\r\n", ""},
		{"0\r\nETag: x\r\nX-Sum:1\r\n\r\n", "", "ETag: \"x\" (ETag, first 0)\nX-Sum: \"1\" (, first -1)\n"},
		{"0\r\nHost: a\r\nContent-Length: x\r\nTransfer-Encoding: y\r\nAuthorization: b\r\nX: 1\r\n\r\n", "", "X: \"1\" (, first -1)\n"},
	} {
		o := checkBodySplits(t, codec.FramingChunked, 0, c.wire)
		assert.Equal(t, bodyOutcome{data: c.data, trailers: c.trailers, consumed: len(c.wire), done: true}, o, "%q", c.wire)
		more := readBody(codec.FramingChunked, 0, []byte(c.wire+"GET"))
		assert.Equal(t, len(c.wire), more.consumed, "what follows is not part of the body")
	}
}

func TestBadChunks(t *testing.T) {
	for _, wire := range []string{
		"\r\n", "zz\r\n", "0x5\r\n", "-1\r\n", "+1\r\n", " 5\r\n", "g\r\n", "5\n", "5\rx", "5 \r\n", "5 x\r\n", "5x\r\n", ";a\r\n",
		"1000000000000000\r\n", "0000000000000001\r\n", "ffffffffffffffff\r\n", "5;a\x00\r\n", "5;a\n", "5;a\rb\r\n", "5;\x7f\r\n",
		"5;\"a\r\n", "5;\"\x01\"\r\n", "5\r\nhelloX", "5\r\nhello\rX", "5\r\nhello\n", "5\r\nhello\r\n\r\n", "5, 5\r\n",
		"5;" + strings.Repeat("a", maxExtension) + "\r\n", "5" + strings.Repeat(" ", maxExtension+1) + ";\r\n",
		"0\r\n\n", "0\r\nX: 1\n\r\n", "0\r\nX : 1\r\n\r\n", "0\r\n X: 1\r\n\r\n", "0\r\nX\r\n\r\n", "0\r\nX: \x00\r\n\r\n", "0\r\n\rX",
		"0\r\nX: " + strings.Repeat("a", maxTrailerBytes), "0\r\n" + strings.Repeat("X:\r\n", maxTrailerFields+1) + "\r\n",
		strings.Repeat("1;"+strings.Repeat("a", 1000)+"\r\nx\r\n", 20),
	} {
		var o bodyOutcome
		if len(wire) > 5000 {
			o = readBody(codec.FramingChunked, 0, []byte(wire))
		} else {
			o = checkBodySplits(t, codec.FramingChunked, 0, wire)
		}
		assert.Equal(t, 400, o.reason.Status(), "%q: %s", wire, o.detail)
	}
}

func TestSmallChunksAreNotWaste(t *testing.T) {
	o := readBody(codec.FramingChunked, 0, []byte(strings.Repeat("1\r\nx\r\n", 10000)+"0\r\n\r\n"))
	assert.True(t, o.done, o.detail)
	assert.Len(t, o.data, 10000)
}

func TestBodiesOfKnownLength(t *testing.T) {
	var d Body
	assert.True(t, d.Done(), "a zero Body is done")
	assert.Zero(t, d.Remaining())
	d.Start(codec.FramingLength, 0)
	assert.True(t, d.Done())
	d.Start(codec.FramingNone, 7)
	assert.True(t, d.Done())
	_, n, done, err := d.Next([]byte("next"), nil)
	require.NoError(t, err)
	assert.Zero(t, n)
	assert.True(t, done)

	d.Start(codec.FramingLength, 5)
	data, n, done, err := d.Next([]byte("hel"), nil)
	require.NoError(t, err)
	assert.Equal(t, "hel", string(data))
	assert.Equal(t, 3, n)
	assert.False(t, done)
	assert.EqualValues(t, 2, d.Remaining())
	require.Error(t, d.EOF())
	data, n, done, err = d.Next([]byte("lo GET"), nil)
	require.NoError(t, err)
	assert.Equal(t, "lo", string(data))
	assert.Equal(t, 2, n)
	assert.True(t, done)
	assert.NoError(t, d.EOF())
	checkBodySplits(t, codec.FramingLength, 7, "abcdefghi")
}

func TestBodiesUntilClose(t *testing.T) {
	var d Body
	d.Start(codec.FramingClose, 0)
	assert.EqualValues(t, -1, d.Remaining())
	data, n, done, err := d.Next([]byte("abc"), nil)
	require.NoError(t, err)
	assert.Equal(t, "abc", string(data))
	assert.Equal(t, 3, n)
	assert.False(t, done)
	require.NoError(t, d.EOF())
	assert.True(t, d.Done())
}

func TestChunkedBodyCutOff(t *testing.T) {
	wire := "5\r\nhello\r\n0\r\nX: 1\r\n\r\n"
	for i := range len(wire) {
		var d Body
		d.Start(codec.FramingChunked, 0)
		for rest := []byte(wire[:i]); len(rest) > 0; {
			_, n, _, err := d.Next(rest, nil)
			require.NoError(t, err)
			rest = rest[n:]
		}
		require.Error(t, d.EOF(), "after %q", wire[:i])
		assert.EqualValues(t, -1, d.Remaining())
	}
}

func TestTrailersThatNobodyWantsAreChecked(t *testing.T) {
	var d Body
	d.Start(codec.FramingChunked, 0)
	_, n, done, err := d.Next([]byte("0\r\nX: 1\r\n\r\nrest"), nil)
	require.NoError(t, err)
	assert.True(t, done)
	assert.Equal(t, 11, n)
	d.Start(codec.FramingChunked, 0)
	_, _, _, err = d.Next([]byte("0\r\nX : 1\r\n\r\n"), nil)
	require.Error(t, err)
	_, _, _, again := d.Next([]byte("0\r\n\r\n"), nil)
	assert.Equal(t, err, again, "an error stays")
	require.Error(t, d.EOF())
}
