package filters_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
)

// changer replaces every piece by what make says.
type changer struct {
	says bool
	make func(piece string, last bool) string
	seen []string
}

func (c *changer) OnRequest(ctx *filters.Context) filters.Verdict {
	if c.says {
		ctx.BodyChanges()
	}
	return filters.Continue
}

func (c *changer) OnResponse(ctx *filters.Context) filters.Verdict { return c.OnRequest(ctx) }

func (c *changer) OnRequestBody(ctx *filters.Context, piece []byte, last bool) filters.Verdict {
	c.seen = append(c.seen, string(piece))
	ctx.ReplaceBody([]byte(c.make(string(piece), last)))
	return filters.Continue
}

func (c *changer) OnResponseBody(ctx *filters.Context, piece []byte, last bool) {
	c.OnRequestBody(ctx, piece, last)
}

// mark puts a letter behind each piece.
func mark(letter string) *changer {
	return &changer{says: true, make: func(piece string, _ bool) string { return piece + letter }}
}

func TestPiecesGoFromOneToTheNext(t *testing.T) {
	a, b := mark("a"), mark("b")
	chain := chainOf(a, requestOnly{}, b)
	x := get(t)
	chain.Request(&x.Context, 0)
	assert.True(t, x.RequestChanges())
	assert.False(t, x.ResponseChanges())
	out, v := x.SendRequestBody(chain, "1", "2")
	assert.Equal(t, filters.Continue, v)
	assert.Equal(t, "1ab2abab", out)

	x.NewResponse("HTTP/1.1 200 OK", "Content-Length: 2")
	chain.Response(&x.Context, 2)
	assert.True(t, x.ResponseChanges())
	out, v = x.SendResponseBody(chain, "1", "2")
	assert.Equal(t, filters.Continue, v)
	assert.Equal(t, "1ba2baba", out)

	x.ForgetResponse()
	assert.False(t, x.ResponseChanges())
	x.NewRequest("GET / HTTP/1.1", "Host: a.example")
	assert.False(t, x.RequestChanges(), "the next exchange begins anew")
}

func TestSwallowedPiecesEnd(t *testing.T) {
	gather := &changer{says: true, make: func(_ string, last bool) string {
		if last {
			return "all"
		}
		return ""
	}}
	behind := mark("b")
	x := get(t)
	chain := chainOf(gather, behind)
	chain.Request(&x.Context, 0)
	out, _ := x.SendRequestBody(chain, "1", "2")
	assert.Equal(t, "allb", out)
	assert.Equal(t, []string{"all"}, behind.seen, "nothing is no piece")

	x.NewResponse("HTTP/1.1 200 OK", "Content-Length: 2")
	chain = chainOf(behind, gather)
	chain.Response(&x.Context, 1)
	out, _ = x.SendResponseBody(chain, "1", "2")
	assert.Equal(t, "allb", out)
}

func TestLengthIsKeptUnlessSaid(t *testing.T) {
	longer := mark("!")
	longer.says = false
	x := get(t)
	chain := filters.NewChain([]*filters.Entry{filters.NewEntry("longer", longer)})
	_, v := x.SendRequestBody(chain, "1")
	assert.Equal(t, filters.Respond, v)
	reply, _ := x.Reply()
	assert.Equal(t, codec.InternalError, reply.Reason)
	_, v = x.SendResponseBody(chain, "1")
	assert.Equal(t, filters.Respond, v)
	assert.Equal(t, []string{"longer", "longer"}, x.LengthsBroken())

	longer.make = func(piece string, _ bool) string { return piece }
	_, v = x.SendRequestBody(chain, "1")
	assert.Equal(t, filters.Continue, v)
}

// reader asks for the body if its path says so.
type reader struct {
	*diary
	name   string
	asks   bool
	act    func(*filters.Context) filters.Verdict
	resume func(*filters.Context) filters.Verdict
}

func (r *reader) OnRequest(ctx *filters.Context) filters.Verdict {
	if r.asks {
		ctx.HoldBody()
		ctx.HoldBody() // once is enough
	}
	return filters.Continue
}

func (r *reader) OnWholeRequest(ctx *filters.Context, body filters.Body) filters.Verdict {
	text := ""
	for n := int64(0); n < body.Len(); n = int64(len(text)) {
		text += string(body.At(n))
	}
	r.note(r.name + " " + text)
	if r.act == nil {
		return filters.Continue
	}
	return r.act(ctx)
}

func (r *reader) OnResume(ctx *filters.Context, _ any) filters.Verdict { return r.resume(ctx) }

