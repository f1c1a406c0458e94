// Package extauth is an example of a filter that calls a service: it asks an
// authentication service about every request, lets it pass on 200, and hands
// anything else that the service answers to the client. A program gets it by a
// blank import of the package.
package extauth

import (
	"errors"
	"fmt"
	"time"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
)

func init() {
	filters.Register(filters.Kind{
		Name: "example_ext_auth",
		Doc:  "Asks a service whether a request may pass.",
		New:  func() any { return &Filter{Path: "/check", Timeout: 500 * time.Millisecond} },
	})
}

var (
	_ filters.Provisioner   = (*Filter)(nil)
	_ filters.Caller        = (*Filter)(nil)
	_ filters.RequestFilter = (*Filter)(nil)
	_ filters.Resumer       = (*Filter)(nil)
)

// Filter holds the options of one place of use.
type Filter struct {
	// Service is asked.
	Service string `yaml:"service"`
	// Path is what it is asked for.
	Path string `yaml:"path"`
	// Timeout is how long its answer may take.
	Timeout time.Duration `yaml:"timeout"`
	// Forward names fields of the request that it gets.
	Forward []string `yaml:"forward"`
	// Accept names fields of its answer that the request gets. What a client
	// says in such a field is removed.
	Accept []string `yaml:"accept"`

	// requests are reused: a call takes copies.
	requests *filters.PerLoop[filters.CallRequest]
}

// Provision checks the options.
func (f *Filter) Provision() error {
	var errs []error
	if f.Service == "" {
		errs = append(errs, errors.New("service: a service is needed"))
	}
	if f.Path == "" || f.Path[0] != '/' {
		errs = append(errs, fmt.Errorf("path: %q does not begin with /", f.Path))
	}
	for option, names := range map[string][]string{"forward": f.Forward, "accept": f.Accept} {
		for _, name := range names {
			if err := filters.CheckFieldName(name); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", option, err))
			}
		}
	}
	f.requests = filters.NewPerLoopFunc(func(_ int, r *filters.CallRequest) {
		*r = filters.CallRequest{Path: f.Path, MaxBody: 4 << 10}
	})
	return errors.Join(errs...)
}

// Services tells whom the filter calls.
func (f *Filter) Services() []string { return []string{f.Service} }

// OnRequest asks.
func (f *Filter) OnRequest(ctx *filters.Context) filters.Verdict {
	for _, name := range f.Accept {
		ctx.Request.Del(name)
	}
	r := f.requests.At(ctx)
	r.Fields = r.Fields[:0]
	for _, name := range f.Forward {
		r.Fields = append(r.Fields, filters.CallField{Name: name, Value: ctx.Request.GetName(name)})
	}
	return ctx.Call(f.Service, r, f.Timeout)
}

// OnResume does what the service said; without an answer nobody passes.
func (f *Filter) OnResume(ctx *filters.Context, value any) filters.Verdict {
	r, _ := value.(*filters.CallResult)
	switch {
	case r == nil || r.Err != codec.ReasonNone || r.Status >= 500:
		return ctx.Fail(codec.FilterUnavailable, "nobody can say whether the request may pass")
	case r.Status != 200:
		// The result is gone when the answer is sent.
		return ctx.Respond(max(r.Status, 200), append([]byte(nil), r.Body...))
	}
	for _, name := range f.Accept {
		if value := r.Head.GetName(name); value != nil {
			ctx.Request.Set([]byte(name), value)
		}
	}
	return filters.Continue
}
