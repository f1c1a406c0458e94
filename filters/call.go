package filters

import (
	"runtime/debug"

	"github.com/corelane/corelane/codec"
)

// failed is what a client reads when a filter broke; the cause is in the log.
const failed = "a filter failed"

type phase uint8

const (
	phaseRequest phase = iota
	phaseRequestBody
	phaseResponse
	phaseResponseBody
	phaseLog
	phaseResume
	phaseWhole
	phaseConnection
)

// mayWait tells whether Wait is a verdict of the phase.
func (p phase) mayWait() bool {
	return p == phaseRequest || p == phaseResponse || p == phaseResume || p == phaseWhole
}

// call runs one phase of one filter. Whatever the filter does, leave has the
// last word.
func (e *Entry) call(ctx *Context, p phase, piece []byte, last bool) (v Verdict) {
	start := ctx.host.Clock()
	ctx.body.running, ctx.body.phase = e, p
	defer e.leave(ctx, p, start, &v)
	switch p {
	case phaseRequest:
		return e.request.OnRequest(ctx)
	case phaseRequestBody:
		return e.requestBody.OnRequestBody(ctx, piece, last)
	case phaseResponse:
		return e.response.OnResponse(ctx)
	case phaseResponseBody:
		e.responseBody.OnResponseBody(ctx, piece, last)
	case phaseLog:
		e.log.OnLog(ctx)
	case phaseResume:
		return e.resume(ctx)
	case phaseWhole:
		return e.whole.OnWholeRequest(ctx, ctx.body.whole)
	case phaseConnection:
		return e.connection.OnConnection(ctx)
	}
	return Continue
}

// leave ends a call: it turns a panic into the answer 500 internal_error of
// this exchange alone, checks the verdict and reports the time taken.
func (e *Entry) leave(ctx *Context, p phase, start int64, v *Verdict) {
	if r := recover(); r != nil {
		ctx.host.FilterPanicked(e, r, debug.Stack())
		*v = ctx.Fail(codec.InternalError, failed)
	}
	*v = ctx.keepPromise(p, *v)
	ctx.host.FilterTime(e, ctx.host.Clock()-start)
}

// keepPromise holds a filter to its verdict: Respond needs an answer, Wait a
// handle that somebody may resume, and only head phases may wait. A verdict
// that cannot be kept becomes 500 internal_error, since going on would let the
// request through and waiting would never end.
func (c *Context) keepPromise(p phase, v Verdict) Verdict {
	if v == Wait && p.mayWait() && c.Suspended() {
		return Wait
	}
	c.ExpireWait()
	if v == Continue || v == Respond && c.reply.set {
		return v
	}
	return c.Fail(codec.InternalError, failed)
}

// resume hands the value on. A filter that waits without a Resumer goes on, but
// not one that asked a service and does not look at the answer.
func (e *Entry) resume(ctx *Context) Verdict {
	value := ctx.takeResume()
	if r, ok := e.filter.(Resumer); ok {
		return r.OnResume(ctx, value)
	}
	if _, called := value.(*CallResult); called {
		return ctx.Fail(codec.InternalError, failed)
	}
	return Continue
}
