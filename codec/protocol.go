package codec

// This file is what a message protocol is to the engine: frames that carry
// requests and responses, many or one at a time, over one connection. HTTP/1.1
// has a package and streams of its own.

// Role says which way the messages of a decoder or a piece travel.
type Role uint8

const (
	Requests  Role = iota // from a client to a service
	Responses             // from a service to a client
)

// Protocol turns the bytes of a connection into messages and messages into
// bytes. A value is immutable and used by all loops at once; what belongs to a
// connection is in its Decoder. Nothing here does I/O, reads a clock, logs,
// locks or waits.
//
// A Protocol that also implements Translator has bodies that mean nothing to
// other protocols.
type Protocol interface {
	// Name is what configuration, logs and explanations call it.
	Name() string
	// Traits say what the engine must know of it. They never change.
	Traits() Traits
	// NewDecoder returns a decoder for one direction of one connection.
	NewDecoder(r Role, l MessageLimits) Decoder
	// Encode appends to dst what stands in front of the body of a piece and
	// returns it. It may replace p.Body by a part of it or by bytes of its own,
	// and append to p.Tail, which is sent behind the body. An error means that
	// the message cannot be said in this protocol; nothing of it is sent.
	Encode(dst []byte, p *Piece) ([]byte, error)
	// AppendFailure appends a whole response that tells a client of a failure of
	// the gateway's, in the protocol's own words. It returns dst as it is if the
	// protocol has none; only closing the connection tells the client then.
	AppendFailure(dst []byte, f *Failure) []byte
	// AppendControl appends a message between the two ends of a connection; it
	// returns dst as it is if the protocol does not know the kind.
	AppendControl(dst []byte, c *Control) []byte
}

// Traits are the properties of a Protocol that decide how the engine uses its
// connections.
type Traits struct {
	// IDBits is the width of message ids, up to 64. 0: messages have no id, and
	// a connection carries one exchange at a time, in order.
	IDBits int
	// Splits says that a message can be sent in pieces, with pieces of others
	// between them. Otherwise a message is one frame: the engine gathers the whole
	// of it before it is encoded, and a decoder delivers its body as one piece.
	Splits bool
	// Window is the number of body bytes that one side may send of each message
	// before the other has given credit for more; 0: there is no credit. Only
	// for a protocol that splits.
	Window int
	// Heartbeats says that AppendControl knows Heartbeat and HeartbeatReply, and
	// that peers answer.
	Heartbeats bool
}

// MessageLimits bound what a decoder accepts.
type MessageLimits struct {
	// Head bounds the metadata of a message in bytes, HeadFields their number; 0:
	// no limit of its own.
	Head, HeadFields int
	// Body bounds the body of a message that is one frame, in bytes; always set.
	Body int
}

// Decoder reads one direction of one connection, in any split of its bytes. It
// belongs to one loop.
type Decoder interface {
	// Next reads b up to the next event and returns how many bytes it took. The
	// caller goes on with the rest, even if that is empty, until NeedMore, with
	// which all bytes are taken: events without bytes of their own, such as
	// MessageEnd, may be left. An *Error means that the connection cannot be
	// understood any more. What e refers to is valid until the next call. Bytes in
	// front of a body that was handed out may have changed when they come again.
	Next(b []byte, e *Event) (n int, err error)
}

// Gatherer is implemented by decoders that keep bytes of messages which are not
// whole, so that those count into the gateway's budget for buffers.
type Gatherer interface {
	// Gathered returns the number of bytes that are kept now.
	Gathered() int
}

// EventKind is what a Decoder has found.
type EventKind uint8

