package engine

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/engine/snapshot"
	"github.com/corelane/corelane/route"
)

func TestPublishChangesNewRequestsOnly(t *testing.T) {
	old, next := newOrigin(t), newOrigin(t)
	s := newSetup(old.addr)
	g := s.start(t)
	c := g.dial().get("/slow")
	up := old.accept()
	up.request()

	s.endpoints = []string{next.addr}
	g.server.Publish(g.compile(2))
	require.Eventually(t, func() bool { return g.server.Passed() == 2 }, patience, 1)
	up.send(ok)
	c.expect(200, "ok")
	require.Contains(t, g.records.next(t), `"generation":1`)
	up.expectCut() // a retired endpoint keeps no idle connection

	c.get("/new")
	up = next.accept()
	up.request()
	up.send(ok)
	c.expect(200, "ok")
	require.Contains(t, g.records.next(t), `"generation":2`)
}

func TestTwoLoopsServe(t *testing.T) {
	for _, poller := range []string{"epoll", "gnet"} {
		t.Run(poller, func(t *testing.T) {
			o := newOrigin(t).serve(echoOK)
			s := newSetup(o.addr)
			s.options.Loops, s.options.Poller = 2, poller
			g := s.start(t)
			var cs []*peer
			for range 16 {
				c := g.dial()
				c.get("/").expect(200, "ok")
				cs = append(cs, c)
			}
			for _, l := range g.server.Loops() {
				// Hand-off acts above 1.25 times the mean, which is 8.
				require.InDelta(t, 8, l.Connections, 2)
			}
			for i, c := range cs {
				c.get(fmt.Sprintf("/%d", i)).expect(200, "ok")
			}
			require.Equal(t, uint64(32), g.stats().Requests)
		})
	}
}

func TestRewrites(t *testing.T) {
	o := newOrigin(t).serve(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Host+" "+r.RequestURI)
	})
	for name, tc := range map[string]struct {
		spec    route.Spec
		change  func(*snapshot.Route)
		request string
		want    string
	}{
		"strip": {
			route.Spec{ID: "r", Kind: route.Prefix, Pattern: "/api"},
			func(r *snapshot.Route) { r.Strip = 2 },
			"/api/v1/x?q=%2F", "a.test /x?q=%2F",
		},
		"template": {
			route.Spec{ID: "r", Kind: route.Template, Pattern: "/users/{id}/posts/{n}"},
			func(r *snapshot.Route) { r.RewritePath = "/p/{n}/of/{id}" },
			"/users/7/posts/a%20b", "a.test /p/a%20b/of/7",
		},
		"host": {
			route.Spec{ID: "r", Kind: route.Exact, Pattern: "/x"},
			func(r *snapshot.Route) { r.RewriteHost = "inner.test" },
			"/x", "inner.test /x",
		},
		"dot segments": {
			route.Spec{ID: "r", Kind: route.Exact, Pattern: "/x/y"}, nil, "/x/a/../%79?..", "a.test /x/y?..",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSetup(o.addr)
			s.spec, s.route = tc.spec, tc.change
			g := s.start(t)
			g.dial().get(tc.request).expect(200, tc.want)
		})
	}
}

func TestStartNeedsAConfigurationAndAFreePort(t *testing.T) {
	s := newSetup()
	server, err := New(s.options, nil)
	require.NoError(t, err)
	require.ErrorContains(t, server.Start(), "no configuration")

	o := newOrigin(t)
	s.options.Listeners[0].Address = o.addr
	server, err = New(s.options, nil)
	require.NoError(t, err)
	require.ErrorContains(t, server.Listen(), "listener web")
	require.ErrorContains(t, server.Listen(), o.addr)

	s.options.Loops = 0
	_, err = New(s.options, nil)
	require.ErrorContains(t, err, "loops")
}
