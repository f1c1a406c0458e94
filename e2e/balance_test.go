package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// countingOrigin counts its requests and answers with its name.
func countingOrigin(t *testing.T, name string) (o *httptest.Server, count *atomic.Int64) {
	t.Helper()
	count = new(atomic.Int64)
	o = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		count.Add(1)
		fmt.Fprint(w, name)
	}))
	t.Cleanup(o.Close)
	return o, count
}

// The spare gets nothing until the first tier is gone, and then no request fails.
func TestASpareTakesOverUnderLoad(t *testing.T) {
	first, _ := countingOrigin(t, "first")
	spare, count := countingOrigin(t, "spare")
	p := start(t, fmt.Sprintf(head+`
engine: {loops: 2}
log: {access: {path: none}}
services:
  - name: tiers
    balance: ewma
    endpoints: [{address: %q}, {address: %q, priority: 1}]
routes: [{id: all, match: {prefix: /}, service: tiers}]
`, first.Listener.Addr(), spare.Listener.Addr()))
	l := p.under("/")
	p.await("traffic", func() bool { return l.sent.Load() > 500 })
	assert.Zero(t, count.Load())
	first.CloseClientConnections()
	first.Close()
	p.await("the spare", func() bool { return count.Load() > 500 })
	l.end(t)
}

// withCookie sends a request with a cookie, if there is one, and returns the body and
// the cookie that was set.
func (p *program) withCookie(cookie string) (body, set string) {
	p.t.Helper()
	req, err := http.NewRequest(http.MethodGet, "http://"+p.web+"/", nil)
	require.NoError(p.t, err)
	if cookie != "" {
		req.Header.Set("Cookie", "lane="+cookie)
	}
	res, err := p.client.Do(req)
	require.NoError(p.t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(p.t, err)
	for _, c := range res.Cookies() {
		set = c.Value
	}
	return string(b), set
}

// A cookie is good at every node with the secret, and nowhere else.
func TestACookieIsGoodAtEveryNode(t *testing.T) {
	a, _ := countingOrigin(t, "a")
	b, _ := countingOrigin(t, "b")
	t.Setenv("LANE_SECRET", "not-to-be-shown")
	t.Setenv("OTHER_SECRET", "another one")
	configuration := fmt.Sprintf(head+`
services:
  - name: pair
    balance: {sticky: {cookie: lane, secret: "${env:LANE_SECRET}"}}
    endpoints: [{address: %q}, {address: %q}]
routes: [{id: all, match: {prefix: /}, service: pair}]
`, a.Listener.Addr(), b.Listener.Addr())
	one, two := start(t, configuration), start(t, configuration)
	body, cookie := one.withCookie("")
	require.NotEmpty(t, cookie)
	for range 10 {
		for _, p := range []*program{one, two} {
			again, set := p.withCookie(cookie)
			require.Equal(t, body, again)
			require.Empty(t, set, "it has one")
		}
	}
	_, services := one.call(http.MethodGet, "http://"+one.admin+"/api/v1/services")
	assert.Contains(t, services, `"balance":"sticky"`)

	one.write(strings.Replace(configuration, "LANE_SECRET", "OTHER_SECRET", 1))
	require.Equal(t, 200, one.ask(http.MethodPost, "/api/v1/reload", nil))
	_, set := one.withCookie(cookie)
	assert.NotEmpty(t, set, "the secret is another")
	for _, shown := range []string{services, one.stderr.String(), one.stdout.String()} {
		assert.NotContains(t, shown, "not-to-be-shown")
	}
}
