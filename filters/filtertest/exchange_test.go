package filtertest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/filters/filtertest"
)

// probe waits when the request asks it to, and panics when that says so.
type probe struct{ handle filters.Handle }

func (p *probe) OnRequest(ctx *filters.Context) filters.Verdict {
	switch string(ctx.Request.Path()) {
	case "/wait":
		p.handle = ctx.Wait(time.Second)
		return filters.Wait
	case "/panic":
		panic("asked for")
	}
	return filters.Continue
}

func TestExchange(t *testing.T) {
	var p probe
	chain := filters.NewChain([]*filters.Entry{filters.NewEntry("probe", &p)})

	x := filtertest.New(t, "GET /wait HTTP/1.1", "Host: a.example", "X-A: b")
	assert.Equal(t, "192.0.2.1", x.Client.String())
	assert.Equal(t, "http", x.Scheme)
	assert.Equal(t, []string{"Host: a.example", "X-A: b"}, filtertest.Fields(x.Request))
	_, v := chain.Request(&x.Context, 0)
	require.Equal(t, filters.Wait, v)
	assert.Equal(t, time.Second, x.Deadline())
	go p.handle.Resume(nil)
	x.AwaitWake()
	chain.Resume(&x.Context, 0)
	assert.False(t, p.handle.Resume(nil))
	assert.EqualValues(t, 1, x.Ignored())

	x.NewRequest("GET /panic HTTP/1.1", "Host: a.example")
	_, v = chain.Request(&x.Context, 0)
	assert.Equal(t, filters.Respond, v)
	assert.Equal(t, []any{"asked for"}, x.Panics())
	assert.Equal(t, []string{"probe", "probe", "probe"}, x.Calls())

	x.NewResponse("HTTP/1.1 200 OK", "Server: s", "Content-Length: 0")
	x.Response.Del("Server")
	assert.Equal(t, []string{"Content-Length: 0"}, filtertest.Fields(x.Response))
}

// refusal is a test that records its failure.
type refusal struct {
	testing.TB
	failed bool
}

func (r *refusal) Helper()               {}
func (r *refusal) Fatalf(string, ...any) { r.failed = true }

func TestBadHeadsFailTheTest(t *testing.T) {
	for _, lines := range [][]string{{"GET"}, {"GET / HTTP/1.1"}, {"GET / HTTP/1.1", "Host: a", "X A: b"}} {
		r := refusal{TB: t}
		filtertest.New(&r, lines...)
		assert.True(t, r.failed, lines)
	}
	r := refusal{TB: t}
	filtertest.New(&r, "GET / HTTP/1.1", "Host: a").NewResponse("HTTP/1.1 2")
	assert.True(t, r.failed)
}
