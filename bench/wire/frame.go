package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
)

// Frame is the frame protocol, version 1.
type Frame struct{}

// The fixed header: magic, version, kind, flags, status, id, lengths.
const (
	frameHeader = 24
	frameID     = 8

	frameMagic   = 0x434c
	frameVersion = 1

	flagMore  = 0x0001
	flagCont  = 0x0002
	flagReply = 0x0008
)

var frameKinds = [8]Kind{1: Request, 2: Response, 3: Request, 4: Heartbeat, 5: GoAway, 6: Cancel, 7: Other}

const (
	frameRequest   = 1
	frameResponse  = 2
	frameOneWay    = 3
	frameHeartbeat = 4
	// frameKnown is the last kind that may be passed over by who does not know it.
	frameKnown = 127
)

// kindOf leaves kinds of later versions to be passed over.
func kindOf(kind byte) Kind {
	if int(kind) < len(frameKinds) {
		return frameKinds[kind]
	}
	return Other
}

// Name is "frame".
func (Frame) Name() string { return "frame" }

// Request names what it wants by a path, or by interface and method.
func (Frame) Request(call Call, size int) (*Template, error) {
	if err := checkSize(size); err != nil {
		return nil, err
	}
	var metadata []byte
	if call.Path != "" {
		metadata = appendPair(metadata, ":path", call.Path)
	} else {
		metadata = appendPair(appendPair(metadata, ":interface", call.Interface), ":method", call.Method)
	}
	b := appendFrameHeader(nil, frameRequest, 0, 0, 0, len(metadata), size)
	b = append(b, metadata...)
	return &Template{id: frameID, nonce: len(b), bytes: appendBody(b, nil, size)}, nil
}

// AppendResponse appends one frame with status 200.
func (Frame) AppendResponse(dst []byte, id uint64, body []byte, length int) []byte {
	return appendBody(appendFrameHeader(dst, frameResponse, 0, 200, id, 0, length), body, length)
}

// AppendHeartbeatReply appends the same heartbeat with the flag REPLY.
func (Frame) AppendHeartbeatReply(dst []byte, id uint64) []byte {
	return appendFrameHeader(dst, frameHeartbeat, flagReply, 0, id, 0, 0)
}

func appendFrameHeader(dst []byte, kind byte, flags, status uint16, id uint64, metadata, body int) []byte {
	dst = append(binary.BigEndian.AppendUint16(dst, frameMagic), frameVersion, kind)
	dst = binary.BigEndian.AppendUint16(dst, flags)
	dst = binary.BigEndian.AppendUint16(dst, status)
	dst = binary.BigEndian.AppendUint64(dst, id)
	dst = binary.BigEndian.AppendUint32(dst, uint32(metadata))
	return binary.BigEndian.AppendUint32(dst, uint32(body))
}

func appendPair(dst []byte, name, value string) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(name)))
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(value)))
	return append(append(dst, name...), value...)
}

// Next reads one frame.
func (Frame) Next(b []byte, m *Message) (int, error) {
	*m = Message{}
	if len(b) < frameHeader {
		return 0, nil
	}
	if binary.BigEndian.Uint16(b) != frameMagic || b[2] != frameVersion {
		return 0, errMagic
	}
	kind, flags := b[3], binary.BigEndian.Uint16(b[4:])
	metadata, body := int(binary.BigEndian.Uint32(b[16:])), int(binary.BigEndian.Uint32(b[20:]))
	if kind == 0 || kind > frameKnown || flags&^(flagMore|flagCont|flagReply) != 0 {
		return 0, fmt.Errorf("kind %d with flags %#x is not known here", kind, flags)
	}
	end := frameHeader + metadata + body
	if end > maxMessage {
		return 0, fmt.Errorf("a frame of %d bytes", end)
	}
	if len(b) < end {
		return 0, nil
	}
	*m = Message{
		Kind: kindOf(kind), ID: binary.BigEndian.Uint64(b[frameID:]),
		First: flags&flagCont == 0, Last: flags&flagMore == 0, OneWay: kind == frameOneWay,
		Status: int(binary.BigEndian.Uint16(b[6:])), Body: b[frameHeader+metadata : end], Answer: -1,
	}
	if m.Kind == Heartbeat && flags&flagReply != 0 {
		m.Kind = Other
	}
	var err error
	if m.Kind == Request && m.First {
		m.Answer, err = pathSize(b[frameHeader : frameHeader+metadata])
	}
	return end, err
}

var errPairs = errors.New("the pairs of the metadata do not fit its length")

// pathSize reads "/128" from the pair :path; -1 without one.
func pathSize(metadata []byte) (int, error) {
	for len(metadata) > 0 {
		if len(metadata) < 4 {
			return 0, errPairs
		}
		name := int(binary.BigEndian.Uint16(metadata))
		end := 4 + name + int(binary.BigEndian.Uint16(metadata[2:]))
		if len(metadata) < end {
			return 0, errPairs
		}
		if string(metadata[4:4+name]) == ":path" {
			size, err := strconv.Atoi(string(metadata[min(4+name+1, end):end]))
			if err != nil || size < 0 || size > MaxBody {
				return -1, nil
			}
			return size, nil
		}
		metadata = metadata[end:]
	}
	return -1, nil
}
