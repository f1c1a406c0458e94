package codec

import "encoding/binary"

// Known numbers the field names that the gateway reads, sets or treats
// specially. A Head finds them without a scan.
type Known uint8

// The known fields. Unknown is every other name.
const (
	Unknown Known = iota
	Host
	ContentLength
	TransferEncoding
	Connection
	KeepAlive
	ProxyConnection
	TE
	Trailer
	Upgrade
	HTTP2Settings
	Expect
	XForwardedFor
	XForwardedProto
	XForwardedHost
	XForwardedPort
	XRealIP
	Forwarded
	XRequestID
	Traceparent
	Tracestate
	XGrayTag
	XRPCGroup
	XRPCVersion
	XTimeoutMs
	Cookie
	SetCookie
	Authorization
	WWWAuthenticate
	ProxyAuthenticate
	ProxyAuthorization
	ProxyAuthenticationInfo
	ContentType
	ContentEncoding
	ContentRange
	Accept
	AcceptEncoding
	UserAgent
	Date
	Server
	Location
	RetryAfter
	Allow
	Via
	CacheControl
	Pragma
	MaxForwards
	Range
	IfMatch
	IfNoneMatch
	IfModifiedSince
	IfUnmodifiedSince
	IfRange
	Age
	Expires
	Vary
	Warning
	ETag
	LastModified
	Origin

	knownCount
)

var knownNames = [knownCount]string{
	Host: "Host", ContentLength: "Content-Length", TransferEncoding: "Transfer-Encoding",
	Connection: "Connection", KeepAlive: "Keep-Alive", ProxyConnection: "Proxy-Connection",
	TE: "TE", Trailer: "Trailer", Upgrade: "Upgrade", HTTP2Settings: "HTTP2-Settings",
	Expect: "Expect", XForwardedFor: "X-Forwarded-For", XForwardedProto: "X-Forwarded-Proto",
	XForwardedHost: "X-Forwarded-Host", XForwardedPort: "X-Forwarded-Port", XRealIP: "X-Real-IP",
	Forwarded: "Forwarded", XRequestID: "X-Request-Id", Traceparent: "traceparent",
	Tracestate: "tracestate", XGrayTag: "X-Gray-Tag",
	XRPCGroup: "X-Rpc-Group", XRPCVersion: "X-Rpc-Version", XTimeoutMs: "X-Corelane-Timeout-Ms", Cookie: "Cookie", SetCookie: "Set-Cookie",
	Authorization: "Authorization", WWWAuthenticate: "WWW-Authenticate",
	ProxyAuthenticate: "Proxy-Authenticate", ProxyAuthorization: "Proxy-Authorization",
	ProxyAuthenticationInfo: "Proxy-Authentication-Info", ContentType: "Content-Type",
	ContentEncoding: "Content-Encoding", ContentRange: "Content-Range", Accept: "Accept",
	AcceptEncoding: "Accept-Encoding", UserAgent: "User-Agent", Date: "Date", Server: "Server",
	Location: "Location", RetryAfter: "Retry-After", Allow: "Allow", Via: "Via",
	CacheControl: "Cache-Control", Pragma: "Pragma", MaxForwards: "Max-Forwards", Range: "Range",
	IfMatch: "If-Match", IfNoneMatch: "If-None-Match", IfModifiedSince: "If-Modified-Since",
	IfUnmodifiedSince: "If-Unmodified-Since", IfRange: "If-Range", Age: "Age", Expires: "Expires",
	Vary: "Vary", Warning: "Warning", ETag: "ETag", LastModified: "Last-Modified", Origin: "Origin",
}

// KnownSet is a set of known fields; Unknown can be a member too.
type KnownSet uint64

// SetOf returns the set of the fields given.
func SetOf(ks ...Known) KnownSet {
	var s KnownSet
	for _, k := range ks {
		s |= 1 << k
	}
	return s
}

// Has says whether k is in the set.
func (s KnownSet) Has(k Known) bool { return s&(1<<(k&63)) != 0 }

