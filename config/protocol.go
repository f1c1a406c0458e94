package config

import (
	"github.com/corelane/corelane/codec"
)

// protocolHTTP is the protocol of listeners and services that name none.
const protocolHTTP = "http"

// wordsOf are the words that the program knows only when it runs: the names of
// the message protocols that are compiled in.
func wordsOf(set string) (words []string, missing string) {
	if set != "protocols" {
		return nil, ""
	}
	return codec.Names(), "`corelane build` makes a program with others"
}

// protocolOf returns the codec of a name; nil for what the engine speaks by
// itself.
func protocolOf(name string) codec.Protocol {
	p, known := codec.Registered(name)
	if !known {
		return nil
	}
	return p
}

// multiplexes tells whether one connection of a protocol carries the requests of
// many clients at a time.
func multiplexes(name string) bool {
	p := protocolOf(name)
	return p != nil && p.Traits().IDBits > 0
}
