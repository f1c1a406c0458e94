package engine

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
)

func TestCauseOfAFault(t *testing.T) {
	for want, f := range map[string]fault{
		"connect": faultConnectTimeout, "reset": faultUpstreamReset, "per_try": faultPerTry, "timeout": faultFirstByte,
		"bad_response": faultBadResponse, "pool": faultPoolExhausted,
	} {
		require.Equal(t, want, causeNames[causeOf(f)])
	}
	require.Equal(t, "pool", causeNames[causeOf(faultNoSocket)])
	require.Equal(t, "stale", causeNames[causeStale])
	require.Equal(t, "hedge_won", causeNames[causeHedgeWon])
	require.Equal(t, "hedge_lost", causeNames[causeHedgeLost])
}

func TestGivenUpTriesAreBounded(t *testing.T) {
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.retries = snapshot.Retries{Attempts: maxGivenUp + 2, Statuses: snapshot.StatusSet(0).With(503).With(502), Budget: 100}
	g := s.start(t)
	c := g.dial().get("/")
	var up *peer
	for i := range maxGivenUp + 3 {
		up = o.accept()
		up.request()
		if i == 0 {
			up.send("HTTP/1.1 502 Bad\r\nContent-Length: 0\r\n\r\n")
			continue
		}
		up.send(busy)
	}
	c.expect(503, "")
	var record struct {
		Tries   int
		Retried []string
	}
	require.NoError(t, json.Unmarshal([]byte(g.records.next(t)), &record))
	require.Equal(t, maxGivenUp+3, record.Tries)
	require.Len(t, record.Retried, maxGivenUp)
	require.Equal(t, "502 "+o.addr, record.Retried[0])
	require.Equal(t, "503 "+o.addr, record.Retried[1])

	c.get("/next") // nothing is left of it in the next exchange
	up.request()
	up.send(ok)
	c.expect(200, "ok")
	require.NotContains(t, g.records.next(t), "retried")
}

func TestStaleAndPerTryAreTold(t *testing.T) {
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.retries = snapshot.Retries{Attempts: 1, Reset: true, Budget: 20, PerTry: time.Hour}
	g := s.start(t)
	c := g.dial()
	up := warm(g, o, c)
	g.records.next(t)
	c.get("/second")
	up.request()
	up.reset()
	o.accept().request()
	done := make(chan struct{})
	w := g.server.workers[0]
	w.loop.Post(taskOf(func() {
		w.oldest.lead.OnTimer(clockPerTry, w.loop.Now())
		close(done)
	}))
	<-done
	up = o.accept()
	up.request()
	up.send(ok)
	c.expect(200, "ok")
	require.Contains(t, g.records.next(t), `"tries":3,"retried":["stale `+o.addr+`","per_try `+o.addr+`"]`)
	got := g.stats()
	require.Equal(t, [3]uint64{1, 1, 1}, [3]uint64{got.Retries, got.RetriedPerTry, got.StaleRetries})
}

// An address may hold what JSON does not.
func TestGivenUpIsJSON(t *testing.T) {
	e, err := pool.NewRegistry().Endpoint("s", `unix:/run/a "quoted".sock`, "")
	require.NoError(t, err)
	text := appendGivenUp([]byte("x"), []givenUp{{e, causeReset}, {e, 599}})
	var list []string
	require.NoError(t, json.Unmarshal(text[1:], &list))
	require.Equal(t, []string{"reset " + e.Address(), "599 " + e.Address()}, list)
}
