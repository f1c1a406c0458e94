package dubbo

import (
	"strconv"

	"github.com/corelane/corelane/codec"
)

// Limits of what is accepted, apart from those of codec.MessageLimits.
const (
	// maxDepth bounds how deep values lie in each other.
	maxDepth = 64
	// maxClasses bounds the class definitions of one body.
	maxClasses = 4096
	// maxArguments is the most that a method of Java can have.
	maxArguments = 255
	// maxAttachments holds where MessageLimits say nothing of fields.
	maxAttachments = 1000
	// maxValues bounds the values of a body that is translated.
	maxValues = 1 << 19
	// A translation of Hessian to JSON may become jsonFactor times as long as the
	// body and minJSON more, and no longer than maxJSON: a class name of one byte
	// is spelled out, and references are expanded.
	jsonFactor = 64
	minJSON    = 64 << 10
	maxJSON    = 32 << 20
	// maxErrorText bounds what an answer of another protocol adds to an error.
	maxErrorText = 4 << 10
	// keepGathered: a larger buffer of a frame that came in pieces is given back.
	keepGathered = 16 << 10
)

// fault is what can be wrong with a body. Whose fault it is depends on the way
// it goes.
type fault [2]codec.Error

func newFault(detail string) *fault {
	return &fault{
		codec.Requests:  {Reason: codec.BadRequest, Detail: detail},
		codec.Responses: {Reason: codec.UpstreamBadResponse, Detail: detail},
	}
}

// of returns the error to report for messages of that role.
func (f *fault) of(r codec.Role) *codec.Error { return &f[r] }

// What is wrong with a frame; the connection cannot be understood then.
var (
	faultMagic     = newFault("it is no frame of Dubbo")
	faultNegative  = newFault("the length of a frame is negative")
	faultDirection = newFault("a client sent a response")
	faultTooLong   = &fault{
		codec.Requests:  {Reason: codec.BodyTooLarge, Detail: "a frame is longer than the limit of bodies"},
		codec.Responses: {Reason: codec.UpstreamBadResponse, Detail: "a frame is longer than the limit of bodies"},
	}
)

// What is wrong inside a frame; other exchanges go on.
var (
	faultCut         = newFault("a value of Hessian ends too early")
	faultTag         = newFault("a byte begins no value of Hessian 2")
	faultDepth       = newFault("values of Hessian are nested too deep")
	faultText        = newFault("a string of Hessian is no UTF-8")
	faultLength      = newFault("a length of Hessian is negative or longer than what is there")
	faultReference   = newFault("a reference of Hessian points to nothing")
	faultClass       = newFault("an object of Hessian has a class that was not defined")
	faultClasses     = newFault("too many class definitions")
	faultTypes       = newFault("the parameter types are malformed")
	faultString      = newFault("a string is expected where another value stands")
	faultAttachments = newFault("the attachments are no map")
	faultName        = newFault("interface or method is no name")
	faultTrailing    = newFault("there is more behind the value")
	faultTooMany     = newFault("too many values to translate")
	faultTooLarge    = newFault("the translation to JSON is too long")
	faultKey         = newFault("a key of a map is a list, a map or an object")
	faultJSON        = newFault("the body is no JSON")
	faultArguments   = newFault("the arguments are an array, or an object with types and args of the same length")
	faultArgument    = newFault("an argument does not fit its type")
	faultNumber      = newFault("a number has no counterpart in Java")
	faultPath        = newFault("the path is not [/group]/interface[:version]/method")
	faultHead        = &fault{
		codec.Requests:  {Reason: codec.HeadersTooLarge, Detail: "too many attachments"},
		codec.Responses: {Reason: codec.UpstreamBadResponse, Detail: "too many attachments"},
	}
)

// faultSerialization is by the id of the serialization, of which one is known.
var faultSerialization = func() (faults [serializationMask + 1]*fault) {
	for id := range faults {
		faults[id] = newFault("serialization " + strconv.Itoa(id) + " is not Hessian 2, which has id 2")
	}
	return faults
}()
