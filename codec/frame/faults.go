package frame

import "github.com/corelane/corelane/codec"

// fault is what can be wrong with a frame. From a service every fault is
// upstream_bad_response; only the detail tells them apart.
type fault struct {
	request  codec.Error
	response codec.Error
}

func newFault(r codec.Reason, detail string) *fault {
	return &fault{
		request:  codec.Error{Reason: r, Detail: detail},
		response: codec.Error{Reason: codec.UpstreamBadResponse, Detail: detail},
	}
}

// of returns the error for messages that travel that way.
func (f *fault) of(r codec.Role) *codec.Error {
	if r == codec.Responses {
		return &f.response
	}
	return &f.request
}

// What is wrong with a header.
var (
	errShort       = newFault(codec.BadRequest, "a frame header has 24 bytes")
	errMagic       = newFault(codec.BadRequest, "a frame does not begin with CL")
	errVersion     = newFault(codec.VersionNotSupported, "the version of a frame is not 1")
	errKind        = newFault(codec.BadRequest, "the kind of a frame is 0 or over 127")
	errFlag        = newFault(codec.BadRequest, "a flag of a frame is reserved or does not fit its kind")
	errZstdLate    = newFault(codec.BadRequest, "the flag ZSTD stands behind the first frame of its message")
	errStatus      = newFault(codec.BadRequest, "the status of a frame is out of range or does not fit its kind")
	errID          = newFault(codec.BadRequest, "the id of a frame is 0")
	errMetadata    = newFault(codec.BadRequest, "a frame of this kind has no metadata")
	errMetadataMid = newFault(codec.BadRequest, "a frame in the middle of a message has metadata")
	errMetadataBig = newFault(codec.HeadersTooLarge, "the metadata of a frame is over its limit")
	errBody        = newFault(codec.BadFraming, "the body of a frame has a length that does not fit its kind")
	errBodyBig     = newFault(codec.BodyTooLarge, "the body of a frame is over 16 MiB")
	errBodiless    = newFault(codec.BadFraming, "a response with status 204 or 304 has a body, or more frames")
	errCredit      = newFault(codec.BadFraming, "a credit is 0 or over 2147483647 bytes")
	errDirection   = newFault(codec.BadRequest, "a frame of this kind travels the other way")
)

// What cannot be said in a frame.
var (
	errTooMuch  = newFault(codec.HeadersTooLarge, "the fields do not fit into the metadata of a frame")
	errKeyBytes = newFault(codec.BadRequest, "the key has bytes that cannot stand in metadata")
	errNoStatus = newFault(codec.BadRequest, "the status is not one that a frame can carry")
)

// What is wrong with metadata.
var (
	errPair         = newFault(codec.BadRequest, "a pair of the metadata runs beyond its end")
	errPairCount    = newFault(codec.HeadersTooLarge, "the metadata has more pairs than allowed")
	errName         = newFault(codec.BadRequest, "a name in the metadata is not a token of 1 to 255 bytes")
	errValue        = newFault(codec.BadRequest, "a value in the metadata has control characters")
	errPseudo       = newFault(codec.BadRequest, "a pseudo name is not known, or not allowed here")
	errPseudoTwice  = newFault(codec.BadRequest, "a pseudo name stands twice")
	errPseudoLate   = newFault(codec.BadRequest, "a pseudo name stands behind a field")
	errForbidden    = newFault(codec.BadRequest, "the metadata has Host, Content-Length or Transfer-Encoding")
	errShadowed     = newFault(codec.BadRequest, "the metadata has a field that a pseudo name stands for")
	errCallMissing  = newFault(codec.BadRequest, "a request has no :path, no :interface with :method and no :key")
	errCallTwice    = newFault(codec.BadRequest, "a request names what it wants in more than one way")
	errPath         = newFault(codec.BadRequest, "the path does not begin with / or has bytes that may not stand in it")
	errVerb         = newFault(codec.BadRequest, "the verb is not a token of 1 to 32 bytes")
	errConnect      = newFault(codec.NotImplemented, "CONNECT is not served")
	errAuthority    = newFault(codec.BadRequest, "the authority is invalid")
	errMethod       = newFault(codec.BadRequest, "the interface or the method is not a name")
	errTimeout      = newFault(codec.BadRequest, "the timeout is not a number from 1 to 2147483647")
	errZstdEncoding = newFault(codec.BadRequest, "the flag ZSTD and Content-Encoding stand together")
)
