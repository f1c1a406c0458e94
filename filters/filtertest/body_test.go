package filtertest_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/filters/filtertest"
)

// reader does with bodies what the field X-Do of the request says.
type reader struct{ whole string }

func (r *reader) does(ctx *filters.Context, what string) bool {
	return string(ctx.Request.GetName("X-Do")) == what
}

func (r *reader) OnRequest(ctx *filters.Context) filters.Verdict {
	switch {
	case r.does(ctx, "answer"):
		return ctx.Respond(200, []byte("made"))
	case r.does(ctx, "grow"):
		ctx.BodyChanges()
	case r.does(ctx, "hold"), r.does(ctx, "refuse whole"), r.does(ctx, "wait"):
		ctx.HoldBody()
	}
	return filters.Continue
}

func (r *reader) OnRequestBody(ctx *filters.Context, piece []byte, last bool) filters.Verdict {
	switch {
	case r.does(ctx, "refuse") && last:
		return ctx.Fail(codec.Forbidden, "not this")
	case r.does(ctx, "grow") && last:
		ctx.ReplaceBody([]byte("!"))
	case r.does(ctx, "break"):
		ctx.ReplaceBody([]byte("longer than it was"))
	default:
		ctx.ReplaceBody(bytes.ToUpper(piece))
	}
	return filters.Continue
}

func (r *reader) OnWholeRequest(ctx *filters.Context, body filters.Body) filters.Verdict {
	r.whole = string(body.At(0))
	switch {
	case r.does(ctx, "refuse whole"):
		return ctx.Fail(codec.Forbidden, "not this")
	case r.does(ctx, "wait"):
		go ctx.Wait(0).Resume(nil)
		return filters.Wait
	}
	return filters.Continue
}

func (r *reader) OnResponse(ctx *filters.Context) filters.Verdict {
	if r.does(ctx, "replace") {
		return ctx.Respond(200, []byte("replaced"))
	}
	if r.does(ctx, "grow") {
		ctx.BodyChanges()
	}
	return filters.Continue
}

func (r *reader) OnResponseBody(ctx *filters.Context, piece []byte, last bool) {
	switch {
	case r.does(ctx, "grow") && last:
		ctx.ReplaceBody([]byte("?"))
	case r.does(ctx, "break back"):
		ctx.ReplaceBody([]byte("longer than it was"))
	default:
		ctx.ReplaceBody(bytes.ToUpper(piece))
	}
}

func TestRunPlaysBodies(t *testing.T) {
	for do, want := range map[string]struct {
		status           int
		sent, got, whole string
		cut, broken      bool
	}{
		"nothing":      {status: 200, sent: "ABCD", got: "EFGH"},
		"grow":         {status: 200, sent: "ABCD!", got: "EFGH?"},
		"refuse":       {status: 403, got: "NOT THIS"},
		"break":        {status: 500, got: "A FILTER CHANGED THE LENGTH OF A BODY WITHOUT SAYING SO", broken: true},
		"break back":   {status: 200, sent: "ABCD", cut: true, broken: true},
		"hold":         {status: 200, sent: "ABCD", got: "EFGH", whole: "ABCD"},
		"refuse whole": {status: 403, got: "NOT THIS", whole: "ABCD"},
		"wait":         {status: 200, sent: "ABCD", got: "EFGH", whole: "ABCD"},
		"answer":       {status: 200, got: "MADE"},
		"replace":      {status: 200, sent: "ABCD", got: "replaced"},
	} {
		t.Run(do, func(t *testing.T) {
			f := &reader{}
			x := filtertest.New(t, "POST / HTTP/1.1", "Host: a.example", "Content-Length: 4", "X-Do: "+do)
			x.ClientSends("ab", "cd")
			x.ServiceSends("ef", "gh")
			got := x.Run(f)
			assert.Equal(t, want.status, got.Status)
			assert.Equal(t, want.sent, got.SentBody)
			assert.Equal(t, want.sent != "", got.Forwarded)
			assert.Equal(t, want.got, got.Body)
			assert.Equal(t, want.whole, f.whole)
			assert.Equal(t, want.cut, got.Cut)
			assert.Equal(t, want.broken, len(got.LengthsBroken()) > 0)
		})
	}
}

// A message without a body has no body phase.
func TestRunWithoutBodies(t *testing.T) {
	got := filtertest.Run(t, &reader{}, "GET / HTTP/1.1", "Host: a.example", "X-Do: refuse")
	assert.True(t, got.Forwarded)
	x := filtertest.New(t, "HEAD / HTTP/1.1", "Host: a.example", "X-Do: break back")
	x.ServiceSends("ef")
	got = x.Run(&reader{})
	assert.False(t, got.Cut)
	assert.Empty(t, got.Body)
	x.NewRequest("GET / HTTP/1.1", "Host: a.example", "X-Do: nothing")
	assert.Empty(t, x.Run(&reader{}).Body, "the bodies of the request before are gone")
}
