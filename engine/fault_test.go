package engine

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/pool"
)

func noRetries(s *setup) *setup {
	s.retries = snapshot.Retries{}
	return s
}

func TestUpstreamRefuses(t *testing.T) {
	g := newSetup(refusing(t)).start(t)
	c := g.dial().get("/")
	c.expectReason(codec.UpstreamRefused)
	require.Contains(t, g.records.next(t), `"tries":2`)
	c.get("/again")
	c.expectReason(codec.UpstreamRefused)
}

func TestRefusedConnectGoesToAnotherEndpoint(t *testing.T) {
	o := newOrigin(t)
	s := newSetup(refusing(t), o.addr)
	s.balance = pool.RoundRobin
	g := s.start(t)
	c := g.dial()
	up := (*peer)(nil)
	for range 4 {
		c.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi")
		if up == nil {
			up = o.accept()
		}
		r := up.request()
		b, _ := io.ReadAll(r.Body)
		require.Equal(t, "hi", string(b))
		up.send(ok)
		c.expect(200, "ok")
	}
	require.NotZero(t, g.stats().Retries)
}

func TestUpstreamFailures(t *testing.T) {
	cases := []struct {
		name   string
		play   func(up *peer)
		reason codec.Reason
	}{
		{"closes without a byte", func(up *peer) { up.close() }, codec.UpstreamReset},
		{"resets without a byte", func(up *peer) { up.reset() }, codec.UpstreamReset},
		{"closes mid-head", func(up *peer) { up.send("HTTP/1.1 200 O").close() }, codec.UpstreamReset},
		{"garbage", func(up *peer) { up.send("\x16\x03\x01 what is this\r\n\r\n") }, codec.UpstreamBadResponse},
		{"smuggling lengths", func(up *peer) {
			up.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n")
		}, codec.UpstreamBadResponse},
		{"head too large", func(up *peer) {
			up.send("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 65<<10) + "\r\n\r\n")
		}, codec.UpstreamBadResponse},
		{"endless interim heads", func(up *peer) {
			up.send(strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", maxInterim+1))
		}, codec.UpstreamBadResponse},
		{"uninvited upgrade", func(up *peer) {
			up.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		}, codec.UpstreamBadResponse},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			o := newOrigin(t)
			g := noRetries(newSetup(o.addr)).start(t)
			c := g.dial().get("/")
			up := o.accept()
			up.request()
			tc.play(up)
			for range maxInterim {
				if b, err := c.in.Peek(12); err != nil || string(b) != "HTTP/1.1 100" {
					break
				}
				c.readUntil("\r\n\r\n")
			}
			c.expectReason(tc.reason)
			require.Contains(t, g.records.next(t), `"reason":"`+tc.reason.String()+`"`)
			require.Equal(t, uint64(1), g.stats().Reasons[tc.reason])

			c.get("/next") // the client's connection survives
			up = o.accept()
			up.request()
			up.send(ok)
			c.expect(200, "ok")
		})
	}
}

func TestResponseCutMidBody(t *testing.T) {
	for name, response := range map[string]string{
		"length":        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello",
		"chunked":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
		"bad chunk":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n",
		"lying trailer": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nbad trailer\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t)
			g := newSetup(o.addr).start(t)
			c := g.dial().get("/")
			up := o.accept()
			up.request()
			up.send(response).close()
			resp, err := http.ReadResponse(c.in, nil)
			require.NoError(t, err)
			require.Equal(t, 200, resp.StatusCode)
			body, err := io.ReadAll(resp.Body)
			require.Error(t, err, "the client must not take the body for a whole one")
			require.LessOrEqual(t, len(body), 5)
			rec := g.records.next(t)
			require.Contains(t, rec, `"status":200`)
			require.Contains(t, rec, `"reason":"upstream_`)
		})
	}
}

