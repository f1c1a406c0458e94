package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Dubbo is Dubbo 2 with Hessian 2 as serialization.
type Dubbo struct{}

const (
	dubboHeader = 16
	dubboID     = 4
	dubboMagic  = 0xdabb

	flagRequest = 0x80
	flagTwoWay  = 0x40
	flagEvent   = 0x20
	hessian2    = 2

	dubboOK = 20

	// Codes of Hessian 2.
	hessianNull = 'N'
	hessianMap  = 'H'
	hessianEnd  = 'Z'

	// Result flags, as Hessian integers.
	resultValue         = 0x91 // 1
	resultNull          = 0x92 // 2
	resultValueAttached = 0x94 // 4
	resultNullAttached  = 0x95 // 5

	// requestStrings stand before the first argument: Dubbo's version, path,
	// version of the service, method, types of the parameters.
	requestStrings = 5
)

// Name is "dubbo".
func (Dubbo) Name() string { return "dubbo" }

// Request calls a method of an interface with a string.
func (Dubbo) Request(call Call, size int) (*Template, error) {
	if err := checkSize(size); err != nil {
		return nil, err
	}
	if call.Interface == "" || call.Method == "" {
		return nil, errors.New("dubbo calls an interface and a method")
	}
	b := binary.BigEndian.AppendUint16(nil, dubboMagic)
	b = append(b, flagRequest|flagTwoWay|hessian2, 0)
	b = append(b, make([]byte, 12)...)
	for _, s := range []string{"2.0.2", call.Interface, "0.0.0", call.Method, "Ljava/lang/String;"} {
		b = appendString(b, []byte(s), len(s))
	}
	nonce := len(appendStringLength(b, size))
	b = appendString(b, nil, size)
	b = append(b, hessianMap)
	for _, s := range []string{"path", call.Interface, "interface", call.Interface, "version", "0.0.0"} {
		b = appendString(b, []byte(s), len(s))
	}
	b = append(b, hessianEnd)
	binary.BigEndian.PutUint32(b[12:], uint32(len(b)-dubboHeader))
	return &Template{bytes: b, id: dubboID, nonce: nonce}, nil
}

// AppendResponse appends a string as the value.
func (Dubbo) AppendResponse(dst []byte, id uint64, body []byte, length int) []byte {
	at := len(dst)
	dst = appendDubboHeader(dst, hessian2, dubboOK, id)
	dst = appendString(append(dst, resultValue), body, length)
	binary.BigEndian.PutUint32(dst[at+12:], uint32(len(dst)-at-dubboHeader))
	return dst
}

// AppendHeartbeatReply appends an event that holds null.
func (Dubbo) AppendHeartbeatReply(dst []byte, id uint64) []byte {
	dst = appendDubboHeader(dst, flagEvent|hessian2, dubboOK, id)
	dst[len(dst)-1] = 1
	return append(dst, hessianNull)
}

// appendDubboHeader leaves the length 0.
func appendDubboHeader(dst []byte, flag, status byte, id uint64) []byte {
	dst = append(binary.BigEndian.AppendUint16(dst, dubboMagic), flag, status)
	return append(binary.BigEndian.AppendUint64(dst, id), 0, 0, 0, 0)
}

// appendString appends ASCII text as a string, filled up or cut to length.
func appendString(dst, text []byte, length int) []byte {
	return appendBody(appendStringLength(dst, length), text, length)
}

func appendStringLength(dst []byte, n int) []byte {
	switch {
	case n < 32:
		return append(dst, byte(n))
	case n < 1024:
		return append(dst, byte(0x30+n>>8), byte(n))
	}
	return append(dst, 'S', byte(n>>8), byte(n))
}

// Next reads one message.
func (Dubbo) Next(b []byte, m *Message) (int, error) {
	*m = Message{}
	if len(b) < dubboHeader {
		return 0, nil
	}
	if binary.BigEndian.Uint16(b) != dubboMagic {
		return 0, errMagic
	}
	length := int(binary.BigEndian.Uint32(b[12:]))
	if length > maxMessage {
		return 0, fmt.Errorf("a body of %d bytes", length)
	}
	end := dubboHeader + length
	if len(b) < end {
		return 0, nil
	}
	flag := b[2]
	*m = Message{ID: binary.BigEndian.Uint64(b[dubboID:]), First: true, Last: true, OneWay: flag&flagTwoWay == 0, Answer: -1}
	var err error
	switch body := b[dubboHeader:end]; {
	case flag&flagEvent != 0:
		m.Kind = Other
		if flag&(flagRequest|flagTwoWay) == flagRequest|flagTwoWay {
			m.Kind = Heartbeat
		}
	case flag&flagRequest != 0:
		m.Kind = Request
		for range requestStrings {
			if _, body, err = cutString(body); err != nil {
				return end, err
			}
		}
		m.Body, _, err = cutString(body)
	default:
		m.Kind = Response
		m.Status, m.Body, err = dubboResult(b[3], body)
	}
	return end, err
}

// dubboResult reads a response's status and value.
func dubboResult(status byte, body []byte) (int, []byte, error) {
	if status != dubboOK {
		return int(status), nil, nil
	}
	if len(body) == 0 {
		return 0, nil, errors.New("a result without its flag")
	}
	switch body[0] {
	case resultValue, resultValueAttached:
		value, _, err := cutString(body[1:])
		return 200, value, err
	case resultNull, resultNullAttached:
		return 200, nil, nil
	}
	return 500, nil, nil
}

// cutString reads a string of ASCII characters, or null.
func cutString(b []byte) (text, rest []byte, err error) {
	if len(b) == 0 {
		return nil, nil, errString
	}
	n, at := 0, 0
	switch code := b[0]; {
	case code < 0x20:
		n, at = int(code), 1
	case code >= 0x30 && code < 0x34 && len(b) > 1:
		n, at = int(code-0x30)<<8+int(b[1]), 2
	case code == 'S' && len(b) > 2:
		n, at = int(binary.BigEndian.Uint16(b[1:])), 3
	case code == hessianNull:
		at = 1
	default:
		return nil, nil, errString
	}
	if len(b) < at+n {
		return nil, nil, errString
	}
	return b[at : at+n], b[at+n:], nil
}

var errString = errors.New("not a whole string of ASCII characters")
