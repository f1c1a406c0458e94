package snapshot

import (
	"net/netip"
	"time"

	"github.com/corelane/corelane/codec"
	"github.com/corelane/corelane/filters"
	"github.com/corelane/corelane/pool"
	"github.com/corelane/corelane/route"
)

// Snapshot is one generation. Nothing in it changes after Publish.
type Snapshot struct {
	// Generation counts from 1, one more for each published change.
	Generation uint64
	// Routes resolves requests.
	Routes *route.Table[*Route]
	// Services by name.
	Services map[string]*Service
	// Listeners by name: the policies of listeners. Their sockets belong to the
	// server and do not change with a generation.
	Listeners map[string]*Listener
}

// Endpoints returns the endpoints that this generation may use.
func (s *Snapshot) Endpoints() []*pool.Endpoint {
	var all []*pool.Endpoint
	for _, svc := range s.Services {
		for i := range svc.Pool.Members {
			all = append(all, svc.Pool.Members[i].Endpoint)
		}
	}
	return all
}

// Route is one compiled route. Unchanged routes are the same object in the next
// generation.
type Route struct {
	Info filters.RouteInfo
	// Service gets the requests; nil where a filter answers.
	Service *Service
	// Chain is the route's filter sets and filters in order; nil if none. It
	// begins with the filters of Sets; the rest are the route's own.
	Chain *filters.Chain
	Sets  []FilterSet
	// Strip is the number of leading path segments removed before forwarding.
	Strip int
	// RewritePath replaces the path (after strip); {name} takes a template's
	// segment. Empty: unchanged.
	RewritePath string
	// RewriteHost replaces Host. Empty: unchanged.
	RewriteHost string
	// Timeouts and Retries are complete: route over service over default.
	Timeouts Timeouts
	Retries  Retries
	// MaxBody bounds request bodies in bytes, 0: the listener's limit.
	MaxBody int64
	// Buffer has request bodies received whole before an endpoint is chosen, and
	// BodyMemory is what is held of one in memory, in bytes, 0: no limit.
	Buffer     bool
	BodyMemory int64
	// Series is where the route's numbers are kept, the same for every
	// generation of the route.
	Series *Series
	// From is what it was compiled from; only the compiler reads it.
	From any
}

// BodyLimit returns the bytes that a request body may have on this route; 0: no
// limit.
func (r *Route) BodyLimit(l *Listener) int64 {
	if r.MaxBody > 0 {
		return r.MaxBody
	}
	return l.MaxBody
}

// FilterSet is a named set in a route's chain: so many filters.
type FilterSet struct {
	Name    string
	Filters int
}

// Service is one compiled service.
type Service struct {
	Name string
	// Protocol is what its endpoints speak; nil: HTTP/1.1.
	Protocol codec.Protocol
	// Opaque says that connections to it are passed through unread, and carry one
	// client's each.
	Opaque bool
	// Follows says that a request from a listener with a layout is sent in that
	// layout instead.
	Follows bool
	Pool    *pool.Service
	// Balance is what the balancer needs of requests.
	Balance Balance
	// MaxHead bounds the response head in bytes.
	MaxHead int
	// Source is the local address of connections to endpoints; invalid: any.
	Source netip.Addr
	// ProxyProtocol is what connections to endpoints begin with.
	ProxyProtocol ProxyVersion
	// ConnectTimeout is the time from SYN to writable.
	ConnectTimeout time.Duration
	Timeouts       Timeouts
	Retries        Retries
	// From is what it was compiled from; only the compiler reads it.
	From any
}

// ProxyVersion is a version of the PROXY protocol.
type ProxyVersion uint8

const (
	ProxyNone ProxyVersion = iota // no header
	ProxyV1                       // a line of text
	ProxyV2                       // binary
)

// Timeouts of an exchange; 0 is off.
type Timeouts struct {
	// FirstByte: last request byte written → first byte of the response head.
	FirstByte time.Duration
	// Idle: between response body bytes.
	Idle time.Duration
	// Total: head parsed → last byte; not for tunnels.
	Total time.Duration
	// TunnelIdle: no byte in either direction of a tunnel; Inherit: the listener's.
	TunnelIdle time.Duration
}

// Inherit stands for a timeout that a route does not set.
const Inherit time.Duration = -1

// Retries says when a try may be repeated.
type Retries struct {
	// Attempts is the number of extra tries.
	Attempts int
	// Connect and Reset repeat after a failed connect, and after a connection
	// that died before the response head.
	Connect, Reset bool
	// Statuses are the 5xx codes that are repeated, as a bit set from 500.
	Statuses StatusSet
	// PerTry bounds one try from its start to the response head; 0 is off.
	PerTry time.Duration
	// Hedge is the time without a response head after which a second try begins
	// beside the first; 0 is off.
	Hedge time.Duration
	// Budget is the number of retries in flight for each hundred other exchanges
	// of the service; at least 3 for the process.
	Budget float64
}

// StatusSet is a set of status codes from 500 to 563.
type StatusSet uint64

// With returns the set with the code added; codes outside 500 to 563 are
// ignored.
func (s StatusSet) With(code int) StatusSet {
	if code < 500 || code > 563 {
		return s
	}
	return s | 1<<(code-500)
}

// Has tells whether the code is in the set.
func (s StatusSet) Has(code int) bool {
	return code >= 500 && code <= 563 && s>>(code-500)&1 == 1
}

// Listener is the policy of one listener.
type Listener struct {
	Name string
	// Protocol is what its clients speak; nil: HTTP/1.1, or bytes that are passed
	// through.
	Protocol codec.Protocol
	// Passage is where connections go that are passed through; nil: the listener
	// has requests.
	Passage *Passage
	// Layout says that Protocol is a private one that configuration describes.
	Layout bool
	// TrustedProxies are the peers whose X-Forwarded-* fields are believed.
	TrustedProxies []netip.Prefix
	// TrustUnix extends that belief to peers on a unix socket, which have no
	// address.
	TrustUnix bool
	// ProxyProtocol says that every connection begins with a PROXY header.
	ProxyProtocol bool
	// MaxConnections bounds the listener's clients; 0: no limit.
	MaxConnections int
	// Paths says what becomes of ambiguous paths.
	Paths route.PathOptions
	// RequestLine, Headers and HeaderCount bound request heads: bytes of the
	// first line, bytes of all field lines, number of fields.
	RequestLine, Headers, HeaderCount int
	// MaxBody bounds request bodies in bytes; 0: no limit.
	MaxBody int64
	// KeepaliveRequests bounds the requests of one connection; 0: no limit.
	KeepaliveRequests int
	// Timeouts of the client's side; 0 is off.
	Head, ReadIdle, WriteIdle, Keepalive, TunnelIdle time.Duration
	// MinBodyRate is the least rate of a request body in bytes per second; 0: off.
	MinBodyRate int64
	// Chain runs before routing; nil if none.
	Chain *filters.Chain
	// From is what it was compiled from; only the compiler reads it.
	From any
}

// Trusts tells whether the peer's forwarding fields are believed. A peer without
// an address is one on a unix socket.
func (l *Listener) Trusts(peer netip.Addr) bool {
	if !peer.IsValid() {
		return l.TrustUnix
	}
	for _, p := range l.TrustedProxies {
		if p.Contains(peer) {
			return true
		}
	}
	return false
}
