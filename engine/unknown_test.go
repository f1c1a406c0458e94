package engine

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/sketch"
	"github.com/corelane/corelane/route"
)

func TestUnknownPathsAreTold(t *testing.T) {
	s := newSetup(refusing(t))
	s.spec = route.Spec{ID: "a", Kind: route.Exact, Pattern: "/a", Methods: []string{"GET"}}
	g := s.start(t)
	c := g.dial()
	for _, path := range []string{"/x/../.env?token=secret", "/.env", "/wp"} {
		c.send("GET " + path + " HTTP/1.1\r\nHost: Shop.Example:80\r\n\r\n")
		c.expectReason(codec.RouteNotFound)
	}
	c.send("PUT /a HTTP/1.1\r\nHost: h\r\n\r\n") // a path that is known
	c.expectReason(codec.MethodNotAllowed)

	q := g.server.AskUnknownPaths()
	require.Eventually(t, q.Complete, patience, time.Millisecond)
	sum, missing := q.Merge()
	require.Empty(t, missing)
	require.Equal(t, uint64(3), sum.Hits)
	require.Equal(t, uint64(3), g.stats().UnknownPaths)
	require.Len(t, sum.Paths, 2)
	first := sum.Paths[0]
	require.Equal(t, "shop.example", string(first.Host))
	require.Equal(t, "/.env", string(first.Path), "as it was looked up, and without the query")
	require.Equal(t, uint64(2), first.Count)
	require.Equal(t, "127.0.0.1", first.Client.String())
	require.Positive(t, first.Seen)
	require.Equal(t, "/wp", string(sum.Paths[1].Path))
}

func TestLoopsThatDoNotAnswerAreNamed(t *testing.T) {
	q := &UnknownPaths{answers: make([]atomic.Pointer[sketch.Copy], 2)}
	q.answers[1].Store(&sketch.Copy{Hits: 7})
	require.False(t, q.Complete())
	sum, missing := q.Merge()
	require.Equal(t, []int{0}, missing)
	require.Equal(t, uint64(7), sum.Hits)
}
