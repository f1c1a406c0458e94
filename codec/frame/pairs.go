package frame

import (
	"encoding/binary"

	"github.com/corelane/corelane/codec"
)

// Limits of metadata.
const (
	// MaxName and MaxValue are the longest name and value of a pair in bytes.
	MaxName  = 1<<8 - 1
	MaxValue = 1<<16 - 1
	// MaxPairs is the most pairs of a frame. Receivers have limits of their own
	// below it.
	MaxPairs = 10000
	// MaxTimeout is the longest :timeout in milliseconds.
	MaxTimeout = 1<<31 - 1

	// pairSize is what stands in front of a name: its length and the value's.
	pairSize = 4
	// maxVerb is far over the longest registered method (17 bytes).
	maxVerb = 32
)

// ReasonField carries the reason token of a failure, a go-away or a cancel.
const ReasonField = "x-corelane-reason"

// Pseudo numbers the names that begin with ":" and say what a request wants.
type Pseudo uint8

// The pseudo names.
const (
	NoPseudo        Pseudo = iota // a field
	PseudoPath                    // path, with ?query if any
	PseudoVerb                    // HTTP method of a request by path; POST if absent
	PseudoAuthority               // host and port that the request is for
	PseudoInterface               // with PseudoMethod: a call of a method
	PseudoMethod
	PseudoGroup   // of a call of a method
	PseudoVersion // of a call of a method
	PseudoKey     // the route key of a call by key
	PseudoTimeout // milliseconds that the requester still waits

	pseudoCount
)

var pseudoNames = [pseudoCount]string{
	PseudoPath: ":path", PseudoVerb: ":verb", PseudoAuthority: ":authority", PseudoInterface: ":interface",
	PseudoMethod: ":method", PseudoGroup: ":group", PseudoVersion: ":version", PseudoKey: ":key",
	PseudoTimeout: ":timeout",
}

// String returns the name, such as ":path"; empty for NoPseudo.
func (p Pseudo) String() string {
	if p >= pseudoCount {
		return ""
	}
	return pseudoNames[p]
}

// lookupPseudo returns the number of a pseudo name, NoPseudo for one that is not
// known. They are compared without regard to case, as all names.
func lookupPseudo(name []byte) Pseudo {
	for p := NoPseudo + 1; p < pseudoCount; p++ {
		if codec.EqualFold(name, pseudoNames[p]) {
			return p
		}
	}
	return NoPseudo
}

// AppendPair appends a pair. The name is a token or a pseudo name of at most
// MaxName bytes, the value has at most MaxValue and no control characters; that is
// not checked, and what is longer is cut. Any goroutine may call it.
func AppendPair[N, V string | []byte](dst []byte, name N, value V) []byte {
	name, value = name[:min(len(name), MaxName)], value[:min(len(value), MaxValue)]
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(name)))
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(value)))
	dst = append(dst, name...)
	return append(dst, value...)
}

// Pairs walks over the metadata of one frame and checks it:
//
//	pairs := frame.RequestPairs(metadata)
//	for pairs.Next() {
//		… pairs.Name, pairs.Value, pairs.Pseudo …
//	}
//	if err := pairs.Err(); err != nil { … }
//
// Only then is the metadata known to be valid as a whole. A Pairs keeps views of
// the metadata and does not change it. It is not safe for concurrent use.
type Pairs struct {
	// Name and Value are views of the current pair; Pseudo is the number of its
	// name, NoPseudo for a field. Known is the number of a field's name.
	Name, Value []byte
	Pseudo      Pseudo
	Known       codec.Known

	rest    []byte
	count   int
	request bool
	fields  bool // a field was seen: no pseudo name may follow
	seen    uint16
	fault   *fault
	// asterisk: the path is "*", which only OPTIONS may ask for
	asterisk, options bool
}

// RequestPairs walks over the metadata of the first frame of a request.
func RequestPairs(metadata []byte) Pairs { return Pairs{rest: metadata, request: true} }

// FieldPairs walks over metadata without pseudo names: of responses, trailers,
// go-away and cancel.
func FieldPairs(metadata []byte) Pairs { return Pairs{rest: metadata} }

// Next goes to the next pair and says whether there is one. It is false at the
// end, and at a pair that is malformed.
func (p *Pairs) Next() bool {
	if p.fault != nil {
		return false
	}
	if len(p.rest) == 0 {
		p.fault = p.checkCall()
		return false
	}
	p.fault = p.next()
	return p.fault == nil
}

// Err returns what is wrong with the metadata, a static *codec.Error that is
// worded for a request, or nil. It is complete when Next has returned false.
func (p *Pairs) Err() error {
	if p.fault == nil {
		return nil
	}
	return &p.fault.request
}

// Has says that the request has this pseudo name, as far as Next has gone.
func (p *Pairs) Has(name Pseudo) bool { return p.seen&(1<<name) != 0 }

// Left returns how many bytes of the metadata stand behind the current pair.
func (p *Pairs) Left() int { return len(p.rest) }

func (p *Pairs) next() *fault {
	if p.count++; p.count > MaxPairs {
		return errPairCount
	}
	b := p.rest
	if len(b) < pairSize {
		return errPair
	}
	name := int(binary.BigEndian.Uint16(b))
	value := int(binary.BigEndian.Uint16(b[2:]))
	b = b[pairSize:]
	if len(b) < name+value {
		return errPair
	}
	p.Name, p.Value, p.rest = b[:name:name], b[name:name+value:name+value], b[name+value:]
	if name == 0 || name > MaxName {
		return errName
	}
	for _, c := range p.Value {
		if !codec.IsValueByte(c) {
			return errValue
		}
	}
	if p.Name[0] == ':' {
		return p.pseudo()
	}
	return p.field()
}

func (p *Pairs) field() *fault {
	p.fields, p.Pseudo = true, NoPseudo
	p.Known = codec.Lookup(p.Name)
	switch {
	case p.Known == codec.Unknown:
		if !codec.IsToken(p.Name) {
			return errName
		}
	case forbidden.Has(p.Known):
		return errForbidden
	case p.request && shadowed.Has(p.Known):
		return errShadowed
	}
	return nil
}

func (p *Pairs) pseudo() *fault {
	p.Pseudo, p.Known = lookupPseudo(p.Name), codec.Unknown
	switch {
	case !p.request || p.Pseudo == NoPseudo:
		return errPseudo
	case p.fields:
		return errPseudoLate
	case p.Has(p.Pseudo):
		return errPseudoTwice
	}
	p.seen |= 1 << p.Pseudo
	switch p.Pseudo {
	case PseudoPath:
		p.asterisk = string(p.Value) == "*"
	case PseudoVerb:
		p.options = string(p.Value) == "OPTIONS"
	}
	return checkPseudo(p.Pseudo, p.Value)
}

var (
	// forbidden fields would say what the frame itself says.
	forbidden = codec.SetOf(codec.Host, codec.ContentLength, codec.TransferEncoding)
	// shadowed fields are what the pseudo names become in a head.
	shadowed = codec.SetOf(codec.XTimeoutMs, codec.XRPCGroup, codec.XRPCVersion)
)
