package http1

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
)

// outcome is everything a decoder said about some bytes.
type outcome struct {
	head     string // all that the head says
	consumed int
	done     bool
	reason   codec.Reason
	detail   string
}

// decode feeds the pieces one after the other.
func decode(lim *Limits, response bool, request codec.Method, pieces ...[]byte) (outcome, *codec.Head) {
	var d Decoder
	var o outcome
	h := new(codec.Head)
	for _, p := range pieces {
		// The decoder must not keep what it was given.
		piece := append([]byte(nil), p...)
		var n int
		var err error
		if response {
			n, o.done, err = d.Response(h, piece, lim, request)
		} else {
			n, o.done, err = d.Request(h, piece, lim)
		}
		for i := range piece {
			piece[i] = 0xee
		}
		if err != nil {
			var e *codec.Error
			if !errors.As(err, &e) {
				panic("the error is not a *codec.Error")
			}
			return outcome{reason: e.Reason, detail: e.Detail}, h
		}
		o.consumed += n
		if o.done {
			break
		}
	}
	if o.done {
		o.head = describe(h)
	}
	return o, h
}

func describe(h *codec.Head) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s %d %q %q %q %v %q %q 1.%d\n", h.Method(), h.MethodID(), h.Target(), h.Path(), h.Query(),
		h.HasQuery(), h.Authority(), h.Scheme(), h.Minor())
	fmt.Fprintf(&s, "%d %q\n", h.Status(), h.ReasonPhrase())
	fmt.Fprintf(&s, "framing %d length %d keep %v upgrade %q expect %v\n", h.Framing(), h.ContentLength(),
		h.KeepAlive(), h.Upgrade(), h.Expect100())
	s.WriteString(describeFields(h))
	return s.String()
}

func describeFields(h *codec.Head) string {
	var s strings.Builder
	for i := range h.Len() {
		if !h.Removed(i) {
			fmt.Fprintf(&s, "%s: %q (%s, first %d)\n", h.Name(i), h.Value(i), h.Known(i), h.First(h.Known(i)))
		}
	}
	return s.String()
}

// checkSplits holds that every split in two, and byte by byte, gives the same.
func checkSplits(tb testing.TB, wire string, lim *Limits, response bool, request codec.Method) (outcome, *codec.Head) {
	tb.Helper()
	b := []byte(wire)
	whole, h := decode(lim, response, request, b)
	for i := range b {
		two, _ := decode(lim, response, request, b[:i], b[i:])
		require.Equal(tb, whole, two, "split at %d of %q", i, wire)
	}
	single := make([][]byte, len(b))
	for i := range b {
		single[i] = b[i : i+1]
	}
	bytewise, _ := decode(lim, response, request, single...)
	require.Equal(tb, whole, bytewise, "byte by byte: %q", wire)
	return whole, h
}