// The events. A message is MessageBegin, MessageHead, any number of
// MessageData, perhaps MessageTrailers, then MessageEnd; MessageData and what
// follows may come later, for an ID that began before.
const (
	// NeedMore: all bytes were taken and nothing is complete.
	NeedMore EventKind = iota
	// MessageBegin: a message with e.ID begins. The receiver now sets e.Head, an
	// empty head to decode into, or nil: the rest of this message's events is
	// still delivered, without MessageHead.
	MessageBegin
	// MessageHead: e.Head is complete. Its Framing says what follows: FramingNone
	// or FramingLength 0: nothing but MessageEnd.
	MessageHead
	// MessageData: e.Data is a piece of the body of e.ID, never empty.
	MessageData
	// MessageTrailers: trailers for e.ID begin. The receiver sets e.Head or nil as
	// with MessageBegin; they are complete with MessageEnd.
	MessageTrailers
	// MessageEnd: the message e.ID is complete.
	MessageEnd
	// HeartbeatEvent asks for a HeartbeatReply with the same ID.
	HeartbeatEvent
	// HeartbeatReplyEvent answers one of ours.
	HeartbeatReplyEvent
	// GoAwayEvent: the peer takes no more messages on this connection; those with
	// ids above e.ID, as this side numbers them, were not looked at. Without that
	// knowledge e.ID is the largest number.
	GoAwayEvent
	// CancelEvent: the peer gives up e.ID.
	CancelEvent
	// CreditEvent: the peer takes e.Amount more bytes of e.ID.
	CreditEvent
)

// Event is what Next reports. It belongs to a connection and is used for all its
// events.
type Event struct {
	Kind EventKind
	// OneWay: no response is wanted. Of MessageBegin.
	OneWay bool
	ID     uint64
	// Head is where the decoder puts fields; set by the receiver.
	Head   *Head
	Data   []byte
	Amount int
	// Refused is set with MessageHead where the frame is sound and its contents
	// are not: the message goes nowhere and is answered with it, and the
	// connection goes on. Its head calls nothing then. nil with every other
	// MessageHead.
	Refused *Error
}

// Piece is a part of a message on its way out: head and body, or more of the
// body. It belongs to a connection and is used for all its pieces.
type Piece struct {
	Role Role
	ID   uint64
	// Head is set in the first piece of a message, nil in later ones.
	Head *Head
	// Body is what is sent of the body now. Of a protocol that does not split it
	// is the whole body.
	Body []byte
	// Last says that the message ends with this piece; then Trailers may be set.
	Last     bool
	Trailers *Head
	// Native says that Head and Body came from a decoder of this protocol, and
	// that Body is as it came, translated or changed by nobody.
	Native bool
	// OneWay: no response is wanted.
	OneWay bool
	// Timeout is the time in milliseconds that the request may still take; 0:
	// nothing is said of it.
	Timeout int64
	// Tail is sent behind Body. Encode appends to it; it is empty before.
	Tail []byte
}

// Failure is an answer of the gateway's own.
type Failure struct {
	ID     uint64
	Status int
	Reason Reason
	// Message is one clause for people; TraceID finds the exchange in the logs.
	Message, TraceID []byte
	// Request is the head of the request that is answered; it may be empty.
	Request *Head
}

// ControlKind is a kind of Control.
type ControlKind uint8

const (
	Heartbeat      ControlKind = iota // asks whether the peer is there
	HeartbeatReply                    // ID of the heartbeat that is answered
	GoAway                            // ID is the last message that was looked at
	Cancel                            // ID is given up: the request, or the answer
	Credit                            // Amount more bytes of ID are welcome
)

// Control is a message between the two ends of a connection.
type Control struct {
	Kind   ControlKind
	Role   Role // of the messages that ID counts
	ID     uint64
	Amount int
	// Reason and Detail tell why, for GoAway and Cancel; empty: no fault.
	Reason Reason
	Detail string
}

// Translator is implemented by protocols whose bodies mean nothing to others.
// Such a protocol does not split. Its exchanges with another protocol pass in
// JSON. Both methods may allocate and must bound what they do by the size of
// body; they append to dst and return it. They may change fields of the head,
// Content-Type among them; the caller sets the framing. An *Error is the
// client's fault in a request, the service's in a response.
type Translator interface {
	// Neutral turns a decoded message into one that any protocol can carry. In a
	// response it may change the status.
	Neutral(dst []byte, r Role, h *Head, body []byte) ([]byte, error)
	// Native turns a neutral message into one for Encode, whose Piece.Native is
	// false then. request is the head of the request; in a request it is h.
	Native(dst []byte, r Role, h, request *Head, body []byte) ([]byte, error)
}
