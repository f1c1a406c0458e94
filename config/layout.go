package config

import (
	"encoding/hex"
	"errors"
	"strconv"
	"strings"

	"github.com/corelane/corelane/codec/layout"
)

// Layout describes the frames of a private protocol; see docs/layouts.md. Places
// are offsets in bytes from the begin of a frame.
type Layout struct {
	// Magic is what every frame begins with, as hexadecimal text such as 0xdabb;
	// empty: anything.
	Magic Hex `yaml:"magic"`
	// Length says how far a frame extends.
	Length LayoutLength `yaml:"length"`
	// ID is the number, in the header, that a response has from its request; null:
	// there is none, and a connection carries one request at a time, in order.
	ID *LayoutInteger `yaml:"id"`
	// Key is what routes (match.rpc.key) are chosen by. A listener needs one.
	Key *LayoutKey `yaml:"key"`
	// Kind tells requests, responses and heartbeats apart; null: clients send
	// requests, services responses.
	Kind *LayoutKind `yaml:"kind"`
	// Constants are bytes of the headers that the gateway makes itself: of
	// heartbeats, error replies and messages that come from other protocols. All
	// others of their bytes are zero.
	Constants []LayoutBytes `yaml:"constants"`
	// Error is how the gateway tells a client of a failure; null: it closes the
	// connection, for any reply might be taken for a good one.
	Error *LayoutError `yaml:"error"`
}

// LayoutInteger is where an unsigned integer stands.
type LayoutInteger struct {
	// At is its place.
	At int `yaml:"at" min:"0" max:"1023"`
	// Width is its size in bytes.
	Width int `yaml:"width" min:"1" max:"8"`
	// Order says which byte comes first: the highest (big) or the lowest (little).
	Order string `yaml:"order" default:"big" enum:"big|little"`
}

// LayoutLength says how far a frame extends.
type LayoutLength struct {
	// At is the place of the length.
	At int `yaml:"at" min:"0" max:"1023"`
	// Width is the size of the length in bytes.
	Width int `yaml:"width" min:"1" max:"8"`
	// Order says which byte comes first.
	Order string `yaml:"order" default:"big" enum:"big|little"`
	// Counts is what the length counts: the bytes behind the header (body), the
	// whole frame, or the bytes behind the length itself (rest).
	Counts string `yaml:"counts" default:"body" enum:"body|frame|rest"`
	// Header is the size of the header in bytes; what follows is the body.
	Header int `yaml:"header" min:"1" max:"1024"`
	// Max bounds a whole frame; a longer one closes the connection.
	Max Size `yaml:"max" default:"8MiB" max:"1GiB"`
}

// LayoutKey is where the route key stands, in the header or in the body; strings
// only in the body.
type LayoutKey struct {
	// At is the place of the key, or of the length before it.
	At int `yaml:"at" min:"0" max:"65536"`
	// Kind is the form of the key: bytes (so many, zeros at their end left out), int
	// (then the key is its decimal text), string8, string16 or string32 (a length of
	// so many bits, then the key), or constant (in no frame: all requests have the
	// same).
	Kind string `yaml:"kind" default:"bytes" enum:"bytes|int|string8|string16|string32|constant"`
	// Width is the size of bytes (up to 256) or of an int (up to 8).
	Width int `yaml:"width" min:"1" max:"256"`
	// Order says which byte of an int, or of a string's length, comes first.
	Order string `yaml:"order" default:"big" enum:"big|little"`
	// Constant is the key of the kind constant.
	Constant string `yaml:"constant"`
}

// LayoutKind is the integer that tells what a frame is. Of several values the
// first is the one that the gateway writes.
type LayoutKind struct {
	// At is its place.
	At int `yaml:"at" min:"0" max:"1023"`
	// Width is its size in bytes.
	Width int `yaml:"width" default:"1" min:"1" max:"8"`
	// Order says which byte comes first.
	Order string `yaml:"order" default:"big" enum:"big|little"`
	// Mask are the bits that count, such as 0xe0; 0: all.
	Mask Code `yaml:"mask" default:"0"`
	// Request are the values of requests; one is needed.
	Request []Code `yaml:"request"`
	// Response are the values of responses; one is needed.
	Response []Code `yaml:"response"`
	// OneWay are the values of requests that want no response.
	OneWay []Code `yaml:"one_way"`
	// Heartbeat are the values of frames that ask whether the other side is there.
	Heartbeat []Code `yaml:"heartbeat"`
	// HeartbeatReply is the value of the answer; null: there is none. If it is that
	// of a heartbeat too, a service's is the answer.
	HeartbeatReply *Code `yaml:"heartbeat_reply"`
}

// LayoutBytes are bytes at a place of the header.
type LayoutBytes struct {
	// At is their place.
	At int `yaml:"at" min:"0" max:"1023"`
	// Bytes are hexadecimal text such as 0x0102.
	Bytes Hex `yaml:"bytes"`
}

