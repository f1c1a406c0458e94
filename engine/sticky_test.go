package engine

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/pool"
)

// namedOrigins are origins that answer with their own number.
func namedOrigins(t *testing.T, n int) []string {
	var addresses []string
	for i := range n {
		o := newOrigin(t).serve(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			fmt.Fprint(w, i)
		})
		addresses = append(addresses, o.addr)
	}
	return addresses
}

func TestEqualKeysReachOneOrigin(t *testing.T) {
	s := newSetup(namedOrigins(t, 4)...)
	s.options.Loops = 2
	s.balance, s.balancing = pool.Hash, snapshot.Balance{Key: snapshot.KeyQuery, Name: "user"}
	g := s.start(t)
	first := map[int]string{}
	seen := map[string]bool{}
	for range 3 {
		c := g.dial()
		for user := range 30 {
			_, _, body := c.get(fmt.Sprint("/?user=", user)).response("GET")
			if was, known := first[user]; known {
				require.Equal(t, was, body, user)
			}
			first[user], seen[body] = body, true
		}
	}
	assert.Len(t, seen, 4)
}

// stickySetup is a gateway whose clients stay with their origin.
func stickySetup(addresses ...string) *setup {
	s := newSetup(addresses...)
	s.balance, s.balancing = pool.Sticky, snapshot.Balance{Cookie: "lane"}
	return s
}

func cookieOf(t *testing.T, h http.Header) *http.Cookie {
	t.Helper()
	all := (&http.Response{Header: h}).Cookies()
	if len(all) == 0 {
		return nil
	}
	require.Len(t, all, 1)
	return all[0]
}

func TestACookieKeepsAClientAtItsOrigin(t *testing.T) {
	addresses := namedOrigins(t, 4)
	g := stickySetup(addresses...).start(t)
	c := g.dial()
	seen := map[string]bool{}
	for range 40 {
		_, head, body := c.get("/").response("GET")
		cookie := cookieOf(t, head)
		require.NotNil(t, cookie)
		seen[body] = true
		raw := head.Get("Set-Cookie")
		require.True(t, strings.HasSuffix(raw, "; Path=/; HttpOnly; SameSite=Lax"), raw)
		for _, a := range addresses {
			require.NotContains(t, raw, a)
		}
		for range 3 {
			_, head, again := c.get("/", "Cookie: x=y; lane="+cookie.Value+"; z=1\r\n").response("GET")
			require.Equal(t, body, again)
			require.Nil(t, cookieOf(t, head), "it has one")
		}
	}
	assert.Len(t, seen, 4)
	_, head, _ := c.get("/", "Cookie: lane="+strings.Repeat("A", 32)+"\r\n").response("GET")
	assert.NotNil(t, cookieOf(t, head), "a forged one counts as none")
	good := cookieOf(t, head).Value
	_, head, _ = c.get("/", "Cookie: lane=forged; lane="+good+"\r\n").response("GET")
	assert.Nil(t, cookieOf(t, head), "the first valid one counts")
}

func TestTheCookieFollowsAClientToAnotherOrigin(t *testing.T) {
	addresses := append(namedOrigins(t, 1), refusing(t))
	g := stickySetup(addresses...).start(t)
	svc := g.server.Current().Services["origin"].Pool
	gone := "Cookie: lane=" + svc.StickyToken(svc.Members[1].Endpoint) + "\r\n"
	c := g.dial()
	_, head, body := c.get("/", gone).response("GET")
	assert.Equal(t, "0", body)
	cookie := cookieOf(t, head)
	require.NotNil(t, cookie)
	assert.Equal(t, svc.StickyToken(svc.Members[0].Endpoint), cookie.Value)
}

func TestNoCookieWithoutAnOrigin(t *testing.T) {
	s := stickySetup(refusing(t))
	s.retries = snapshot.Retries{}
	head := s.start(t).dial().get("/").expectReason(codec.UpstreamRefused)
	assert.Nil(t, cookieOf(t, head))
}

// cookieFilter notes what a response filter sees.
type cookieFilter struct {
	mu   sync.Mutex
	seen []string
}

func (f *cookieFilter) OnResponse(ctx *filters.Context) filters.Verdict {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = append(f.seen, string(ctx.Response.GetName("Set-Cookie")))
	ctx.Response.Del("Set-Cookie")
	return filters.Continue
}

