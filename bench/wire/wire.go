// Package wire reads and writes the messages that the benchmark's peers
// exchange through a gateway: the frame protocol (docs/protocol.md) and Dubbo 2
// with Hessian 2 strings. It shares no code with the gateway's codecs, so that
// both ends of a measurement are independent peers. It knows calls of one
// argument and one value, which is what a benchmark needs.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// MaxBody is the longest body of a request or a response, in bytes: what a
// frame may carry without credit, and a Hessian string without chunks.
const MaxBody = 32_767

// maxMessage bounds what a peer may send as one frame, in bytes.
const maxMessage = 1 << 20

// Kind is what Next has found.
type Kind uint8

// The kinds of messages.
const (
	NeedMore  Kind = iota // nothing is whole yet
	Request               // or a piece of one
	Response              // or a piece of one
	Heartbeat             // asks for an answer
	GoAway                // no more requests on this connection
	Cancel                // ID is given up
	Other                 // nothing to do
)

// Message is what Next reports. What it refers to is valid as long as the bytes
// that were read.
type Message struct {
	Kind Kind
	ID   uint64
	// First and Last piece of the message; most are both.
	First, Last bool
	// OneWay: no response is wanted.
	OneWay bool
	// Status of the first piece of a response: 200 is success. Of Dubbo it is 200
	// only where a value came back, else the protocol's own number, or 500 for an
	// exception.
	Status int
	// Body, or a piece of it. Of Dubbo it is the string that is the first argument
	// or the value.
	Body []byte
	// Answer is the length of the answer that the path of a request wants, "/128";
	// -1: none is named.
	Answer int
}

// Call names what a request wants: a path, or an interface and a method.
type Call struct {
	Path              string
	Interface, Method string
}

// Protocol is one of the two. A value has no state.
type Protocol interface {
	// Name as configuration knows it.
	Name() string
	// Request is a request with a body of size bytes, from NonceLength to MaxBody.
	Request(call Call, size int) (*Template, error)
	// AppendResponse appends a successful response with body, which is filled up
	// or cut to length.
	AppendResponse(dst []byte, id uint64, body []byte, length int) []byte
	// AppendHeartbeatReply answers a heartbeat.
	AppendHeartbeatReply(dst []byte, id uint64) []byte
	// Next reads a message from the begin of b and returns its length; 0 if it is
	// not whole.
	Next(b []byte, m *Message) (n int, err error)
}

// Named returns the protocol of that name.
func Named(name string) (Protocol, error) {
	for _, p := range []Protocol{Frame{}, Dubbo{}} {
		if p.Name() == name {
			return p, nil
		}
	}
	return nil, fmt.Errorf("protocol %q is neither frame nor dubbo", name)
}

// NonceLength is how many bytes at the begin of a body tell one request from
// another.
const NonceLength = 16

// Template is a request that is sent many times, each time with another id and
// another nonce.
type Template struct {
	bytes     []byte
	id, nonce int
}

// Append appends the request with an id and a nonce.
func (t *Template) Append(dst []byte, id uint64, nonce *[NonceLength]byte) []byte {
	at := len(dst)
	dst = append(dst, t.bytes...)
	binary.BigEndian.PutUint64(dst[at+t.id:], id)
	copy(dst[at+t.nonce:], nonce[:])
	return dst
}

// Nonce writes the nonce of a number as hexadecimal digits, which every protocol
// carries unchanged. Numbers that differ give nonces that differ.
func Nonce(number uint64) (n [NonceLength]byte) {
	const digits = "0123456789abcdef"
	// The finaliser of splitmix64 (Steele, Lea, Flood 2014): a bijection that
	// leaves nothing alike in two numbers that follow each other.
	number += 0x9e3779b97f4a7c15
	number = (number ^ number>>30) * 0xbf58476d1ce4e5b9
	number = (number ^ number>>27) * 0x94d049bb133111eb
	number ^= number >> 31
	for i := range n {
		n[i] = digits[number>>(60-4*i)&15]
	}
	return n
}

// filler is what bodies are filled up with.
const filler = 'x'

// appendBody appends body, filled up or cut to length.
func appendBody(dst, body []byte, length int) []byte {
	dst = append(dst, body[:min(len(body), length)]...)
	for range length - len(body) {
		dst = append(dst, filler)
	}
	return dst
}

func checkSize(size int) error {
	if size < NonceLength || size > MaxBody {
		return fmt.Errorf("a body of %d bytes is not between %d and %d", size, NonceLength, MaxBody)
	}
	return nil
}

var errMagic = errors.New("not the begin of a message")