func TestResponseCutForHTTP10IsAReset(t *testing.T) {
	o := newOrigin(t)
	g := newSetup(o.addr).start(t)
	c := g.dial().send("GET / HTTP/1.0\r\n\r\n")
	up := o.accept()
	up.request()
	up.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
	c.readUntil("hello")
	up.close()
	_, err := io.ReadAll(c.in)
	require.ErrorContains(t, err, "reset")
}

func TestUpstreamSendsTooMuch(t *testing.T) {
	o := newOrigin(t)
	g := newSetup(o.addr).start(t)
	c := g.dial().get("/")
	up := o.accept()
	up.request()
	up.send(ok + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
	c.expect(200, "ok")
	up.expectCut() // not to be used again
	c.get("/next")
	up = o.accept()
	up.request()
	up.send(ok)
	c.expect(200, "ok")
	up.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil") // unasked, on an idle connection
	up.expectCut()
	c.get("/third")
	up = o.accept()
	up.request()
	up.send(ok)
	c.expect(200, "ok")
}

// warm leaves one idle connection in the pool.
func warm(g *gateway, o *origin, c *peer) *peer {
	c.get("/warm")
	up := o.accept()
	up.request()
	up.send(ok)
	c.expect(200, "ok")
	return up
}

func TestDeadIdleConnectionIsReplaced(t *testing.T) {
	for name, method := range map[string]string{"GET": "GET", "PUT with body": "PUT"} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t)
			g := noRetries(newSetup(o.addr)).start(t)
			c := g.dial()
			up := warm(g, o, c)
			c.send(method + " /second HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi")
			up.request()
			up.reset()
			up = o.accept()
			r := up.request()
			b, _ := io.ReadAll(r.Body)
			require.Equal(t, "hi", string(b))
			require.Equal(t, "/second", r.RequestURI)
			up.send(ok)
			c.expect(200, "ok")
			require.Equal(t, uint64(1), g.stats().StaleRetries)
		})
	}
}

func TestUnsafeRequestIsNeverSentTwice(t *testing.T) {
	o := newOrigin(t)
	g := newSetup(o.addr).start(t)
	c := g.dial()
	up := warm(g, o, c)
	c.send("POST /order HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi")
	up.request()
	up.reset()
	c.expectReason(codec.UpstreamReset)
	require.Zero(t, g.stats().StaleRetries)
}

func TestIdleConnectionIsEvictedWhenItsPeerCloses(t *testing.T) {
	o := newOrigin(t)
	g := newSetup(o.addr).start(t)
	c := g.dial()
	warm(g, o, c).close()
	require.Eventually(t, func() bool { return g.stats().Pool.Idle == 0 }, patience, time.Millisecond)
	c.send("POST /order HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi")
	up := o.accept()
	up.request()
	up.send(ok)
	c.expect(200, "ok")
}

