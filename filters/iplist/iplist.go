// Package iplist is the filter "ip_list": it decides by the client's address alone.
// An address of `deny` is answered 403 ip_denied, and so is one that is not of
// `allow` where that is given. One of `bypass` that got so far need not prove who
// it is, nor keep to limits.
//
// It is a filter of connections too: a tcp listener that has it resets whom it
// denies.
package iplist

import (
	"errors"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
)

// message is what clients read in the product's error body.
const message = "this address is not let in"

func init() {
	filters.Register(filters.Kind{
		Name: "ip_list",
		Doc:  "Lets clients in, or not, by their addresses.",
		New:  func() any { return new(Filter) },
	})
}

var (
	_ filters.Provisioner      = (*Filter)(nil)
	_ filters.RequestFilter    = (*Filter)(nil)
	_ filters.ConnectionFilter = (*Filter)(nil)
)

// Filter holds the options of one place of use. It does not change after
// Provision.
type Filter struct {
	// Bypass lists addresses and networks (CIDR) whose clients later filters of
	// authentication and limits let pass; unix stands for clients on a unix socket,
	// here and below. It lets in nobody whom deny or allow keep out.
	Bypass []string `yaml:"bypass"`
	// Deny lists those that are answered 403 ip_denied.
	Deny []string `yaml:"deny"`
	// Allow, if it is given, lists the only ones that are not.
	Allow []string `yaml:"allow"`

	bypass, deny, allow addresses
}

// Provision reads the lists.
func (f *Filter) Provision() error {
	return errors.Join(
		f.bypass.read("bypass", f.Bypass), f.deny.read("deny", f.Deny), f.allow.read("allow", f.Allow),
	)
}

// OnRequest answers those who are not let in.
func (f *Filter) OnRequest(ctx *filters.Context) filters.Verdict { return f.decide(ctx) }

// OnConnection is the same for a connection that is passed through.
func (f *Filter) OnConnection(ctx *filters.Context) filters.Verdict { return f.decide(ctx) }

// decide looks at the lists in the order in which a mistake is least harmful:
// whoever is denied stays so, whatever the other lists say.
func (f *Filter) decide(ctx *filters.Context) filters.Verdict {
	client := ctx.Client
	if f.deny.have(client) || len(f.Allow) > 0 && !f.allow.have(client) {
		return ctx.Fail(codec.IPDenied, message)
	}
	if f.bypass.have(client) {
		filters.Bypass.Set(ctx, true)
	}
	return filters.Continue
}
