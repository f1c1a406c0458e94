package filters

import (
	"time"

	"github.com/corelane/corelane/codec"
)

// Bounds of a call, in bytes.
const (
	// DefaultCallBody is the largest body of an answer unless the request names
	// another bound.
	DefaultCallBody = 64 << 10
	// MaxCallBody bounds the body of a request, and what MaxBody may ask for.
	MaxCallBody = 256 << 10
)

// Caller is implemented by filters that call services. Services names them, after
// Provision; one that the configuration lacks is an error at the filter's
// position.
type Caller interface {
	Services() []string
}

// CallRequest is what a filter asks a service. Everything in it is copied before
// Context.Call returns, so that slices of the context's heads may stand in it
// and one CallRequest may serve every exchange of a loop (PerLoop).
type CallRequest struct {
	// Method is GET if it is empty.
	Method string
	// Host is the name of the service if it is empty.
	Host string
	// Path begins with "/" and may have a query behind "?".
	Path string
	// Fields are sent in this order. Those of the framing and of one connection
	// are the gateway's own (CheckFieldName).
	Fields []CallField
	// Body is at most MaxCallBody long.
	Body []byte
	// MaxBody bounds the body of the answer, up to MaxCallBody; DefaultCallBody
	// if it is not positive.
	MaxBody int
}

// CallField is one field line of a CallRequest. A nil value leaves it out, so that
// a field of the exchange can be passed on whether it is there or not.
type CallField struct {
	Name  string
	Value []byte
}

// CallResult is the value that OnResume gets for a call. It is valid until OnResume
// returns.
type CallResult struct {
	// Err says why there is no answer; ReasonNone: there is one, whatever its
	// status. TotalTimeout: not in time. UpstreamBadResponse: malformed, or its
	// body was too large. InternalError: the CallRequest cannot be sent.
	Err codec.Reason
	// Status, Head and Body are the answer; zero if there is none.
	Status int
	Head   *codec.Head
	Body   []byte
}

// Call asks a service of the configuration and suspends the exchange; return the
// verdict that it returns. The service's balancing, limits, timeouts and retries
// apply; nothing is sent before the filter has returned. When the answer is
// there, or cannot come, or `timeout` is over (DefaultWait if not positive),
// OnResume gets a *CallResult. An exchange makes one call at a time, and one that
// ends before its call takes the call back. A call is not seen by filters. Loop
// only, in the head phases and in OnResume.
func (c *Context) Call(service string, r *CallRequest, timeout time.Duration) Verdict {
	c.dropCall()
	if c.open(timeout) {
		c.waiting.called = true
		c.host.Call(service, r, int64(c.waiting.limit))
	}
	return Wait
}

// FinishCall makes the result the value of the wait, as Resume does with its own
// but on the loop and without a Wake: the engine goes on with Chain.Resume. For
// the engine, loop only.
func (c *Context) FinishCall(r *CallResult) {
	w := &c.waiting
	w.called, w.value = false, r
	w.word.Store(w.word.Load()&^waitStateMask | waitResumed)
}

// dropCall takes the call back that nobody waits for any more.
func (c *Context) dropCall() {
	if c.waiting.called {
		c.waiting.called = false
		c.host.DropCall()
	}
}

// Fill writes the head of the request into h, which is empty. False: it cannot be
// sent. For the engine and filtertest.
func (r *CallRequest) Fill(h *codec.Head, service string) bool {
	path, query, asks := r.target()
	if len(path) == 0 || path[0] != '/' || len(r.Body) > MaxCallBody {
		return false
	}
	method, host := r.Method, r.Host
	if method == "" {
		method = "GET"
	}
	if host == "" {
		host = service
	}
	if !codec.IsToken([]byte(method)) || method == "CONNECT" {
		return false
	}
	h.SetMethod([]byte(method))
	h.SetPath(path)
	if asks {
		h.SetQuery(query)
	}
	h.SetAuthority([]byte(host))
	if !r.fillFields(h) {
		return false
	}
	switch h.MethodID() {
	case codec.GET, codec.HEAD, codec.DELETE, codec.OPTIONS, codec.TRACE:
		if len(r.Body) == 0 {
			return true
		}
	}
	h.SetFraming(codec.FramingLength, int64(len(r.Body)))
	return true
}

// target takes the path apart.
func (r *CallRequest) target() (path, query []byte, asks bool) {
	b := []byte(r.Path)
	for i, c := range b {
		if c == '?' {
			return b[:i], b[i+1:], true
		}
	}
	return b, nil, false
}

func (r *CallRequest) fillFields(h *codec.Head) bool {
	for i := range r.Fields {
		f := &r.Fields[i]
		if f.Value == nil {
			continue
		}
		k := codec.Lookup([]byte(f.Name))
		if k == codec.Host || k == codec.Expect || ownFields.Has(k) || k == codec.Unknown && !codec.IsToken([]byte(f.Name)) {
			return false
		}
		h.Add([]byte(f.Name), f.Value)
	}
	return true
}

// Bound is the largest body of the answer, in bytes. For the engine and
// filtertest.
func (r *CallRequest) Bound() int {
	if r.MaxBody <= 0 {
		return DefaultCallBody
	}
	return min(r.MaxBody, MaxCallBody)
}
