package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/corelane/corelane/config/tree"
	"github.com/corelane/corelane/filters"
)

// Filter is one use of a filter, written as a mapping of its name to its
// options, such as `request_id: {trust: true}`. The names and options are those
// of the filters compiled into the program.
type Filter struct {
	// Name is the filter's name.
	Name string

	options *tree.Node
	answers bool
	calls   []string // services
}

// FilterSet is a named list of filters.
type FilterSet struct {
	Filters []*Filter
}

// DecodeNode reads the list.
func (s *FilterSet) DecodeNode(d *tree.Decoder, n *tree.Node, at *tree.Path) {
	d.Decode(n, at, &s.Filters)
}

// DecodeNode reads one use and builds the filter once, so that wrong options
// are found here.
func (f *Filter) DecodeNode(d *tree.Decoder, n *tree.Node, at *tree.Path) {
	if n.Kind != tree.Map || len(n.Pairs) != 1 {
		d.Report(n.Pos, at, "expected one filter, such as `request_id: {}`")
		return
	}
	p := n.Pairs[0]
	f.Name, f.options = p.Key, p.Value
	at = at.Key(p.Key)
	kind, ok := filters.Lookup(p.Key)
	if !ok {
		d.Report(p.Pos, at, "this program has no filter of that name"+tree.Suggest(p.Key, filters.Names()))
		return
	}
	before := len(d.Findings)
	instance := kind.New()
	d.Decode(p.Value, at, instance)
	if len(d.Findings) > before {
		return
	}
	if err := provision(instance); err != nil {
		for _, one := range parts(err) {
			reportOption(d, &p, at, one.Error())
		}
		return
	}
	a, ok := instance.(filters.Answerer)
	f.answers = ok && a.Answers()
	if c, ok := instance.(filters.Caller); ok {
		f.calls = c.Services()
	}
}

// reportOption tells what a filter says of its options, at the option that the
// message begins with, if the document gives it.
func reportOption(d *tree.Decoder, p *tree.Pair, at *tree.Path, message string) {
	option, rest, ok := strings.Cut(message, ": ")
	if top, _, _ := strings.Cut(option, "."); !ok || p.Value.Get(top) == nil {
		d.Report(p.Pos, at, message)
		return
	}
	d.Report(p.Value.Find(option), at.Key(option), rest)
}

// provision prepares an instance; a filter that panics on its options is an
// error like any other.
func provision(instance any) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the filter failed on its options: %v", r)
		}
	}()
	if p, ok := instance.(filters.Provisioner); ok {
		return p.Provision()
	}
	return nil
}

// build makes a fresh instance for one place of use.
func (f *Filter) build() (*filters.Entry, error) {
	kind, ok := filters.Lookup(f.Name)
	if !ok {
		return nil, fmt.Errorf("no filter %q", f.Name)
	}
	instance := kind.New()
	d := tree.Decoder{}
	if f.options != nil {
		d.Decode(f.options, tree.Root(f.Name), instance)
	}
	if len(d.Findings) > 0 {
		return nil, fmt.Errorf("filter %s: %s", f.Name, d.Findings[0].Message)
	}
	if err := provision(instance); err != nil {
		return nil, fmt.Errorf("filter %s: %w", f.Name, err)
	}
	return filters.NewEntry(f.Name, instance), nil
}

// same tells whether two uses ask for the same filter.
func (f *Filter) same(o *Filter) bool {
	return f == o || f.Name == o.Name && f.options.Equal(o.options)
}

func sameFilters(a, b []*Filter) bool { return slices.EqualFunc(a, b, (*Filter).same) }
