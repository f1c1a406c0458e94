package filtertest

import (
	"testing"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
)

// Outcome is what became of a request that met one filter. Its exchange holds
// the heads as the service and the client got them.
type Outcome struct {
	*Exchange
	// Status of the response: the filter's, or 200 of a service that answers with
	// nothing else.
	Status int
	// Body of an answer of the filter's own. For an answer by Context.Fail it is
	// the message, around which the engine writes the product's error body.
	Body string
	// Forwarded tells that the service got the request.
	Forwarded bool
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

// Run provisions the filter and takes the exchange through its head phases and
// its log phase. A filter that waits is awaited: it must be resumed. Its calls are
// answered by the services of Serve. Options that the filter refuses fail the
// test; call Provision to see what it says of them.
func (x *Exchange) Run(filter any) *Outcome {
	x.tb.Helper()
	if p, ok := filter.(filters.Provisioner); ok {
		if err := p.Provision(); err != nil {
			x.tb.Fatalf("the options are refused: %v", err)
		}
	}
	chain := filters.NewChain([]*filters.Entry{filters.NewEntry("filter", filter)})
	out := &Outcome{Exchange: x}
	reached, v := chain.Request(&x.Context, 0)
	if v = x.await(chain, v); v == filters.Respond {
		out.take()
	} else {
		out.Forwarded, out.Status = true, 200
		x.NewResponse("HTTP/1.1 200 OK", "Content-Length: 0")
	}
	_, v = chain.Response(&x.Context, reached)
	if x.await(chain, v) == filters.Respond {
		out.take()
	}
	chain.Log(&x.Context, reached)
	return out
}

// await resumes the one filter of a chain until it says something else.
func (x *Exchange) await(chain *filters.Chain, v filters.Verdict) filters.Verdict {
	for v == filters.Wait {
		if c := x.host.call; c != nil {
			x.host.call = nil
			x.FinishCall(x.host.ask(c))
		} else {
			x.AwaitWake()
		}
		v = chain.Resume(&x.Context, 0)
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
