// Package headers is the filter "headers": it removes, sets and adds fields of
// the request on its way to the service and of the response on its way back,
// also of answers that the gateway gives by itself.
//
// Values are fixed text. Fields of one connection and those that frame a body
// are the gateway's own and are refused when the configuration is read, as is
// Host, which a route rewrites with rewrite.host.
package headers

import (
	"errors"

	"github.com/corelane/corelane/filters"
)

func init() {
	filters.Register(filters.Kind{
		Name: "headers",
		Doc:  "Removes, sets and adds fields of requests and responses.",
		New:  func() any { return new(Filter) },
	})
}

var (
	_ filters.Provisioner    = (*Filter)(nil)
	_ filters.RequestFilter  = (*Filter)(nil)
	_ filters.ResponseFilter = (*Filter)(nil)
)

// Filter holds the options of one place of use. It does not change after
// Provision.
type Filter struct {
	// Request changes the head that is sent to the service.
	Request Edits `yaml:"request"`
	// Response changes the head that is sent to the client.
	Response Edits `yaml:"response"`

	request, response script
}

// Provision checks the options and prepares the edits.
func (f *Filter) Provision() error {
	var errRequest, errResponse error
	f.request, errRequest = f.Request.compile("request")
	f.response, errResponse = f.Response.compile("response")
	return errors.Join(errRequest, errResponse)
}

// OnRequest edits the request.
func (f *Filter) OnRequest(ctx *filters.Context) filters.Verdict {
	f.request.run(ctx.Request)
	return filters.Continue
}

// OnResponse edits the response.
func (f *Filter) OnResponse(ctx *filters.Context) filters.Verdict {
	f.response.run(ctx.Response)
	return filters.Continue
}