func TestWholeBodyGoesToThoseWhoAsked(t *testing.T) {
	d := new(diary)
	a, b, c := &reader{diary: d, name: "a", asks: true}, &reader{diary: d, name: "b"}, &reader{diary: d, name: "c", asks: true}
	chain := chainOf(a, b, c)
	x := get(t)
	chain.Request(&x.Context, 0)
	holds, whole := x.Holds()
	assert.True(t, holds && whole)
	assert.Equal(t, filters.Continue, x.SendWholeBody("he", "llo"))
	assert.Equal(t, []string{"a hello", "c hello"}, d.take())

	a.act = func(ctx *filters.Context) filters.Verdict { return ctx.Fail(codec.BadSignature, "no") }
	x.NewRequest("GET / HTTP/1.1", "Host: a.example")
	chain.Request(&x.Context, 0)
	assert.Equal(t, filters.Respond, x.SendWholeBody())
	assert.Equal(t, []string{"a "}, d.take())
}

func TestWholeBodyWaits(t *testing.T) {
	d := new(diary)
	a, b := &reader{diary: d, name: "a", asks: true, act: wait}, &reader{diary: d, name: "b", asks: true}
	var handle filters.Handle
	a.act = func(ctx *filters.Context) filters.Verdict { handle = ctx.Wait(0); return filters.Wait }
	a.resume = func(*filters.Context) filters.Verdict { return filters.Continue }
	x := get(t)
	chainOf(a, b).Request(&x.Context, 0)
	at, v := x.WholeRequest(nilBody{}, 0)
	require.Equal(t, filters.Wait, v)
	handle.Resume(nil)
	x.AwaitWake()
	require.Equal(t, filters.Continue, x.ResumeWhole(at))
	_, v = x.WholeRequest(nilBody{}, at+1)
	require.Equal(t, filters.Continue, v)
	assert.Equal(t, []string{"a ", "b "}, d.take())
}

type nilBody struct{}

func (nilBody) Len() int64      { return 0 }
func (nilBody) At(int64) []byte { return nil }

// A filter that does not read the body may have it held too.
func TestHoldWithoutReading(t *testing.T) {
	x := get(t)
	chainOf(&scripted{diary: new(diary), request: func(ctx *filters.Context) filters.Verdict {
		ctx.HoldBody()
		return filters.Continue
	}}).Request(&x.Context, 0)
	holds, whole := x.Holds()
	assert.True(t, holds)
	assert.False(t, whole)
}

// What is asked for too late cannot be done: the filter is broken, and says so.
func TestAskedInTheWrongPhase(t *testing.T) {
	hold := func(ctx *filters.Context) filters.Verdict { ctx.HoldBody(); return filters.Continue }
	changes := func(ctx *filters.Context) filters.Verdict { ctx.BodyChanges(); return filters.Continue }
	replace := func(ctx *filters.Context) filters.Verdict { ctx.ReplaceBody(nil); return filters.Continue }
	d := new(diary)
	for name, f := range map[string]any{
		"HoldBody in a response":    &scripted{diary: d, response: hold},
		"HoldBody in a body":        &scripted{diary: d, requestBody: hold},
		"HoldBody when it is whole": &reader{diary: d, asks: true, act: hold},
		"BodyChanges in a body":     &scripted{diary: d, requestBody: changes},
		"BodyChanges when whole":    &reader{diary: d, asks: true, act: changes},
		"ReplaceBody in a head":     &scripted{diary: d, request: replace},
		"ReplaceBody in a response": &scripted{diary: d, response: replace},
	} {
		t.Run(name, func(t *testing.T) {
			x := get(t)
			chain := chainOf(f)
			chain.Request(&x.Context, 0)
			x.SendRequestBody(chain, "1")
			x.SendWholeBody("1")
			x.NewResponse("HTTP/1.1 200 OK", "Content-Length: 0")
			chain.Response(&x.Context, 0)
			require.Len(t, x.Panics(), 1)
			assert.Contains(t, x.Panics()[0], "belongs to")
		})
	}
}

func TestBodiesAllocateNothing(t *testing.T) {
	chain := chainOf(&quiet{}, &quiet{})
	var ctx filters.Context
	ctx.Attach(silent{})
	piece := []byte("piece")
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		ctx.Recycle()
		chain.Request(&ctx, 0)
		chain.RequestBody(&ctx, piece, true)
		ctx.WholeRequest(nilBody{}, 0)
	}))
}

// quiet asks for everything.
type quiet struct{ buf [8]byte }

func (*quiet) OnRequest(ctx *filters.Context) filters.Verdict {
	ctx.HoldBody()
	ctx.BodyChanges()
	return filters.Continue
}

func (q *quiet) OnRequestBody(ctx *filters.Context, b []byte, _ bool) filters.Verdict {
	ctx.ReplaceBody(q.buf[:copy(q.buf[:], b)])
	return filters.Continue
}

func (*quiet) OnWholeRequest(*filters.Context, filters.Body) filters.Verdict { return filters.Continue }
