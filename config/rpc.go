package config

import (
	"fmt"
	"strings"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/route"
)

// RPC names a remote call: by interface and method, or by key.
type RPC struct {
	// Interface is the whole name, such as com.example.Order.
	Interface string `yaml:"interface"`
	// Method is one method of the interface; none: any of those that no other
	// route names.
	Method string `yaml:"method"`
	// Group is the one that the call must have; none: any.
	Group string `yaml:"group"`
	// Version is the one that the call must have; none: any.
	Version string `yaml:"version"`
	// Key is the route key of a private protocol, byte for byte, instead of the
	// other four.
	Key string `yaml:"key"`
}

// fill gives a spec the space, the pattern and the conditions of the call.
func (r *RPC) fill(s *route.Spec) {
	if r.Key != "" {
		s.Space, s.Kind, s.Pattern = route.Keys, route.Exact, r.Key
		return
	}
	s.Space, s.Kind, s.Pattern = route.Calls, route.Prefix, "/"+r.Interface
	if r.Method != "" {
		s.Kind, s.Pattern = route.Exact, s.Pattern+"/"+r.Method
	}
	for _, c := range []struct {
		field codec.Known
		value string
	}{{codec.XRPCGroup, r.Group}, {codec.XRPCVersion, r.Version}} {
		if c.value != "" {
			s.Headers = append(s.Headers, route.Condition{Name: c.field.String(), Values: []string{c.value}})
		}
	}
}

// validateRPC reports what is wrong with the names of a call; false: something is.
func (d *draft) validateRPC(at place, r *RPC) bool {
	const here = "match.rpc"
	before := len(d.problems)
	named := r.Interface + r.Method + r.Group + r.Version
	switch {
	case r.Key != "" && named != "":
		d.complain(at, here+".key", "a key stands instead of interface, method, group and version")
	case r.Key == "" && r.Interface == "":
		d.complain(at, here, "an interface or a key is needed")
	}
	for _, n := range []struct{ key, name string }{{"interface", r.Interface}, {"method", r.Method}} {
		if n.name != "" && !route.IsCallName(n.name) {
			d.complain(at, here+"."+n.key, fmt.Sprintf("%q names no %s: it has letters, digits and . _ $ - : only, and is more than dots", n.name, n.key))
		}
	}
	for _, v := range []struct{ key, value string }{{"group", r.Group}, {"version", r.Version}} {
		if hasControl(v.value) || strings.TrimSpace(v.value) != v.value {
			d.complain(at, here+"."+v.key, fmt.Sprintf("%q can be the %s of no call: it has control characters, or spaces at an end", v.value, v.key))
		}
	}
	return len(d.problems) == before
}