func TestStatusIsRetried(t *testing.T) {
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.retries = snapshot.Retries{Attempts: 2, Statuses: snapshot.StatusSet(0).With(503), Budget: 100}
	g := s.start(t)
	c := g.dial().get("/")
	for range 2 {
		up := o.accept()
		up.request()
		up.send("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
	}
	up := o.accept()
	up.request()
	up.send(ok)
	c.expect(200, "ok")
	require.Contains(t, g.records.next(t), `"tries":3`)
}

func TestRetryBudget(t *testing.T) {
	o := newOrigin(t)
	s := newSetup(o.addr)
	s.retries = snapshot.Retries{Attempts: 9, Statuses: snapshot.StatusSet(0).With(503), Budget: 1}
	g := s.start(t)
	const clients = minRetries + 2
	var cs, ups []*peer
	for range clients {
		cs = append(cs, g.dial().get("/"))
		up := o.accept()
		up.request()
		ups = append(ups, up)
	}
	for _, up := range ups {
		up.send("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
	}
	for range minRetries {
		up := o.accept()
		up.request()
		up.send(ok)
	}
	got := map[int]int{}
	for _, c := range cs {
		status, _, _ := c.response("GET")
		got[status]++
	}
	require.Equal(t, minRetries, got[200]) // the rest was denied
	require.Equal(t, clients-minRetries, got[503])
	require.Equal(t, uint64(clients-minRetries), g.stats().RetriesDenied)
}

func TestClocks(t *testing.T) {
	const soon = 30 * time.Millisecond
	cases := []struct {
		name   string
		change func(*setup)
		play   func(t *testing.T, g *gateway, o *origin)
	}{
		{"first byte", func(s *setup) { s.timeouts.FirstByte = soon }, func(_ *testing.T, g *gateway, o *origin) {
			c := g.dial().get("/")
			o.accept().request()
			c.expectReason(codec.UpstreamTimeout)
		}},
		{"per try, then the next", func(s *setup) { s.retries.PerTry = soon }, func(_ *testing.T, g *gateway, o *origin) {
			c := g.dial().get("/")
			o.accept().request()
			up := o.accept()
			up.request()
			up.send(ok)
			c.expect(200, "ok")
		}},
		{"upstream idle", func(s *setup) { s.timeouts.Idle = soon }, func(t *testing.T, g *gateway, o *origin) {
			c := g.dial().get("/")
			up := o.accept()
			up.request()
			up.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
			c.readUntil("half")
			c.expectClosed()
			require.Contains(t, g.records.next(t), `"reason":"upstream_timeout"`)
		}},
		{"total", func(s *setup) { s.timeouts.Total = soon }, func(_ *testing.T, g *gateway, o *origin) {
			c := g.dial().get("/")
			o.accept().request()
			c.expectReason(codec.TotalTimeout)
		}},
		{"head, begun", func(s *setup) { s.listener.Head = soon }, func(_ *testing.T, g *gateway, _ *origin) {
			c := g.dial().send("GET / HTT")
			c.expectReason(codec.RequestTimeout)
			c.expectClosed()
		}},
		{"head, no byte", func(s *setup) { s.listener.Head = soon }, func(_ *testing.T, g *gateway, _ *origin) {
			g.dial().expectClosed()
		}},
		{"head of the second request", func(s *setup) { s.listener.Head = soon }, func(_ *testing.T, g *gateway, o *origin) {
			c := g.dial()
			warm(g, o, c)
			c.send("GET /second HTTP/1.1\r\n")
			c.expectReason(codec.RequestTimeout)
		}},
		{"keep-alive", func(s *setup) { s.listener.Keepalive = soon }, func(_ *testing.T, g *gateway, o *origin) {
			c := g.dial()
			warm(g, o, c)
			c.expectClosed()
		}},
		{"read idle", func(s *setup) { s.listener.ReadIdle = soon }, func(_ *testing.T, g *gateway, o *origin) {
			c := g.dial().send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf")
			up := o.accept()
			up.readUntil("half")
			c.expectReason(codec.RequestTimeout)
			up.expectCut()
		}},
		{"tunnel idle", func(s *setup) { s.timeouts.TunnelIdle = soon }, func(_ *testing.T, g *gateway, o *origin) {
			c, up := tunnel(g, o)
			c.expectClosed()
			up.expectClosed()
		}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			o := newOrigin(t)
			s := newSetup(o.addr)
			tc.change(s)
			tc.play(t, s.start(t), o)
		})
	}
}

func TestConnectTimeout(t *testing.T) {
	// A listener whose backlog is full does not answer SYNs.
	o := newOrigin(t)
	full := fillBacklog(t, o)
	s := noRetries(newSetup(full))
	s.connect = 30 * time.Millisecond
	g := s.start(t)
	g.dial().get("/").expectReason(codec.ConnectTimeout)
}

func TestPassiveEjection(t *testing.T) {
	good := newOrigin(t).serve(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	s := noRetries(newSetup(refusing(t), good.addr))
	s.passive = pool.Passive{ConsecutiveFailures: 2, Eject: time.Minute, MaxEjected: 50}
	s.balance = pool.RoundRobin
	g := s.start(t)
	c := g.dial()
	failed := 0
	for range 20 {
		if status, _, _ := c.get("/").response("GET"); status != 200 {
			failed++
		}
	}
	require.Equal(t, 2, failed)
}
