package filters_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
)

func TestRespond(t *testing.T) {
	x := get(t)
	_, ok := x.Reply()
	assert.False(t, ok)

	field := filters.ReplyField{Name: "X-A", Value: "b"}
	assert.Equal(t, filters.Respond, x.Respond(200, []byte("ok"), field))
	reply, ok := x.Reply()
	assert.True(t, ok)
	assert.Equal(t, filters.Reply{Status: 200, Body: []byte("ok"), Fields: []filters.ReplyField{field}}, public(reply))

	assert.Equal(t, filters.Respond, x.Fail(codec.RateLimited, "slow down"))
	reply, _ = x.Reply()
	assert.Equal(t, filters.Reply{Status: 429, Reason: codec.RateLimited, Message: "slow down"}, public(reply), "the last answer counts, whole")
	assert.True(t, reply.Explained())

	assert.Equal(t, filters.Respond, x.Answer(filters.Reply{Status: 200, Reason: codec.Degraded, Body: []byte("{}"), Message: "less"}))
	reply, ok = x.Reply()
	assert.True(t, ok)
	assert.Equal(t, filters.Reply{Status: 200, Reason: codec.Degraded, Body: []byte("{}"), Message: "less"}, public(reply))
	assert.False(t, reply.Explained(), "its own body")
}

func TestRecycle(t *testing.T) {
	x := get(t)
	x.NewResponse("HTTP/1.1 200 OK", "Content-Length: 0")
	x.Route = &filters.RouteInfo{ID: "r"}
	x.Service, x.Endpoint = "s", "192.0.2.9:80"
	x.TraceID[0] = 'a'
	x.AcceptedAt, x.Now, x.Wall = 1, 2, 3
	x.Reason = codec.NoEndpoint
	x.Loop = 4
	x.Fail(codec.NoEndpoint, "none")
	x.Recycle()

	empty := get(t)
	empty.Recycle()
	assert.Equal(t, 4, x.Loop, "it stays on its loop")
	x.Loop = 0
	empty.Attach(silent{})
	x.Attach(silent{})
	assert.Equal(t, &empty.Context, &x.Context)
}
