// Package redirect is the filter "redirect": it answers every request it sees
// with a redirect to a place made of fixed text and parts of the request. A route
// with it needs no service.
//
// Nothing a client sends can choose another place than the one configured: a
// part of the request enters the location only where it belongs, in the encoding
// of that place. A path never reaches the authority, a location without a host
// never begins with "//", and no byte can end the field line. The one part that
// can name another site is {host}, which is the client's own idea of this one;
// give the route match.hosts to bound it.
package redirect

import (
	"fmt"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
)

func init() {
	filters.Register(filters.Kind{
		Name: "redirect",
		Doc:  "Answers every request with a redirect.",
		New:  func() any { return &Filter{Status: 301, Location: "https://{host}{path}"} },
	})
}

var (
	_ filters.Provisioner   = (*Filter)(nil)
	_ filters.RequestFilter = (*Filter)(nil)
	_ filters.Answerer      = (*Filter)(nil)
)

// Filter holds the options of one place of use. It does not change after
// Provision.
type Filter struct {
	// Status of the answer: 301, 302, 303, 307 or 308. The last two keep the
	// method (RFC 9110 §15.4).
	Status int `yaml:"status"`
	// Location is where to: an http or https URL, or a path on this host. {host}
	// is the request's host without its port, {path} its path with the leading
	// slash, {query} its query without "?", and {scheme} is http or https. {query}
	// comes last and after "?" or "&", which are left out when there is no query.
	Location string `yaml:"location"`

	location template
	fixed    []filters.ReplyField
}

// Provision checks the options and prepares the location.
func (f *Filter) Provision() error {
	switch f.Status {
	case 301, 302, 303, 307, 308:
	default:
		return fmt.Errorf("status: %d is not one of 301, 302, 303, 307 and 308", f.Status)
	}
	t, err := parse(f.Location)
	if err != nil {
		return fmt.Errorf("location: %w", err)
	}
	f.location = t
	f.fixed = nil
	if t.isFixed() {
		f.fixed = []filters.ReplyField{{Name: codec.Location.String(), Value: f.Location}}
	}
	return nil
}

// Answers tells that the route needs no service.
func (f *Filter) Answers() bool { return true }

// buffers hold a location while it is made.
var buffers = filters.NewPerLoop[[]byte]()

// OnRequest answers. It allocates the location and its field, unless the
// location is fixed.
func (f *Filter) OnRequest(ctx *filters.Context) filters.Verdict {
	if f.fixed != nil {
		return ctx.Respond(f.Status, nil, f.fixed...)
	}
	buffer := buffers.At(ctx)
	location, ok := f.location.fill((*buffer)[:0], ctx)
	if !ok {
		return ctx.Fail(codec.BadRequest, "the request has no host to redirect to")
	}
	*buffer = location
	return ctx.Respond(f.Status, nil, filters.ReplyField{
		Name:  codec.Location.String(),
		Value: string(oneSlash(location)),
	})
}
