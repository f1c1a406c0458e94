package filters

import (
	"net/netip"

	"github.com/corelane/corelane/codec"
)

// TraceIDLen is the length of a W3C trace id in hexadecimal digits.
const TraceIDLen = 32

// maxSlots bounds the typed slots that filters of one program may register.
const maxSlots = 16

// RouteInfo is what a filter may know of the route that was chosen.
type RouteInfo struct {
	ID       string
	Metadata map[string]string
}

// Host is the engine's side of a context. The chain and the context call it; a
// filter never does.
type Host interface {
	// Clock returns monotonic nanoseconds, read now and not once a turn.
	Clock() int64
	// Wake is called from any goroutine, exactly once for each Wait that was
	// resumed: the engine posts the exchange back to its loop. It may arrive when
	// no filter waits, because the exchange was aborted or the filter changed its
	// mind; the engine then calls Context.SettleWait and nothing else.
	Wake()
	// SetWaitDeadline arms the deadline of a Wait, in nanoseconds from now, in
	// place of an earlier one. A deadline that comes when no filter waits is
	// ignored.
	SetWaitDeadline(after int64)
	// Call begins a call, in place of the deadline of a Wait. It takes copies and
	// does nothing else before the filter has returned. In the end
	// Context.FinishCall is called, unless DropCall was.
	Call(service string, r *CallRequest, timeout int64)
	// DropCall takes the call back; it is under way.
	DropCall()
	// FilterTime takes the time one call took.
	FilterTime(e *Entry, nanos int64)
	// FilterPanicked takes what a filter panicked with.
	FilterPanicked(e *Entry, value any, stack []byte)
	// FilterLength counts a filter that changed the length of a body without
	// having said so.
	FilterLength(e *Entry)
	// ResumedTwice counts a second or late Resume. Any goroutine may call it.
	ResumedTwice()
}

// Context is one exchange as filters see it. It lives as long as the exchange
// and is used on its loop only. Every byte slice got from it is valid until the
// callback returns: keep a copy for later.
type Context struct {
	// Request is the head of the request as it will be forwarded.
	Request *codec.Head
	// Response is the head of the response as it will be sent; nil before the
	// response phases.
	Response *codec.Head
	// Client is the client's address: the peer's, or what a trusted proxy said.
	Client netip.Addr
	// Peer is the address at the other end of the connection, or the one that a
	// PROXY header gives in its place; invalid for a unix socket.
	Peer netip.AddrPort
	// Scheme is "http" or "https", as the client used it.
	Scheme string
	// Route is the route chosen; nil in listener filters.
	Route *RouteInfo
	// Service and Endpoint name the upstream; empty for local answers.
	Service, Endpoint string
	// TraceID is the trace's id, continued from traceparent or begun here.
	TraceID [TraceIDLen]byte
	// Loop is the number of the loop, from 0, for PerLoop.
	Loop int
	// AcceptedAt and Now are monotonic nanoseconds: when the request's head was
	// complete, and the time of this turn.
	AcceptedAt, Now int64
	// Wall is Now as nanoseconds of Unix time.
	Wall int64
	// Reason tells why a local answer was given; ReasonNone for an upstream's.
	Reason codec.Reason

	reply   Reply
	host    Host
	slots   [maxSlots]any
	slotted bool // a slot was set: most exchanges have nothing to clear
	waiting waitState
	body    bodyWork
}

// Reply is a local answer. Its slices may belong to a filter and are not
// changed.
type Reply struct {
	// Status is 200 to 599.
	Status int
	// Reason, if there is one, is what the exchange counts and is logged under.
	Reason codec.Reason
	// Message is for the client of an answer that has a reason and no body: it
	// gets the product's error body.
	Message string
	Body    []byte
	// Fields are added to the response in this order.
	Fields []ReplyField
	set    bool
}

// ReplyField is one field line of a Reply.
type ReplyField struct{ Name, Value string }

// Attach binds the context to the engine; called once for each exchange.
func (c *Context) Attach(h Host) { c.host = h }

// Recycle clears the context for the next exchange. The engine calls it when no
// wait is open: ExpireWait said true, or the Wake has come and was settled. The
// wait's word survives, so that a Handle of the last exchange cannot resume the
// next one. Loop only.
func (c *Context) Recycle() {
	c.Request, c.Response, c.Route = nil, nil, nil
	c.Client, c.Peer = netip.Addr{}, netip.AddrPort{}
	c.Service, c.Endpoint, c.Scheme = "", "", ""
	c.TraceID = [TraceIDLen]byte{}
	c.AcceptedAt, c.Now, c.Wall = 0, 0, 0
	c.Reason = codec.ReasonNone
	c.reply = Reply{}
	if c.slotted {
		c.slots, c.slotted = [maxSlots]any{}, false
	}
	c.waiting.value, c.waiting.dropped = nil, false
	c.body.reset()
}

// Respond prepares a local answer with a body of the filter's own and returns
// the verdict Respond. The status is 200 to 599; the framing of the body is the
// engine's. The slices must not change afterwards: a filter that prepares its
// fields in Provision and passes them with `...` allocates nothing here.
func (c *Context) Respond(status int, body []byte, fields ...ReplyField) Verdict {
	c.reply = Reply{Status: status, Body: body, Fields: fields, set: true}
	return Respond
}

// Fail prepares the product's error answer for the reason and returns the
// verdict Respond. The message is for the client: it must not hold a secret and
// is best a constant.
func (c *Context) Fail(reason codec.Reason, message string) Verdict {
	c.reply = Reply{Status: reason.Status(), Reason: reason, Message: message, set: true}
	return Respond
}

// Answer prepares a local answer that has both a reason and a body, a status or
// fields of the filter's own, and returns the verdict Respond. Respond and Fail
// are short for the common ones, and what they say of slices and messages holds.
func (c *Context) Answer(r Reply) Verdict {
	c.reply = r
	c.reply.set = true
	return Respond
}

// Explained tells whether the answer's body is the product's error body, which
// the engine writes.
func (r *Reply) Explained() bool { return r.Reason != codec.ReasonNone && len(r.Body) == 0 }

// Reply returns the answer prepared by a filter; false if none was. For the
// engine, loop only; valid until Recycle.
func (c *Context) Reply() (*Reply, bool) { return &c.reply, c.reply.set }