var (
	// hopByHop: RFC 9110 §7.6.1, and HTTP2-Settings of RFC 7540 §3.2.1.
	hopByHop = SetOf(Connection, KeepAlive, ProxyConnection, TE, TransferEncoding, Upgrade, HTTP2Settings)

	// notByOption cannot be removed by naming it in Connection: removing one of
	// these would let a client undo what the gateway tells the service.
	notByOption = SetOf(Host, ContentLength, TransferEncoding, XForwardedFor, XForwardedProto,
		XForwardedHost, XForwardedPort, XRealIP, Forwarded, XRequestID, Traceparent, Tracestate,
		XGrayTag, XRPCGroup, XRPCVersion, XTimeoutMs, Via, Date, Server)

	// notInTrailers decide framing, routing, access or the meaning of the
	// content, which must be known before the content (RFC 9110 §6.5.1).
	notInTrailers = hopByHop | notByOption | SetOf(Trailer, Expect, Cookie, SetCookie, Authorization,
		WWWAuthenticate, ProxyAuthenticate, ProxyAuthorization, ProxyAuthenticationInfo,
		ContentType, ContentEncoding, ContentRange, CacheControl, Pragma, MaxForwards, Range,
		IfMatch, IfNoneMatch, IfModifiedSince, IfUnmodifiedSince, IfRange, Age, Expires, Vary,
		Warning, Location, RetryAfter, Allow, Origin)
)

// HopByHop says that the field is for one connection only and is never
// forwarded (RFC 9110 §7.6.1).
func (k Known) HopByHop() bool { return hopByHop.Has(k) }

// Trailing says that the field may stand in a trailer section (RFC 9110
// §6.5.1). Unknown names may.
func (k Known) Trailing() bool { return !notInTrailers.Has(k) }

// NotTrailing returns the fields that may not stand in a trailer section.
func NotTrailing() KnownSet { return notInTrailers }

// String returns the name as the gateway writes it, empty for Unknown.
func (k Known) String() string {
	if k >= knownCount {
		return ""
	}
	return knownNames[k]
}

// Names are compared eight bytes at a time. The last word of a name overlaps
// the word before it, and names under eight bytes are padded with zeros.
const (
	wordsPerName = 4
	longestName  = 8 * wordsPerName
	slotCount    = 256

	// Found by trial; a new name may need new factors.
	mixLength = 457
	mixFirst  = 47959
	mixLate   = 58427
	mixLast   = 44347
)

// pattern is a known name in lower case. The mask has 0x20 where the name has a
// letter: a byte equals the letter in either case exactly if byte|0x20 does.
type pattern struct {
	word, mask [wordsPerName]uint64
	length     uint8
}

// patterns and slots are a perfect hash table: slots is small enough to stay in
// the cache and answers for most names that are not known. The test shows that
// no two names share a slot.
var patterns, slots = buildPatterns()

func buildPatterns() (patterns [knownCount]pattern, slots [slotCount]Known) {
	for k := Unknown + 1; k < knownCount; k++ {
		name := []byte(knownNames[k])
		slots[slotOf(name)] = k
		p := &patterns[k]
		p.length = uint8(len(name))
		mask := make([]byte, len(name))
		for i, c := range name {
			if isAlpha(c) {
				mask[i], name[i] = 0x20, c|0x20
			}
		}
		for i := range wordsIn(len(name)) {
			p.word[i], p.mask[i] = wordAt(name, i), wordAt(mask, i)
		}
	}
	return patterns, slots
}

func wordsIn(n int) int { return (n + 7) / 8 }

// wordAt returns the i-th word of a name.
func wordAt(b []byte, i int) uint64 {
	if len(b) >= 8 {
		return binary.LittleEndian.Uint64(b[min(8*i, len(b)-8):])
	}
	var w uint64
	for j := len(b) - 1; j >= 0; j-- {
		w = w<<8 | uint64(b[j])
	}
	return w
}

// slotOf mixes the length and three bytes, case folded. The name must not be empty.
func slotOf(b []byte) uint8 {
	n := len(b)
	h := uint32(n)*mixLength + uint32(b[0]|0x20)*mixFirst + uint32(b[n*3/4]|0x20)*mixLate + uint32(b[n-1]|0x20)*mixLast
	return uint8(h >> 8)
}

// Lookup returns the number of a field name, without regard to case, or
// Unknown. Its cost does not depend on how many names are known.
func Lookup(name []byte) Known {
	n := len(name)
	if n == 0 || n > longestName {
		return Unknown
	}
	k := slots[slotOf(name)]
	p := &patterns[k]
	if int(p.length) != n {
		return Unknown
	}
	for i := range wordsIn(n) {
		if wordAt(name, i)|p.mask[i&3] != p.word[i&3] {
			return Unknown
		}
	}
	return k
}
