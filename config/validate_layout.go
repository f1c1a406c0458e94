package config

import "github.com/corelane/corelane/config/tree"

// validateLayout checks the layout of a listener or a service.
func (d *draft) validateLayout(at place, protocol string, l *Layout) {
	switch {
	case l == nil:
		return
	case at.reported(tree.Join(at.root, "layout")):
		return // what is missing may be what was mistyped
	case protocol != protocolFrame:
		d.complain(at, "layout", "a layout describes frames: it needs `protocol: "+protocolFrame+"`")
		return
	}
	described := l.compiled()
	for _, p := range described.Problems() {
		d.complain(at, "layout."+p.Key, p.Reason)
	}
}

// validateListenerLayout also wants a key, without which no route is found.
func (d *draft) validateListenerLayout(at place, l *Listener) {
	d.validateLayout(at, l.Protocol, l.Layout)
	if l.Layout != nil && l.Layout.Key == nil {
		d.complain(at, "layout", "a listener's layout needs a key, which routes are chosen by; {kind: constant, constant: NAME} is the same for all requests")
	}
}