// LayoutError is how a response is built that tells a client of a failure.
type LayoutError struct {
	// Echo begins with the header of the request; otherwise, and where no request
	// could be read, with magic, constants and zeros.
	Echo bool `yaml:"echo" default:"true"`
	// Kind is the value of kind.
	Kind *Code `yaml:"kind"`
	// Fields are written into the header.
	Fields []LayoutField `yaml:"fields"`
	// Body is the text of the body; {status}, {reason}, {message} and {trace_id} are
	// replaced.
	Body string `yaml:"body" default:"'{status} {reason}: {message}'"`
}

// LayoutField is a place of the header and what is written there: bytes, or the
// HTTP status.
type LayoutField struct {
	// At is its place.
	At int `yaml:"at" min:"0" max:"1023"`
	// Bytes are hexadecimal text such as 0x0102.
	Bytes Hex `yaml:"bytes"`
	// Width is the size in bytes of the HTTP status, as an integer, instead of
	// bytes.
	Width int `yaml:"width" min:"2" max:"8"`
	// Order says which byte of the status comes first.
	Order string `yaml:"order" default:"big" enum:"big|little"`
}

// Hex are bytes, written as hexadecimal text such as 0xdabb.
type Hex string

// UnmarshalText reads hexadecimal text that begins with 0x; empty: no bytes.
func (h *Hex) UnmarshalText(text []byte) error {
	digits, prefixed := strings.CutPrefix(string(text), "0x")
	if _, err := hex.DecodeString(digits); err != nil || !prefixed && digits != "" {
		return errors.New("not bytes such as 0xdabb, two digits each")
	}
	*h = Hex(strings.ToLower(string(text)))
	return nil
}

// decoded returns the bytes.
func (h Hex) decoded() []byte {
	b, _ := hex.DecodeString(strings.TrimPrefix(string(h), "0x")) // it was checked when it was read
	return b
}

// Code is a value of a field, written as a number, or hexadecimal as 0xc0.
type Code uint64

// UnmarshalText reads a number.
func (c *Code) UnmarshalText(text []byte) error {
	digits, base := string(text), 10
	if rest, ok := strings.CutPrefix(digits, "0x"); ok {
		digits, base = rest, 16
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		return errors.New("not a number such as 3 or 0xc0")
	}
	*c = Code(n)
	return nil
}

// String writes the number in hexadecimal.
func (c Code) String() string { return "0x" + strconv.FormatUint(uint64(c), 16) }

var (
	orders   = map[string]layout.Order{"big": layout.BigEndian, "little": layout.LittleEndian}
	counted  = map[string]layout.Counts{"body": layout.CountsBody, "frame": layout.CountsFrame, "rest": layout.CountsRest}
	keyForms = map[string]layout.KeyKind{
		"bytes": layout.KeyBytes, "int": layout.KeyInteger, "string8": layout.KeyString8, "string16": layout.KeyString16,
		"string32": layout.KeyString32, "constant": layout.KeyConstant,
	}
)

// compiled is the description as the codec takes it.
func (l *Layout) compiled() layout.Layout {
	n := &l.Length
	out := layout.Layout{
		Magic:  l.Magic.decoded(),
		Length: layout.Length{Integer: integer(n.At, n.Width, n.Order), Counts: counted[n.Counts], Header: n.Header, Max: int(n.Max)},
	}
	if i := l.ID; i != nil {
		at := integer(i.At, i.Width, i.Order)
		out.ID = &at
	}
	if k := l.Key; k != nil {
		out.Key = &layout.Key{Kind: keyForms[k.Kind], Integer: integer(k.At, k.Width, k.Order), Constant: k.Constant}
	}
	if k := l.Kind; k != nil {
		out.Kind = &layout.Kind{
			Integer: integer(k.At, k.Width, k.Order), Mask: uint64(k.Mask),
			Request: codes(k.Request), Response: codes(k.Response), OneWay: codes(k.OneWay),
			Heartbeat: codes(k.Heartbeat), HeartbeatReply: code(k.HeartbeatReply),
		}
	}
	for _, c := range l.Constants {
		out.Constants = append(out.Constants, layout.Constant{At: c.At, Bytes: c.Bytes.decoded()})
	}
	if e := l.Error; e != nil {
		out.Failure = &layout.Failure{Echo: e.Echo, Kind: code(e.Kind), Body: e.Body}
		for _, f := range e.Fields {
			out.Failure.Fields = append(out.Failure.Fields, layout.Field{Integer: integer(f.At, f.Width, f.Order), Bytes: f.Bytes.decoded()})
		}
	}
	return out
}

func integer(at, width int, order string) layout.Integer {
	return layout.Integer{At: at, Width: width, Order: orders[order]}
}

func codes(list []Code) []uint64 {
	var out []uint64
	for _, c := range list {
		out = append(out, uint64(c))
	}
	return out
}

func code(c *Code) *uint64 {
	if c == nil {
		return nil
	}
	v := uint64(*c)
	return &v
}
