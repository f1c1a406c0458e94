package engine

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
)

func TestAppendRFC3339AndHTTPDate(t *testing.T) {
	for _, at := range []time.Time{
		time.Unix(0, 0), time.Date(2024, 2, 29, 23, 59, 59, 999e6, time.UTC), time.Date(2026, 11, 29, 7, 8, 9, 1e6, time.UTC),
		time.Date(2100, 3, 1, 0, 0, 0, 0, time.UTC), time.Date(2000, 12, 31, 12, 0, 0, 0, time.UTC),
	} {
		require.Equal(t, at.UTC().Format("2006-01-02T15:04:05.000Z"), string(appendRFC3339(nil, at.UnixNano())))
		require.Equal(t, at.UTC().Format(http.TimeFormat), string(appendHTTPDate(nil, at.Unix())))
	}
}

func TestAppendJSON(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", `q"b\s`: `q"b\s`, "nl\n\x00\x7f": "nl\n\x00\x7f", "ünï": "ünï", "bad\xff": "bad\ufffd", "": "",
	} {
		var got string
		require.NoError(t, json.Unmarshal(appendJSON(nil, []byte(in), 100), &got), in)
		require.Equal(t, want, got)
	}
	require.Equal(t, `"abc"`, string(appendJSON(nil, []byte("abcdef"), 3)))
}

func TestAppendError(t *testing.T) {
	var got map[string]string
	require.NoError(t, json.Unmarshal(appendError(nil, codec.RouteNotFound, `a "b"`, []byte("77")), &got))
	require.Equal(t, map[string]string{"error": "route_not_found", "message": `a "b"`, "trace_id": "77"}, got)
}

func TestRing(t *testing.T) {
	r := NewRing()
	record := make([]byte, ringSize/4*3)
	require.True(t, r.Put(record))
	require.False(t, r.Put(record), "a record that does not fit is refused whole")
	a, b := r.Peek()
	require.Len(t, a, len(record))
	require.Empty(t, b)
	r.Take(len(a))
	for i := range record {
		record[i] = byte(i)
	}
	require.True(t, r.Put(record)) // wraps round
	a, b = r.Peek()
	require.NotEmpty(t, b)
	require.Equal(t, record, append(append([]byte(nil), a...), b...))
}

func TestEventsAreBounded(t *testing.T) {
	var s eventStack
	for i := range maxEvents + 5 {
		s.push(Event{Loop: i})
	}
	got := s.take()
	require.Len(t, got, maxEvents)
	require.Equal(t, 0, got[0].Loop, "oldest first")
	require.Equal(t, uint64(5), s.lost.Load())
	s.push(Event{Loop: 9})
	require.Equal(t, 9, s.take()[0].Loop)
}

func TestStatsMergeAndClear(t *testing.T) {
	a, b := new(Stats), new(Stats)
	a.count(3, 200, codec.ReasonNone, 1e6)
	b.count(3, 404, codec.RouteNotFound, 400e3)
	b.count(0, 0, codec.ClientAborted, 1e12)
	a.Merge(b)
	require.Equal(t, uint64(1), a.Routes[3].Class[2])
	require.Equal(t, uint64(1), a.Routes[3].Class[4])
	require.Equal(t, uint64(1), a.Routes[0].Class[0])
	require.Equal(t, uint64(1), a.Routes[3].Latency[1])
	require.Equal(t, uint64(1), a.Routes[3].Latency[2])
	require.Equal(t, uint64(1), a.Routes[0].Latency[len(latencyBounds)])
	require.Equal(t, uint64(14e5), a.Routes[3].LatencySum)
	require.Equal(t, uint64(1), a.Reasons[codec.RouteNotFound])
	a.clear()
	require.Zero(t, a.Routes[3].LatencySum)
	require.Zero(t, a.Reasons[codec.RouteNotFound])
	require.Len(t, LatencyBounds(), len(latencyBounds))
}

func TestEveryReasonHasItsCounter(t *testing.T) {
	var s Stats
	for _, r := range codec.Reasons() {
		require.Less(t, int(r), len(s.Reasons))
	}
}
