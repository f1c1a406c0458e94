package frame

import "encoding/binary"

// Sizes and limits of frames, in bytes unless they say otherwise.
const (
	// HeaderSize is the size of the fixed header that every frame begins with.
	HeaderSize = 24
	// Version is the one that this package speaks.
	Version = 1

	// MaxMetadata is the most metadata of a frame. Receivers have limits of their
	// own below it.
	MaxMetadata = 1 << 20
	// MaxBody is the most body of a frame that is received.
	MaxBody = 16 << 20
	// MaxSentBody is the most body of a frame that is sent.
	MaxSentBody = 1 << 20
	// MaxDetail is the longest text of a go-away or cancel.
	MaxDetail = 1 << 10
	// CreditSize is the size of the body of a credit.
	CreditSize = 4
	// MaxCredit is the most that one credit gives, in bytes of body.
	MaxCredit = 1<<31 - 1
	// Window is how many bytes of each message's body may be sent without credit.
	Window = 256 << 10
	// LastIDUnknown in a go-away says nothing of what was looked at.
	LastIDUnknown = 1<<64 - 1
)

// The statuses that a header may have besides 0.
const (
	minStatus = 200
	maxStatus = 599
)

// Where the fields of a header stand.
const (
	atVersion  = 2
	atKind     = 3
	atFlags    = 4
	atStatus   = 6
	atID       = 8
	atMetadata = 16
	atBody     = 20
)

// magic is "CL".
var magic = [2]byte{'C', 'L'}

// Kind says what a frame is.
type Kind uint8

// The kinds. Those up to MaxIgnored that have no name here are additions to come:
// a receiver skips their frames. All others are errors.
const (
	Request   Kind = 1
	Response  Kind = 2
	OneWay    Kind = 3 // a request that wants no response
	Heartbeat Kind = 4
	GoAway    Kind = 5
	Cancel    Kind = 6
	Credit    Kind = 7

	MaxIgnored Kind = 127
)

// Message says that the frame carries a request or a response, or a part of one.
func (k Kind) Message() bool { return k == Request || k == Response || k == OneWay }

// Ignored says that the kind is an addition that this version does not know.
func (k Kind) Ignored() bool { return k > Credit && k <= MaxIgnored }

// Flags of a frame.
type Flags uint16

// The flags. All other bits are reserved and 0.
const (
	// More frames of this message follow.
	More Flags = 1 << 0
	// Continues a message that began with an earlier frame of the same kind and id.
	Continues Flags = 1 << 1
	// Zstd: the body of the whole message is one zstd stream (RFC 8878). It stands
	// in the first frame of a message.
	Zstd Flags = 1 << 2
	// Reply: this heartbeat answers one.
	Reply Flags = 1 << 3
)

// allowedFlags are those that fit a kind.
func allowedFlags(k Kind) Flags {
	switch {
	case k.Message():
		return More | Continues | Zstd
	case k == Heartbeat:
		return Reply
	case k.Ignored():
		return More | Continues | Zstd | Reply
	}
	return 0
}

// Header is the fixed beginning of a frame. Metadata and Body are lengths in
// bytes; metadata follows the header and body follows metadata.
type Header struct {
	Kind   Kind
	Flags  Flags
	Status uint16
	ID     uint64
	// Metadata and Body are lengths in bytes.
	Metadata, Body uint32
}

// Has says that all of the flags are set.
func (h *Header) Has(f Flags) bool { return h.Flags&f == f }

// First says that a message begins with this frame.
func (h *Header) First() bool { return h.Kind.Message() && !h.Has(Continues) }

// Last says that a message ends with this frame.
func (h *Header) Last() bool { return h.Kind.Message() && !h.Has(More) }

// Size returns the size of the frame in bytes, header included.
func (h *Header) Size() int { return HeaderSize + int(h.Metadata) + int(h.Body) }

// ParseHeader reads and checks the header at the beginning of b, which has at
// least HeaderSize bytes. An error is a static *codec.Error that is worded for a
// request; after it the connection cannot be understood any more. Any goroutine
// may call it.
//
// A header without an error fits its kind in itself: flags, status, id and
// lengths. The receiver checks what depends on others: the direction, whether the
// id is in use, and its own limits.
func ParseHeader(b []byte) (Header, error) {
	h, f := parseHeader(b)
	if f != nil {
		return Header{}, &f.request
	}
	return h, nil
}

func parseHeader(b []byte) (Header, *fault) {
	if f := checkStart(b); f != nil {
		return Header{}, f
	}
	if len(b) < HeaderSize {
		return Header{}, errShort
	}
	h := Header{
		Kind:     Kind(b[atKind]),
		Flags:    Flags(binary.BigEndian.Uint16(b[atFlags:])),
		Status:   binary.BigEndian.Uint16(b[atStatus:]),
		ID:       binary.BigEndian.Uint64(b[atID:]),
		Metadata: binary.BigEndian.Uint32(b[atMetadata:]),
		Body:     binary.BigEndian.Uint32(b[atBody:]),
	}
	return h, h.check()
}

