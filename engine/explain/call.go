package explain

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/engine/snapshot"
)

// Call is a remote call that is asked about: by interface and method, or by key.
type Call struct {
	Interface string `json:"interface,omitempty"`
	Method    string `json:"method,omitempty"`
	// Group and Version are those that the client asks for; empty: none.
	Group   string `json:"group,omitempty"`
	Version string `json:"version,omitempty"`
	// Key is the route key of a private protocol.
	Key string `json:"key,omitempty"`
}

// String writes the call on one line.
func (c *Call) String() string {
	if c.Key != "" {
		return "by key " + c.Key
	}
	text := c.Interface + "/" + c.Method
	if c.Group != "" {
		text += ", group " + c.Group
	}
	if c.Version != "" {
		text += ", version " + c.Version
	}
	return text
}

// uncovered says what no route has; nil stands for a request by path.
func (c *Call) uncovered() string {
	switch {
	case c == nil:
		return "pattern covers the path"
	case c.Key != "":
		return "route has the key"
	}
	return "route names the call"
}

// pattern is the pattern of candidates as one says it.
func (c *Call) pattern(p string) string {
	if c != nil && c.Key == "" {
		return strings.TrimPrefix(p, "/")
	}
	return p
}

// parseCall builds the head of a call, as the decoder of its listener would.
func (p *parsed) parseCall(r *Request) error {
	c := *r.RPC
	byName := c.Interface+c.Method+c.Group+c.Version != ""
	switch {
	case r.Method != "" || r.URL != "":
		return errors.New("rpc: it stands instead of a method and a url")
	case p.listener.Protocol == nil:
		return fmt.Errorf("rpc: the listener %s speaks %s, which has no calls", p.listener.Name, p.listener.Speaks())
	case byName == (c.Key != ""):
		return errors.New("rpc: want an interface and a method, or a key")
	}
	p.scheme, p.method, p.call = "http", "POST", &c
	h := new(codec.Head)
	h.Reset()
	p.head = h
	if err := p.callFields(r.Headers); err != nil {
		return err
	}
	if c.Key != "" {
		h.SetKeyCall([]byte(c.Key))
		p.target = c.Key
		return nil
	}
	if !h.SetMethodCall([]byte(c.Interface), []byte(c.Method)) {
		return fmt.Errorf("rpc: %q is not an interface and a method", c.Interface+"/"+c.Method)
	}
	p.target = string(h.Target())
	return errors.Join(p.addOption(codec.XRPCGroup, c.Group), p.addOption(codec.XRPCVersion, c.Version))
}

// addOption adds a field of a call that says more of what is wanted.
func (p *parsed) addOption(k codec.Known, value string) error {
	switch {
	case strings.ContainsAny(value, "\r\n\x00"):
		return fmt.Errorf("rpc: %q has more than one line", value)
	case value != "":
		p.head.AddKnown(k, []byte(value))
	}
	return nil
}

// callFields puts fields into the head of a call. Host is its authority.
func (p *parsed) callFields(headers map[string][]string) error {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		k := codec.Lookup([]byte(name))
		switch {
		case !codec.IsToken([]byte(name)):
			return fmt.Errorf("headers: %q is not a name", name)
		case k.HopByHop(), k == codec.ContentLength:
			return fmt.Errorf("headers: a call has no %s", name)
		}
		for _, value := range headers[name] {
			if strings.ContainsAny(value, "\r\n\x00") {
				return fmt.Errorf("headers: the value of %s has more than one line", name)
			}
			if k != codec.Host {
				p.head.AddString(name, value)
				continue
			}
			from := len(p.head.Bytes())
			p.head.AppendBytes([]byte(value))
			at := codec.Span{From: uint32(from), To: uint32(from + len(value))}
			p.head.SetRequestLine(&codec.RequestLine{Authority: at}, 1, 0)
			p.host = value
		}
	}
	return nil
}

// speaking adds a protocol to a name unless it is the usual one.
func speaking(protocol string) string {
	if protocol == snapshot.HTTP || protocol == "" {
		return ""
	}
	return " (" + protocol + ")"
}
