// Package hello is an example of a filter that is not built in: it answers with
// a greeting. Build a gateway with it, and try it:
//
//	corelane build --with example.com/corelane-hello=examples/plugin -o bin/hello
//	bin/hello filters hello
package hello

import (
	"errors"

	"github.com/corelane/corelane/filters"
)

func init() {
	filters.Register(filters.Kind{
		Name: "hello",
		Doc:  "Greets whoever the field X-Name names.",
		New:  func() any { return &Filter{Greeting: "hello"} },
	})
}

// Filter holds the options of one place of use.
type Filter struct {
	Greeting string `yaml:"greeting" doc:"The word before the name."`
}

// Provision checks the options.
func (f *Filter) Provision() error {
	if f.Greeting == "" {
		return errors.New("greeting: a word is needed")
	}
	return nil
}

// Answers tells that a route with the filter needs no service.
func (f *Filter) Answers() bool { return true }

// OnRequest answers.
func (f *Filter) OnRequest(ctx *filters.Context) filters.Verdict {
	name := string(ctx.Request.GetName("X-Name"))
	if name == "" {
		name = "world"
	}
	return ctx.Respond(200, []byte(f.Greeting+", "+name+"\n"))
}
