package filtertest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/filters/filtertest"
)

// caller keeps what its calls gave.
type caller struct {
	request filters.CallRequest
	results []filters.CallResult
}

func (c *caller) OnRequest(ctx *filters.Context) filters.Verdict {
	return ctx.Call("s", &c.request, time.Minute)
}

func (c *caller) OnResume(_ *filters.Context, value any) filters.Verdict {
	c.results = append(c.results, *value.(*filters.CallResult))
	return filters.Continue
}

func TestServe(t *testing.T) {
	x := filtertest.New(t, "GET / HTTP/1.1", "Host: a.example")
	f := &caller{request: filters.CallRequest{Path: "/p", Body: []byte("b"), MaxBody: 2}}
	answers := []filtertest.Answer{{Status: 204, Fields: []string{"X-A: b: c"}}, {Body: "abc"}, {Err: codec.UpstreamReset}}
	x.Serve("s", func(c *filtertest.Called) filtertest.Answer {
		assert.Equal(t, "s GET /p HTTP/1.1 b 1m0s", c.Service+" "+c.Line()+" "+c.Body+" "+c.Timeout.String())
		next := answers[0]
		answers = answers[1:]
		return next
	})
	for range 3 {
		assert.True(t, x.Run(f).Forwarded)
	}
	f.request.Path = "p"
	x.Run(f)
	assert.Equal(t, "b: c", string(f.results[0].Head.GetName("X-A")))
	assert.Equal(t, 204, f.results[0].Status)
	var errs []codec.Reason
	for _, r := range f.results {
		errs = append(errs, r.Err)
	}
	assert.Equal(t, []codec.Reason{codec.ReasonNone, codec.UpstreamBadResponse, codec.UpstreamReset, codec.InternalError}, errs)
}

func TestBadFieldsOfAnAnswerFailTheTest(t *testing.T) {
	r := refusal{TB: t}
	x := filtertest.New(&r, "GET / HTTP/1.1", "Host: a.example")
	x.Serve("s", func(*filtertest.Called) filtertest.Answer { return filtertest.Answer{Fields: []string{"X-A"}} })
	x.Run(&caller{request: filters.CallRequest{Path: "/"}})
	assert.True(t, r.failed)
}
