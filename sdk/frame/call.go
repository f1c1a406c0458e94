package frame

import (
	"strconv"
	"strings"

	wire "github.com/corelane/corelane/codec/frame"
)

// Call says what a request wants, in one of three ways: by path, by interface and
// method, or by key. Make one with Path, Method or Key.
type Call struct {
	// Path is a path with its query, Verb an HTTP method; empty: POST.
	Path, Verb string
	// Interface and Method name a procedure; Group and Version may say which.
	Interface, Method, Group, Version string
	// Key is the route key of a private protocol.
	Key string
	// Authority is the host that is called; empty in most calls.
	Authority string
}

// Path is a call by path, such as "/orders/7?full=1"; it begins with "/".
func Path(verb, path string) Call { return Call{Verb: verb, Path: path} }

// Method is a call of a method of an interface.
func Method(iface, method string) Call { return Call{Interface: iface, Method: method} }

// Key is a call by key.
func Key(key string) Call { return Call{Key: key} }

// String is for people: "POST /orders", "Greeter/Hello" or "key 17".
func (c Call) String() string {
	switch {
	case c.Path != "":
		return c.verb() + " " + c.Path
	case c.Interface != "" || c.Method != "":
		return c.Interface + "/" + c.Method
	}
	return "key " + strconv.Quote(c.Key)
}

func (c Call) verb() string {
	if c.Verb == "" {
		return "POST"
	}
	return c.Verb
}

// append appends the call as pseudo pairs.
func (c *Call) append(dst []byte) []byte {
	add := func(name wire.Pseudo, value string) {
		if value != "" {
			dst = wire.AppendPair(dst, name.String(), value)
		}
	}
	switch {
	case c.Path != "":
		add(wire.PseudoPath, c.Path)
		add(wire.PseudoVerb, c.Verb)
	case c.Interface != "" || c.Method != "":
		add(wire.PseudoInterface, c.Interface)
		add(wire.PseudoMethod, c.Method)
		add(wire.PseudoGroup, c.Group)
		add(wire.PseudoVersion, c.Version)
	default:
		dst = wire.AppendPair(dst, wire.PseudoKey.String(), c.Key)
	}
	add(wire.PseudoAuthority, c.Authority)
	return dst
}

// sized says whether nothing of the call would be cut when it is written.
func (c *Call) sized() bool {
	const most = wire.MaxValue
	return len(c.Path) <= most && len(c.Verb) <= most && len(c.Interface) <= most && len(c.Method) <= most &&
		len(c.Group) <= most && len(c.Version) <= most && len(c.Key) <= most && len(c.Authority) <= most
}

// set takes a pseudo pair of a received request.
func (c *Call) set(name wire.Pseudo, value string) {
	switch name {
	case wire.PseudoPath:
		c.Path = value
	case wire.PseudoVerb:
		c.Verb = value
	case wire.PseudoInterface:
		c.Interface = value
	case wire.PseudoMethod:
		c.Method = value
	case wire.PseudoGroup:
		c.Group = value
	case wire.PseudoVersion:
		c.Version = value
	case wire.PseudoKey:
		c.Key = value
	case wire.PseudoAuthority:
		c.Authority = value
	}
}

// path is the call's path without the query.
func (c *Call) path() string {
	path, _, _ := strings.Cut(c.Path, "?")
	return path
}
