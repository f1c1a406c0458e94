package config

import (
	"reflect"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/codec/layout"
)

// protocolFrame is the protocol that a layout takes the place of.
const protocolFrame = "frame"

// madeLayout is a layout with its protocol.
type madeLayout struct {
	layout   *Layout
	protocol codec.Protocol
}

// layoutOf returns the protocol of a layout of the document. Equal layouts are
// one protocol, in this generation and the one before, so that their messages
// need no translation and their connections stay.
func (b *build) layoutOf(l *Layout) (codec.Protocol, error) {
	if b.layouts == nil {
		if err := b.makeLayouts(); err != nil {
			return nil, err
		}
	}
	return findLayout(b.layouts, l), nil
}

func (b *build) makeLayouts() error {
	before := b.earlierLayouts()
	add := func(name string, l *Layout) error {
		if l == nil || findLayout(b.layouts, l) != nil {
			return nil
		}
		p := findLayout(before, l)
		if p == nil {
			made, err := layout.New("layout:"+name, l.compiled())
			if err != nil {
				return err
			}
			p = made
		}
		b.layouts = append(b.layouts, madeLayout{l, p})
		return nil
	}
	for _, l := range b.doc.Listeners {
		if err := add(l.Name, l.Layout); err != nil {
			return err
		}
	}
	for _, s := range b.doc.Services {
		if err := add(s.Name, s.Layout); err != nil {
			return err
		}
	}
	return nil
}

// earlierLayouts are those of the generation before.
func (b *build) earlierLayouts() []madeLayout {
	var all []madeLayout
	for _, old := range b.prev.Listeners {
		if src, ok := old.From.(*Listener); ok && src.Layout != nil {
			all = append(all, madeLayout{src.Layout, old.Protocol})
		}
	}
	for _, old := range b.prev.Services {
		if src, ok := old.From.(*Service); ok && src.Layout != nil {
			all = append(all, madeLayout{src.Layout, old.Protocol})
		}
	}
	return all
}

func findLayout(all []madeLayout, l *Layout) codec.Protocol {
	for _, one := range all {
		if reflect.DeepEqual(one.layout, l) {
			return one.protocol
		}
	}
	return nil
}

// listenerProtocol returns what clients of a listener speak.
func (b *build) listenerProtocol(l *Listener) (codec.Protocol, error) {
	if l.Layout != nil {
		return b.layoutOf(l.Layout)
	}
	return protocolOf(l.Protocol), nil
}

// serviceProtocol returns what endpoints speak, and whether that is instead the
// layout of the listener that a request comes from.
func (b *build) serviceProtocol(s *Service) (p codec.Protocol, follows bool, err error) {
	if s.Layout != nil {
		p, err = b.layoutOf(s.Layout)
		return p, false, err
	}
	return protocolOf(s.Protocol), s.Protocol == protocolFrame, nil
}

// multiplexes tells whether one connection to an endpoint carries the requests of
// many clients at a time.
func (s *Service) multiplexes() bool {
	if s.Layout != nil {
		return s.Layout.ID != nil
	}
	return multiplexes(s.Protocol)
}
