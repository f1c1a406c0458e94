package config

import "github.com/corelane/corelane/codec"

// wire is a protocol of which configuration only needs the name and the traits.
type wire struct {
	codec.Protocol
	name   string
	traits codec.Traits
}

func (w wire) Name() string { return w.name }

func (w wire) Traits() codec.Traits { return w.traits }

func init() {
	for _, w := range []wire{
		{name: "frame", traits: codec.Traits{IDBits: 64, Splits: true, Heartbeats: true}},
		{name: "dubbo", traits: codec.Traits{IDBits: 64, Heartbeats: true}},
		{name: "lines"},
	} {
		if _, known := codec.Registered(w.name); !known {
			codec.Register(w)
		}
	}
}
