// Package message reads HTTP/1.1 heads from cloudwego/netpoll connections and
// finds the few fields that the benchmark's origin and goroutine proxy need.
// It trusts its peers: it is a yardstick, not a server.
package message

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/cloudwego/netpoll"
)

// MaxHead is the longest head that is read, in bytes.
const MaxHead = 64 << 10

var (
	headEnd = []byte("\r\n\r\n")
	lineEnd = []byte("\r\n")
)

// firstLook is how much is searched at first. A longer look may have to join
// pieces of the connection's buffer, which a body behind the head is not worth.
const firstLook = 1 << 10

// ReadHead waits for a whole head and takes it, with its empty line, from the
// reader. The bytes are valid until the reader's next Release.
func ReadHead(reader netpoll.Reader) ([]byte, error) {
	for look := min(max(1, reader.Len()), firstLook); ; {
		b, err := reader.Peek(look)
		if err != nil {
			return nil, err
		}
		if end := bytes.Index(b, headEnd); end >= 0 {
			return reader.Next(end + len(headEnd))
		}
		if look == MaxHead {
			return nil, fmt.Errorf("head over %d bytes", MaxHead)
		}
		look = min(max(look+1, reader.Len()), MaxHead)
	}
}

// Buffered tells whether ReadHead would return a head without waiting.
func Buffered(reader netpoll.Reader) bool {
	if reader.Len() == 0 {
		return false
	}
	b, err := reader.Peek(reader.Len())
	return err == nil && bytes.Contains(b, headEnd)
}

// Lines splits a head into its first line and an iterator over its fields.
// Neither has its line ending.
func Lines(head []byte) (first []byte, fields func(yield func(name, value []byte) bool)) {
	first, rest, _ := bytes.Cut(head, lineEnd)
	return first, func(yield func(name, value []byte) bool) {
		for {
			var line []byte
			line, rest, _ = bytes.Cut(rest, lineEnd)
			name, value, ok := bytes.Cut(line, []byte(":"))
			if !ok || !yield(name, bytes.TrimSpace(value)) {
				return
			}
		}
	}
}

// Is compares a field name without regard to case.
func Is(name []byte, want string) bool {
	return len(name) == len(want) && bytes.EqualFold(name, []byte(want))
}

// ContentLength is the length that a head declares, 0 without one. A chunked
// body is an error: neither wrk nor the origin sends one.
func ContentLength(head []byte) (int, error) {
	_, fields := Lines(head)
	length := 0
	for name, value := range fields {
		switch {
		case Is(name, "Transfer-Encoding"):
			return 0, fmt.Errorf("transfer coding %q is not supported", value)
		case Is(name, "Content-Length"):
			n, err := strconv.Atoi(string(value))
			if err != nil || n < 0 {
				return 0, fmt.Errorf("bad Content-Length %q", value)
			}
			length = n
		}
	}
	return length, nil
}
