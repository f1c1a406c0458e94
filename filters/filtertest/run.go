package filtertest

import (
	"strconv"
	"strings"
	"testing"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
)

// Outcome is what became of a request that met one filter. Its exchange holds
// the heads as the service and the client got them.
type Outcome struct {
	*Exchange
	// Status of the response: the filter's, or 200 of the service.
	Status int
	// Body of the response as the client got it. Of an answer by Context.Fail it
	// is the message, around which the engine writes the product's error body.
	Body string
	// SentBody is the body of the request as the service got it.
	SentBody string
	// Forwarded tells that the service got the whole request.
	Forwarded bool
	// Cut tells that the response broke off, since a filter changed the length of
	// its body without saying so, or panicked.
	Cut bool

	chain *filters.Chain
}

// Run lets one request meet a filter, from its head to the log: New and
// Exchange.Run in one.
//
//	got := filtertest.Run(t, &Tenant{Header: "X-Tenant"}, "GET / HTTP/1.1", "Host: a.example")
//	assert.Equal(t, 403, got.Status)
func Run(tb testing.TB, filter any, lines ...string) *Outcome {
	tb.Helper()
	return New(tb, lines...).Run(filter)
}

// Run provisions the filter and takes the exchange through its phases: the heads,
// the bodies that ClientSends and ServiceSends gave, the whole body if it was
// asked for, and the log. A filter that waits is awaited: it must be resumed. Its
// calls are answered by the services of Serve. Options that the filter refuses
// fail the test; call Provision to see what it says of them.
func (x *Exchange) Run(filter any) *Outcome {
	x.tb.Helper()
	if p, ok := filter.(filters.Provisioner); ok {
		if err := p.Provision(); err != nil {
			x.tb.Fatalf("the options are refused: %v", err)
		}
	}
	out := &Outcome{Exchange: x, chain: filters.NewChain([]*filters.Entry{filters.NewEntry("filter", filter)})}
	reached := out.request()
	out.response(reached)
	out.chain.Log(&x.Context, reached)
	return out
}

// request plays the request's phases and returns how far it came.
func (o *Outcome) request() int {
	x := o.Exchange
	reached, v := o.chain.Request(&x.Context, 0)
	if v = x.await(v, func() filters.Verdict { return o.chain.Resume(&x.Context, 0) }); v == filters.Continue && len(x.sends) > 0 {
		o.SentBody, v = x.SendRequestBody(o.chain, x.sends...)
	}
	if _, whole := x.Holds(); whole && v == filters.Continue {
		_, v = x.WholeRequest(held{o.SentBody}, 0)
		v = x.await(v, func() filters.Verdict { return x.ResumeWhole(0) })
	}
	if v == filters.Respond {
		o.SentBody = ""
		o.take()
		return reached
	}
	o.Forwarded, o.Status, o.Body = true, 200, strings.Join(x.serves, "")
	x.NewResponse("HTTP/1.1 200 OK", "Content-Length: "+strconv.Itoa(len(o.Body)))
	return reached
}

// response plays the response's phases. A filter does not see the body of the
// answer by which it replaces a response.
func (o *Outcome) response(reached int) {
	x := o.Exchange
	_, v := o.chain.Response(&x.Context, reached)
	if x.await(v, func() filters.Verdict { return o.chain.Resume(&x.Context, 0) }) == filters.Respond {
		o.take()
		return
	}
	if x.Request.MethodID() == codec.HEAD || o.Status == 204 || o.Status == 304 {
		o.Body = ""
		return
	}
	pieces := x.serves
	if !o.Forwarded {
		pieces = []string{o.Body}
	}
	o.Body, v = x.SendResponseBody(o.chain, pieces...)
	o.Cut = v != filters.Continue
}

// await resumes the one filter of a chain until it says something else.
func (x *Exchange) await(v filters.Verdict, resume func() filters.Verdict) filters.Verdict {
	for v == filters.Wait {
		if c := x.host.call; c != nil {
			x.host.call = nil
			x.FinishCall(x.host.ask(c))
		} else {
			x.AwaitWake()
		}
		v = resume()
	}
	return v
}

// take makes the response of the answer that the filter prepared.
func (o *Outcome) take() {
	reply, _ := o.Reply()
	o.Status, o.Body, o.Reason = reply.Status, string(reply.Body), reply.Reason
	if reply.Explained() {
		o.Body = reply.Message
	}
	o.Response = new(codec.Head)
	o.Response.SetStatus(reply.Status)
	for _, f := range reply.Fields {
		o.Response.AddString(f.Name, f.Value)
	}
}

// Sent returns the value of a field of the request as the service got it, empty
// if there is none.
func (o *Outcome) Sent(name string) string { return string(o.Request.GetName(name)) }

// Received returns the value of a field of the response as the client got it,
// empty if there is none.
func (o *Outcome) Received(name string) string { return string(o.Response.GetName(name)) }
