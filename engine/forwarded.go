package engine

import (
	"bytes"
	"net/netip"
	"unsafe"

	"github.com/corelane/corelane/codec"
)

// vouched are the fields by which the gateway tells upstreams who the client
// is. From a peer that is not trusted they are dropped.
var vouched = codec.SetOf(
	codec.XForwardedFor, codec.XForwardedProto, codec.XForwardedHost, codec.XForwardedPort,
	codec.XRealIP, codec.Forwarded, codec.XGrayTag, codec.XRPCGroup, codec.XRPCVersion,
)

// callNames are fields that belong to what a call of a method names, whoever
// makes it.
var callNames = codec.SetOf(codec.XRPCGroup, codec.XRPCVersion)

// delimiting are the fields that say where a message ends and for whom it is. They are
// the gateway's own: nobody may send what a server could take for one.
var delimiting = codec.SetOf(codec.Host, codec.ContentLength, codec.TransferEncoding)

// maxVouchedName is longer than every name in vouched.
const maxVouchedName = 24

var httpText, httpsText = []byte("http"), []byte("https")

func schemeText(scheme string) []byte {
	if scheme == "https" {
		return httpsText
	}
	return httpText
}

// forwardedFields sets X-Forwarded-For, -Proto and -Host, and the context's
// Client and Scheme. A trusted peer's are continued, anyone else's dropped.
func (x *Exchange) forwardedFields() {
	h := &x.req
	peer := x.Peer.Addr()
	x.Client = peer
	trusted := x.lis.Trusts(peer)
	dropVouched(h, trusted)
	if !trusted {
		if len(x.peerText) > 0 { // a peer on a unix socket has no address to tell
			h.AddKnown(codec.XForwardedFor, x.peerText)
		}
		if x.message {
			return // there is no other scheme, and no host that would change
		}
		h.AddKnown(codec.XForwardedProto, schemeText(x.Scheme))
		h.AddKnown(codec.XForwardedHost, h.Authority())
		return
	}
	chain := x.w.scratch[:0]
	for i := range h.Len() {
		if h.Known(i) == codec.XForwardedFor && !h.Removed(i) {
			chain = append(append(chain, h.Value(i)...), ", "...)
		}
	}
	x.Client = x.clientOf(chain)
	x.w.scratch = bytes.TrimSuffix(append(chain, x.peerText...), []byte(", "))
	if len(x.w.scratch) > 0 {
		h.SetKnown(codec.XForwardedFor, x.w.scratch)
	}
	switch proto := h.Get(codec.XForwardedProto); {
	case proto == nil:
		h.AddKnown(codec.XForwardedProto, schemeText(x.Scheme))
	case bytes.EqualFold(proto, httpsText):
		x.Scheme = "https"
	}
	if h.First(codec.XForwardedHost) < 0 {
		h.AddKnown(codec.XForwardedHost, h.Authority())
	}
}

// clientOf is the last address of the chain that is not a trusted proxy's: what
// stands before it could have been written by anyone.
func (x *Exchange) clientOf(chain []byte) netip.Addr {
	client := x.Peer.Addr()
	for len(chain) > 0 {
		entry := chain
		if i := bytes.LastIndexByte(chain, ','); i >= 0 {
			entry, chain = chain[i+1:], chain[:i]
		} else {
			chain = nil
		}
		entry = bytes.TrimSpace(entry)
		if len(entry) == 0 {
			continue
		}
		addr, ok := parseAddr(entry)
		if !ok {
			break
		}
		client = addr
		if !x.lis.Trusts(addr) {
			break
		}
	}
	return client
}

// parseAddr reads an address that may carry a port or brackets.
func parseAddr(b []byte) (netip.Addr, bool) {
	// ParseAddr keeps its argument only for IPv6 zones, which are refused.
	s := unsafe.String(unsafe.SliceData(b), len(b))
	if bytes.IndexByte(b, '%') >= 0 {
		return netip.Addr{}, false
	}
	if a, err := netip.ParseAddr(s); err == nil {
		return a.Unmap(), true
	}
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap(), true
	}
	return netip.Addr{}, false
}

// dropVouched removes the vouched fields, unless the peer is trusted, and from
// everybody those whose names differ from these, or from the delimiting ones, only in
// "-", "_" and ".", which many servers cannot tell apart: no proxy writes them.
func dropVouched(h *codec.Head, trusted bool) {
	call := h.Call() == codec.ByMethod
	for i := range h.Len() {
		k, drop, guarded := h.Known(i), !trusted, vouched
		if call && callNames.Has(k) {
			continue
		}
		if k == codec.Unknown {
			k, drop, guarded = lookalike(h.Name(i)), true, vouched|delimiting
		}
		if drop && k != codec.Unknown && guarded.Has(k) {
			h.DelAt(i)
		}
	}
}

// lookalike returns the known name that a name could be taken for.
func lookalike(name []byte) codec.Known {
	if len(name) > maxVouchedName || bytes.IndexByte(name, '_') < 0 && bytes.IndexByte(name, '.') < 0 {
		return codec.Unknown
	}
	var buf [maxVouchedName]byte
	for i, c := range name {
		if c == '_' || c == '.' {
			c = '-'
		}
		buf[i] = c
	}
	return codec.Lookup(buf[:len(name)])
}
