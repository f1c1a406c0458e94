package proxyproto

import (
	"bytes"
	"errors"
	"net/netip"
)

// Limits of a header in bytes.
const (
	// MaxV1 is the longest line of version 1, its CRLF included (§2.1).
	MaxV1 = 107
	// MaxV2 bounds a header of version 2. The protocol allows 64 KiB of
	// extensions; nobody sends them, and anybody may connect.
	MaxV2 = 4 << 10
	// Max is enough for Parse to decide.
	Max = max(MaxV1, MaxV2)
)

// Header is what a balancer says of a connection.
type Header struct {
	// Version is 1 or 2.
	Version int
	// Source and Destination are the two ends of the client's connection to the
	// balancer, IPv4 in IPv6 as IPv4. They are invalid where the balancer has
	// none to tell: a check of its own (LOCAL), an unknown family, a unix socket.
	// The connection's own ends then count.
	Source, Destination netip.AddrPort
}

// What is wrong with bytes that are no header. The texts are for logs.
var (
	ErrNoHeader  = errors.New("it does not begin with a PROXY header")
	ErrTooLong   = errors.New("the PROXY header is too long")
	ErrLine      = errors.New("the line of the PROXY header is malformed")
	ErrAddress   = errors.New("an address of the PROXY header is malformed")
	ErrCommand   = errors.New("the PROXY header has an unknown version or command")
	ErrFamily    = errors.New("the PROXY header has an unknown family")
	ErrShort     = errors.New("the PROXY header is too short for its addresses")
	ErrExtension = errors.New("an extension of the PROXY header is malformed")
	ErrChecksum  = errors.New("the checksum of the PROXY header is wrong")
)

var (
	prefixV1  = []byte("PROXY ")
	signature = []byte("\r\n\r\n\x00\r\nQUIT\n")
)

// Parse reads the header that b begins with. n is its length; 0 without an error
// means that b is only the beginning of one, which cannot be if b has Max bytes.
// An error is one of the Err variables and final. Nothing is kept of b.
func Parse(b []byte) (h Header, n int, err error) {
	switch {
	case begins(b, prefixV1):
		return parseV1(b)
	case begins(b, signature):
		return parseV2(b)
	}
	return Header{}, 0, ErrNoHeader
}

// begins says whether b begins with prefix, as far as b goes.
func begins(b, prefix []byte) bool {
	k := min(len(b), len(prefix))
	return bytes.Equal(b[:k], prefix[:k])
}
