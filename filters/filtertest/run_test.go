package filtertest_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/filters/filtertest"
)

// actor does what the field X-Do of the request says.
type actor struct {
	refuse error
	logged int
}

func (a *actor) Provision() error { return a.refuse }

func (a *actor) OnRequest(ctx *filters.Context) filters.Verdict {
	switch string(ctx.Request.GetName("X-Do")) {
	case "fail":
		return ctx.Fail(codec.Forbidden, "not you")
	case "answer":
		return ctx.Respond(201, []byte("made"), filters.ReplyField{Name: "X-By", Value: "filter"})
	case "wait":
		handle := ctx.Wait(0)
		go handle.Resume("late")
		return filters.Wait
	}
	ctx.Request.SetString("X-To", "service")
	return filters.Continue
}

func (a *actor) OnResume(ctx *filters.Context, value any) filters.Verdict {
	ctx.Request.SetString("X-To", value.(string))
	return filters.Continue
}

func (a *actor) OnResponse(ctx *filters.Context) filters.Verdict {
	if string(ctx.Request.GetName("X-Do")) == "replace" {
		return ctx.Respond(502, []byte("no"))
	}
	ctx.Response.SetString("X-Back", "client")
	return filters.Continue
}

func (a *actor) OnLog(*filters.Context) { a.logged++ }

func TestRun(t *testing.T) {
	tests := []struct {
		do        string
		forwarded bool
		status    int
		reason    codec.Reason
		body      string
		to, back  string
	}{
		{"nothing", true, 200, codec.ReasonNone, "", "service", "client"},
		{"wait", true, 200, codec.ReasonNone, "", "late", "client"},
		{"fail", false, 403, codec.Forbidden, "not you", "", "client"},
		{"answer", false, 201, codec.ReasonNone, "made", "", "client"},
		{"replace", true, 502, codec.ReasonNone, "no", "service", ""},
	}
	for _, tt := range tests {
		t.Run(tt.do, func(t *testing.T) {
			f := &actor{}
			got := filtertest.Run(t, f, "GET / HTTP/1.1", "Host: a.example", "X-Do: "+tt.do)
			assert.Equal(t, tt.forwarded, got.Forwarded)
			assert.Equal(t, tt.status, got.Status)
			assert.Equal(t, tt.reason, got.Reason)
			assert.Equal(t, tt.body, got.Body)
			assert.Equal(t, tt.to, got.Sent("X-To"))
			assert.Equal(t, tt.back, got.Received("X-Back"))
			assert.Equal(t, 1, f.logged)
		})
	}
}

func TestRunWithRefusedOptions(t *testing.T) {
	r := refusal{TB: t}
	filtertest.Run(&r, &actor{refuse: errors.New("no")}, "GET / HTTP/1.1", "Host: a.example")
	assert.True(t, r.failed)
}