func TestResponseFiltersSeeTheCookie(t *testing.T) {
	f := &cookieFilter{}
	s := stickySetup(namedOrigins(t, 1)...)
	s.filters = []any{f}
	s.listener.TrustedProxies = loopbackPrefix
	c := s.start(t).dial()
	_, head, _ := c.get("/", "X-Forwarded-Proto: https\r\n").response("GET")
	assert.Nil(t, cookieOf(t, head), "the filter took it out")
	f.mu.Lock()
	defer f.mu.Unlock()
	require.Len(t, f.seen, 1)
	assert.True(t, strings.HasPrefix(f.seen[0], "lane="))
	assert.True(t, strings.HasSuffix(f.seen[0], "; Secure"), "the client came by https")
}

// timeGate keeps how long tries took.
type timeGate struct {
	mu      sync.Mutex
	elapsed []int64
}

func (g *timeGate) Allow(*pool.Endpoint, int64) bool { return true }

func (g *timeGate) Report(_ *pool.Endpoint, _ pool.Outcome, elapsed, _ int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.elapsed = append(g.elapsed, elapsed)
}

// A try takes from its start to the response head, however long the body goes on.
func TestATryEndsWithTheHead(t *testing.T) {
	o := newOrigin(t)
	gate := &timeGate{}
	s := newSetup(o.addr)
	s.balance, s.gates = pool.EWMA, []pool.Gate{gate}
	g := s.start(t)
	c := g.dial()
	begun := time.Now()
	c.get("/")
	up := o.accept()
	up.request()
	up.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
	line, err := c.in.ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "200")
	head := time.Since(begun)
	require.Eventually(t, func() bool { return time.Since(begun) > 3*head }, patience, time.Millisecond)
	up.send("ok")
	g.records.next(t)
	gate.mu.Lock()
	defer gate.mu.Unlock()
	require.Len(t, gate.elapsed, 1)
	assert.Positive(t, gate.elapsed[0])
	assert.LessOrEqual(t, gate.elapsed[0], head.Nanoseconds())
	e := g.server.Current().Services["origin"].Pool.Members[0].Endpoint
	assert.Positive(t, e.ResponseTime(0))
	assert.Zero(t, e.Active())
}

// A client that takes its time to send the request does not make the endpoint slow.
func TestATryOfASlowClient(t *testing.T) {
	for name, whole := range map[string]bool{"sends all": true, "gives up": false} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t)
			gate := &timeGate{}
			s := newSetup(o.addr)
			s.gates = []pool.Gate{gate}
			s.listener.Head = pass
			g := s.start(t)
			c := g.dial().send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nh")
			up := o.accept()
			r := up.requestHead()
			g.pass()
			var answered time.Duration
			if whole {
				begun := time.Now()
				c.send("i")
				_, err := io.Copy(io.Discard, r.Body)
				require.NoError(t, err)
				up.send(ok)
				c.expect(200, "ok")
				answered = time.Since(begun)
			} else {
				c.reset()
			}
			g.records.next(t)
			gate.mu.Lock()
			defer gate.mu.Unlock()
			require.Len(t, gate.elapsed, 1)
			require.LessOrEqual(t, gate.elapsed[0], answered.Nanoseconds())
		})
	}
}

func TestAFasterHedgeLeavesAClientWhereItWas(t *testing.T) {
	sticky := func(s *setup) { s.balance, s.balancing = pool.Sticky, snapshot.Balance{Cookie: "lane"} }
	for name, known := range map[string]bool{"known": true, "new": false} {
		t.Run(name, func(t *testing.T) {
			r := newRace(t, sticky)
			svc := r.server.Current().Services["origin"].Pool
			fields := ""
			if known {
				fields = "Cookie: lane=" + svc.StickyToken(svc.Members[0].Endpoint) + "\r\n"
			}
			c := r.dial().get("/", fields)
			r.begin()
			require.True(t, r.fire())
			second := r.begin()
			second.send(answer("second"))
			cookie := cookieOf(t, c.expect(200, "second"))
			if known {
				assert.Nil(t, cookie, "its endpoint is slow, not gone")
				return
			}
			require.NotNil(t, cookie)
			assert.Equal(t, second.endpoint(), svc.StickyEndpoint([]byte(cookie.Value)).Address())
		})
	}
}