// checkStart judges magic and version, as far as b goes, so that whoever speaks
// something else hears of it at once.
func checkStart(b []byte) *fault {
	for i := range magic {
		if i < len(b) && b[i] != magic[i] {
			return errMagic
		}
	}
	if len(b) > atVersion && b[atVersion] != Version {
		return errVersion
	}
	return nil
}

// check judges the fields in the order in which they stand.
func (h *Header) check() *fault {
	switch {
	case h.Kind == 0 || h.Kind > MaxIgnored:
		return errKind
	case h.Flags&^allowedFlags(h.Kind) != 0:
		return errFlag
	case h.Kind.Message() && h.Has(Continues|Zstd):
		return errZstdLate
	case !h.statusFits():
		return errStatus
	case h.ID == 0 && (h.Kind.Message() || h.Kind == Cancel || h.Kind == Credit):
		return errID
	case h.Metadata > MaxMetadata:
		return errMetadataBig
	case h.Metadata > 0 && (h.Kind == Heartbeat || h.Kind == Credit):
		return errMetadata
	case h.Metadata > 0 && h.Kind.Message() && h.Has(Continues|More):
		return errMetadataMid
	case h.Body > MaxBody:
		return errBodyBig
	}
	return h.checkBody()
}

// Bodiless says that a response with this status has no body (RFC 9110 §6.4.1).
// It is one frame.
func Bodiless(status int) bool { return status == 204 || status == 304 }

func (h *Header) checkBody() *fault {
	if h.Kind == Response && Bodiless(int(h.Status)) && (h.Body > 0 || h.Has(More)) {
		return errBodiless
	}
	fits := true
	switch h.Kind {
	case Heartbeat:
		fits = h.Body == 0
	case Credit:
		fits = h.Body == CreditSize
	case GoAway, Cancel:
		fits = h.Body <= MaxDetail
	}
	if !fits {
		return errBody
	}
	return nil
}

// statusFits: the first frame of a response has a status, go-away and cancel may
// have one.
func (h *Header) statusFits() bool {
	valid := h.Status >= minStatus && h.Status <= maxStatus
	switch {
	case h.Kind == Response && h.First():
		return valid
	case h.Kind == GoAway, h.Kind == Cancel:
		return valid || h.Status == 0
	case h.Kind.Ignored():
		return true
	}
	return h.Status == 0
}

// AppendHeader appends the header as it stands: the caller sets fields that fit
// the kind. Any goroutine may call it.
func AppendHeader(dst []byte, h *Header) []byte {
	var b [HeaderSize]byte
	h.put(b[:])
	return append(dst, b[:]...)
}

// put writes the header over the first bytes of b.
func (h *Header) put(b []byte) {
	_ = b[HeaderSize-1]
	copy(b, magic[:])
	b[atVersion], b[atKind] = Version, byte(h.Kind)
	binary.BigEndian.PutUint16(b[atFlags:], uint16(h.Flags))
	binary.BigEndian.PutUint16(b[atStatus:], h.Status)
	binary.BigEndian.PutUint64(b[atID:], h.ID)
	binary.BigEndian.PutUint32(b[atMetadata:], h.Metadata)
	binary.BigEndian.PutUint32(b[atBody:], h.Body)
}

// AppendCredit appends a whole credit of n bytes, 1 to MaxCredit, for the message
// with that id. Any goroutine may call it.
func AppendCredit(dst []byte, id uint64, n uint32) []byte {
	dst = AppendHeader(dst, &Header{Kind: Credit, ID: id, Body: CreditSize})
	return binary.BigEndian.AppendUint32(dst, n)
}

// ParseCredit reads the body of a credit, CreditSize bytes. An error is a static
// *codec.Error.
func ParseCredit(body []byte) (n uint32, err error) {
	n, f := parseCredit(body)
	if f != nil {
		return 0, &f.request
	}
	return n, nil
}

func parseCredit(body []byte) (uint32, *fault) {
	if len(body) != CreditSize {
		return 0, errBody
	}
	n := binary.BigEndian.Uint32(body)
	if n == 0 || n > MaxCredit {
		return 0, errCredit
	}
	return n, nil
}

// AppendDetail appends a whole go-away or cancel: status 0 without a fault, else
// 200 to 599, a reason token that may be empty, and a text for people that is cut
// to MaxDetail bytes. Any goroutine may call it.
func AppendDetail(dst []byte, k Kind, id uint64, status int, reason, detail string) []byte {
	detail = detail[:min(len(detail), MaxDetail)]
	h := Header{Kind: k, ID: id, Status: uint16(status), Body: uint32(len(detail))}
	at := len(dst)
	dst = AppendHeader(dst, &h)
	if reason != "" {
		dst = AppendPair(dst, ReasonField, reason)
	}
	h.Metadata = uint32(len(dst) - at - HeaderSize)
	h.put(dst[at:])
	return append(dst, detail...)
}
