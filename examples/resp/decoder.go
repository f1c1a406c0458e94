package resp

import (
	"bytes"

	"github.com/corelane/corelane/codec"
)

// keepHeld: a larger buffer is given back when its message is through.
const keepHeld = 16 << 10

// decoder reads one direction of one connection.
type decoder struct {
	role codec.Role
	most int // bytes of a message

	next codec.EventKind // of the message that is whole; NeedMore: none is
	scan scanner
	// size is that of a whole message that begins the bytes that are given again
	// and again until its body is taken; 0: it is in held.
	size int
	held []byte // a message that came in pieces
	name [maxCommand]byte
	err  *codec.Error
}

// Next implements codec.Decoder. A message that lies whole in b is not copied, and
// nothing of it is taken before its body: what was taken is gone.
func (d *decoder) Next(b []byte, e *codec.Event) (n int, err error) {
	if d.err != nil {
		return 0, d.err
	}
	if d.next == codec.NeedMore {
		n, err = d.gather(b)
	} else if d.next == codec.MessageHead {
		d.next = codec.MessageData
		if e.Head != nil {
			return 0, d.fill(e, d.message(b))
		}
	}
	e.Kind, e.ID, e.OneWay = d.next, 0, false
	switch d.next {
	case codec.MessageBegin:
		d.next = codec.MessageHead
	case codec.MessageData:
		e.Data, n = d.message(b), d.size
		d.next = codec.MessageEnd
	case codec.MessageEnd:
		d.next, d.size = codec.NeedMore, 0
		if d.held = d.held[:0]; cap(d.held) > keepHeld {
			d.held = nil
		}
	}
	return n, err
}

// message is the one that is whole.
func (d *decoder) message(b []byte) []byte {
	if d.size > 0 {
		return b[:d.size:d.size]
	}
	return d.held
}

// gather looks for the end of a message. Memory grows with what has come, not with
// what was announced.
func (d *decoder) gather(b []byte) (int, error) {
	n, whole, err := d.scan.scan(b, d.role == codec.Requests, d.most)
	if err != nil {
		return 0, d.fail(err)
	}
	if whole {
		d.scan, d.next = scanner{}, codec.MessageBegin
		if len(d.held) == 0 {
			d.size = n
			return 0, nil
		}
	}
	d.held = append(d.held, b[:n]...)
	return n, nil
}

// Gathered implements codec.Gatherer.
func (d *decoder) Gathered() int { return cap(d.held) }

func (d *decoder) fail(err *codec.Error) error {
	if d.role == codec.Responses {
		err = &codec.Error{Reason: codec.UpstreamBadResponse, Detail: err.Detail}
	}
	d.err = err
	return err
}

// fill says in the head what the message is.
func (d *decoder) fill(e *codec.Event, message []byte) error {
	e.Kind = codec.MessageHead
	h := e.Head
	if d.role == codec.Responses {
		h.SetStatus(200)
	} else {
		command := firstArgument(message)
		if len(command) == 0 || len(command) > maxCommand {
			return d.fail(errCommand)
		}
		name := d.name[:copy(d.name[:], command)]
		for i, c := range name {
			if c >= 'A' && c <= 'Z' {
				name[i] = c | 0x20
			}
		}
		h.SetKeyCall(name)
	}
	h.SetReceived(codec.FramingLength, int64(len(message)), false, true, false, codec.Span{})
	return nil
}

// firstArgument is the first bulk string of a request that was scanned.
func firstArgument(message []byte) []byte {
	_, rest, _ := bytes.Cut(message, []byte("\r\n"))
	length, rest, _ := bytes.Cut(rest, []byte("\r\n"))
	return rest[:number(length[1:])]
}

// number is what a line that was scanned says.
func number(digits []byte) int {
	n := 0
	for _, c := range digits {
		n = n*10 + int(c-'0')
	}
	return n
}
