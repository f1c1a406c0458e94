package control

import (
	"context"
	"log/slog"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"golang.org/x/sys/unix"

	"github.com/corelane/corelane/engine"
)

func TestEventLog(t *testing.T) {
	var lines lockedBuffer
	var pending []engine.Event
	var lost uint64
	l := newEventLog(func() ([]engine.Event, uint64) {
		defer func() { pending = nil }()
		return pending, lost
	}, slog.New(slog.NewTextHandler(&lines, nil)))
	at := time.Unix(1000, 0)
	overrun := engine.Event{Kind: engine.EventFilterOverrun, Name: "slow", Route: "r", Nanos: 2_500_000}

	pending = []engine.Event{overrun, overrun, overrun, {Kind: engine.EventFilterPanic, Name: "bad", Value: "oops", Stack: []byte("stack")}}
	l.drain(at)
	assert.Equal(t, 1, strings.Count(lines.String(), "ran longer"), "one line a second for each filter")
	assert.Contains(t, lines.String(), "took_ms=2.5")
	assert.Contains(t, lines.String(), "panic=oops")

	l.drain(at.Add(time.Second / 2))
	assert.NotContains(t, lines.String(), "suppressed")
	l.drain(at.Add(time.Second))
	assert.Contains(t, lines.String(), "event=filter_overrun filter=slow suppressed=2")
	l.drain(at.Add(3 * time.Second))
	assert.Empty(t, l.paces, "quiet keys are forgotten")

	pending = []engine.Event{
		{Kind: engine.EventProxyRefused, Name: "web", Peer: netip.MustParseAddrPort("192.0.2.7:40000"), Value: "no header"},
		{Kind: engine.EventProxyRefused, Name: "local", Value: "no header"},
		{Kind: engine.EventProtocolError, Name: "10.1.2.3:9000", Peer: netip.MustParseAddrPort("10.1.2.3:9000"), Value: "no magic"},
	}
	l.drain(at.Add(3 * time.Second))
	assert.Contains(t, lines.String(), `listener=web peer=192.0.2.7:40000 problem="no header"`)
	assert.Contains(t, lines.String(), `listener=local peer=unix problem="no header"`)
	assert.Contains(t, lines.String(), `a peer of a message protocol loses its connection" loop=0 of=10.1.2.3:9000 peer=10.1.2.3:9000 problem="no magic"`)

	pending, lost = []engine.Event{{Kind: engine.EventPanic, Value: 7, Stack: []byte("where")}}, 5
	l.drain(at.Add(4 * time.Second))
	assert.Contains(t, lines.String(), "a callback panicked")
	assert.Contains(t, lines.String(), "stack=where")
	assert.Contains(t, lines.String(), "lost=5")
}

func TestEventNames(t *testing.T) {
	assert.Equal(t, "panic", eventName(engine.EventPanic))
	assert.Equal(t, "filter_panic", eventName(engine.EventFilterPanic))
	assert.Equal(t, "filter_overrun", eventName(engine.EventFilterOverrun))
	assert.Equal(t, "proxy_refused", eventName(engine.EventProxyRefused))
	assert.Equal(t, "protocol_error", eventName(engine.EventProtocolError))
	assert.Equal(t, "spill_failed", eventName(engine.EventSpillFailed))
	assert.Equal(t, "unknown", eventName(99))
}

func TestSpillFailureIsLogged(t *testing.T) {
	var lines lockedBuffer
	l := newEventLog(nil, slog.New(slog.NewTextHandler(&lines, nil)))
	l.note(&engine.Event{Kind: engine.EventSpillFailed, Name: "/spill", Route: "r", Value: &os.PathError{Op: "write", Path: "/spill/x", Err: unix.ENOSPC}}, time.Unix(1000, 0))
	assert.Contains(t, lines.String(), "folder=/spill route=r errno=ENOSPC")
}

func TestEventLogBounds(t *testing.T) {
	l := newEventLog(func() ([]engine.Event, uint64) { return nil, 0 }, quiet())
	for i := range maxEventNames + 10 {
		l.note(&engine.Event{Kind: engine.EventFilterPanic, Name: string(rune(i + 1000))}, time.Unix(1000, 0))
	}
	assert.Len(t, l.paces, maxEventNames)
}

func TestEventLogEndsWithALook(t *testing.T) {
	looks := 0
	l := newEventLog(func() ([]engine.Event, uint64) { looks++; return nil, 0 }, quiet())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l.run(ctx)
	assert.Equal(t, 1, looks)
}
