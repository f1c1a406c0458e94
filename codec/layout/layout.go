package layout

// Layout describes the frames of a private protocol. Offsets are bytes from the
// begin of a frame.
type Layout struct {
	// Magic are the bytes that every frame begins with; empty: any.
	Magic []byte
	// Length says how far a frame extends.
	Length Length
	// ID pairs a response with its request; nil: a connection carries one exchange
	// at a time, in order.
	ID *Integer
	// Key is what routes are chosen by; nil: requests of others can be sent in
	// this layout, but its own cannot be routed.
	Key *Key
	// Kind tells requests, responses and heartbeats apart; nil: what a client
	// sends are requests, what a service sends are responses.
	Kind *Kind
	// Constants stand in the headers that the gateway makes itself.
	Constants []Constant
	// Failure is how the gateway tells a client of a failure; nil: it cannot.
	Failure *Failure
}

// Counts is what the number in a length field counts.
type Counts uint8

// What is counted.
const (
	CountsBody  Counts = iota // the bytes behind the header
	CountsFrame               // the whole frame
	CountsRest                // the bytes behind the length field
)

// Length says how far a frame extends.
type Length struct {
	Integer
	Counts Counts
	// Header is the size of the header in bytes, 1 to MaxHeader. What follows is
	// the body.
	Header int
	// Max bounds a whole frame in bytes, up to MaxFrame.
	Max int
}

// KeyKind is the form of a route key.
type KeyKind uint8

// The forms of keys.
const (
	KeyBytes    KeyKind = iota // so many bytes, without zeros at their end
	KeyInteger                 // an integer, as decimal text
	KeyString8                 // a length of 1 byte, then so many bytes
	KeyString16                // a length of 2 bytes, then so many bytes
	KeyString32                // a length of 4 bytes, then so many bytes
	KeyConstant                // the same for all requests, in no frame
)

// Key is what routes are chosen by. It stands in the header or in the body;
// strings in the body only, since the header has a fixed size.
type Key struct {
	Kind KeyKind
	// At, Width and Order are the place. Width is for KeyBytes (1 to 256) and
	// KeyInteger (1 to 8); of strings, Order is that of the length.
	Integer
	// Constant is the key of KeyConstant.
	Constant string
}

// prefix is the size of a string's length.
func (k *Key) prefix() int {
	switch k.Kind {
	case KeyString8:
		return 1
	case KeyString16:
		return 2
	case KeyString32:
		return 4
	}
	return 0
}

// Kind is the integer that tells what a frame is. Each list may hold several
// values; the first is the one that the gateway writes.
type Kind struct {
	Integer
	// Mask are the bits that count; 0: all.
	Mask uint64
	// Request and Response are never empty; a value may stand in both.
	Request, Response []uint64
	// OneWay are requests that want no response.
	OneWay []uint64
	// Heartbeat are frames that ask for a HeartbeatReply. If both are the same
	// value, a client's is a heartbeat and a service's the reply.
	Heartbeat []uint64
	// HeartbeatReply is nil if heartbeats are not answered.
	HeartbeatReply *uint64
}

// bits are the bits that count.
func (k *Kind) bits() uint64 {
	if k.Mask == 0 {
		return k.most()
	}
	return k.Mask
}

// Constant are bytes at a place of the header.
type Constant struct {
	At    int
	Bytes []byte
}

// Failure is how a response is built that tells of a failure of the gateway's:
// a header with the kind, id and length of a response, and fields over it.
type Failure struct {
	// Echo begins with the header of the request instead of an empty one.
	Echo bool
	// Kind is the kind of the reply; nil: that of other responses.
	Kind *uint64
	// Fields are written into the header.
	Fields []Field
	// Body is the text of the body: {status}, {reason}, {message} and {trace_id}
	// are replaced.
	Body string
}

// Field is a place of an error reply's header and what is written there: the
// HTTP status as an integer, or Bytes if there are any.
type Field struct {
	Integer
	Bytes []byte
}
