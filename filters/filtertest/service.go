package filtertest

import (
	"strings"
	"time"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/codec/http1"
	"github.com/corelane/corelane/filters"
)

// Called is a call as the service gets it.
type Called struct {
	// Service is the name that the filter called.
	Service string
	// Head is the request's head; Fields lists its fields.
	Head *codec.Head
	// Body is a copy of the body.
	Body string
	// Timeout is how long the filter would wait.
	Timeout time.Duration
}

// Answer is what a service says to a call: a status, fields such as "X-User: ada",
// and a body; or Err, and then there is no answer.
type Answer struct {
	Status int
	Fields []string
	Body   string
	Err    codec.Reason
}

// Serve makes a service that answers the calls of a filter in Run. A call of any
// other fails with no_endpoint.
func (x *Exchange) Serve(service string, answer func(c *Called) Answer) {
	if x.host.services == nil {
		x.host.services = map[string]func(*Called) Answer{}
	}
	x.host.services[service] = answer
}

// Dropped returns how many calls were taken back before their answer.
func (x *Exchange) Dropped() int { return x.host.dropped }

// pending is the call that a filter waits for.
type pending struct {
	Called
	sendable bool
	bound    int
}

// Call implements filters.Host.
func (h *host) Call(service string, r *filters.CallRequest, timeout int64) {
	c := &pending{bound: r.Bound()}
	c.Service, c.Head, c.Body, c.Timeout = service, new(codec.Head), string(r.Body), time.Duration(timeout)
	c.Head.Reset()
	c.sendable = r.Fill(c.Head, service)
	h.call = c
}

// DropCall implements filters.Host.
func (h *host) DropCall() {
	h.call = nil
	h.dropped++
}

// ask has the service answer.
func (h *host) ask(c *pending) *filters.CallResult {
	service := h.services[c.Service]
	switch {
	case !c.sendable:
		return &filters.CallResult{Err: codec.InternalError}
	case service == nil:
		return &filters.CallResult{Err: codec.NoEndpoint}
	}
	a := service(&c.Called)
	if a.Err != codec.ReasonNone {
		return &filters.CallResult{Err: a.Err}
	}
	h.t.Helper()
	if len(a.Body) > c.bound {
		return &filters.CallResult{Err: codec.UpstreamBadResponse}
	}
	head := new(codec.Head)
	head.Reset()
	head.SetStatus(a.Status)
	for _, line := range a.Fields {
		name, value, ok := strings.Cut(line, ": ")
		if !ok {
			h.t.Fatalf("%q is no field such as `X-User: ada`", line)
		}
		head.AddString(name, value)
	}
	head.SetFraming(codec.FramingLength, int64(len(a.Body)))
	return &filters.CallResult{Status: a.Status, Head: head, Body: []byte(a.Body)}
}

// Line returns the first line of a call's request, such as "GET /check HTTP/1.1".
func (c *Called) Line() string {
	line, _, _ := strings.Cut(string(http1.AppendRequest(nil, c.Head)), "\r\n")
	return line
}
