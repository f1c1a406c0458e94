package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/reactor"
)

// A client that has just connected, or is between two requests, is about to send:
// it gets an answer, and only who is silent is closed.
func TestDrainLeavesIdleConnectionsAMoment(t *testing.T) {
	g := newSetup(newOrigin(t).serve(echoOK).addr).start(t)
	fresh, silent, between := g.dial(), g.dial(), g.dial().get("/1")
	between.expect(200, "ok")
	require.Eventually(t, func() bool { return g.server.Connections() == 3 }, patience, time.Millisecond)

	g.server.BeginDrain()
	begun := make(chan struct{})
	g.server.workers[0].loop.Post(&reactor.Task{Run: func(*reactor.Loop) { close(begun) }})
	<-begun
	for _, c := range []*peer{fresh, between} {
		require.Equal(t, "close", c.get("/2").expect(200, "ok").Get("Connection"))
		c.expectClosed()
	}
	silent.expectClosed()
}

// Who is cut by the end of the process is told so, and nobody else is blamed.
func TestStopAnswersWhatHasNoAnswer(t *testing.T) {
	o := newOrigin(t)
	g := newSetup(o.addr).start(t)
	waiting, begun := g.dial().get("/1"), g.dial()
	o.accept().request()
	begun.get("/2")
	up := o.accept()
	up.request()
	up.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
	begun.readUntil("half")

	require.NoError(t, g.server.Stop())
	waiting.expectReason(codec.Draining)
	waiting.expectClosed()
	for range 2 {
		require.Contains(t, g.records.next(t), `"reason":"draining"`)
	}
	require.Zero(t, g.endpoint(0).Failures())
}
