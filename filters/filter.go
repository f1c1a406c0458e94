package filters

// Verdict is what a filter says after a phase.
type Verdict uint8

const (
	// Continue hands the exchange to the next filter.
	Continue Verdict = iota
	// Respond ends the request phases: the answer prepared with Context.Respond
	// or Context.Fail is sent and nothing is forwarded.
	Respond
	// Wait suspends the exchange until the Handle got from Context.Wait is
	// resumed, its deadline passes, or the call begun by Context.Call has ended.
	// It is a verdict of the head phases only.
	Wait
)

// RequestFilter sees the request head after routing and before an upstream is
// chosen. It may change the head.
type RequestFilter interface {
	OnRequest(ctx *Context) Verdict
}

// RequestBodyFilter sees each piece of the request body before it is forwarded.
// The piece is valid until return and must not be changed; Context.ReplaceBody
// puts another in its place. A request without a body has no body phase. It may
// answer Continue or Respond; an answer after the response has begun resets the
// exchange instead.
type RequestBodyFilter interface {
	OnRequestBody(ctx *Context, piece []byte, last bool) Verdict
}

// ResponseFilter sees the head of the response, that of an upstream or a local
// answer, before it is sent. Filters that the request did not reach are not
// called; the one that answered is. It may answer Continue or Wait; Respond
// replaces the response.
type ResponseFilter interface {
	OnResponse(ctx *Context) Verdict
}

// ResponseBodyFilter sees each piece of the response body before it is sent.
// The piece is valid until return and must not be changed; Context.ReplaceBody
// puts another in its place. A response without a body has no body phase: the
// answer to HEAD, a 204, a 304. Filters that have not seen the head that is sent
// do not see its body.
type ResponseBodyFilter interface {
	OnResponseBody(ctx *Context, piece []byte, last bool)
}

// LogFilter is called once when the exchange has ended, whatever its end.
type LogFilter interface {
	OnLog(ctx *Context)
}

// ConnectionFilter takes part where connections are passed through unread: it is
// called once for each client of a tcp listener, before an endpoint is chosen.
// There is no request: Context.Request is an empty head, whose authority is the
// server name where one was looked for. It may answer Continue or Respond, which
// resets the connection and has it logged with the reason of the answer; nobody
// reads the rest of it. Of the other phases only LogFilter's has a meaning there.
type ConnectionFilter interface {
	OnConnection(ctx *Context) Verdict
}

// Resumer is implemented by filters that return Wait: it is called on the loop
// with the value given to Handle.Resume, or the *CallResult of a call, and its
// verdict takes the place of the phase's.
type Resumer interface {
	OnResume(ctx *Context, value any) Verdict
}

// Provisioner is implemented by filters that check their options or prepare
// themselves. Provision is called once, on the control side, before the filter
// sees an exchange; its error is reported at the filter's position in the
// configuration. It should gather all it has to say with errors.Join.
type Provisioner interface {
	Provision() error
}

// Answerer is implemented by filters that answer every request they see, so
// that a route with one of them needs no service.
type Answerer interface {
	Answers() bool
}
